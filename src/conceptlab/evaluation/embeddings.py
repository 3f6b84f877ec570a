"""Embedding disentanglement while a model trains: no image is drawn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from conceptlab.evaluation.measurement import Live, Measurement, Row, register
from conceptlab.measures.disentanglement import corner_disentanglement


@register("disentanglement")
class Disentanglement(Measurement):
    """1 - |cos| of the directions in which concepts move the condition embedding, seen from every class.

    For class 00 it compares e₀₁ - e₀₀ with e₁₀ - e₀₀ (park2024 Fig. 5), for class 11 e₁₁ - e₁₀ with e₁₁ - e₀₁ (Fig.
    16). A network may embed the condition once or once for every block:

    | measure | variable | value |
    |---|---|---|
    | `disentanglement` | | mean over embeddings |
    | `disentanglement` | name | one embedding, where there are several |
    | `disentanglement_spread` | | standard deviation over embeddings |
    """

    def rows(self, live: Live) -> Iterable[Row]:
        world = live.context.world
        device = next(live.denoiser.parameters()).device
        conditions = torch.stack([world.condition(cls) for cls in world.space]).to(device)
        with torch.no_grad():
            embeddings = {n: e.float().cpu().numpy() for n, e in live.denoiser.embed(conditions).items()}
        index = {cls: i for i, cls in enumerate(world.space)}
        for cls in world.space:
            code = world.space.code(cls)
            altered = world.space.altered(cls)
            found = {
                name: corner_disentanglement(e[index[cls]], {v: e[index[c]] for v, c in altered.items()})
                for name, e in embeddings.items()
            }
            yield Row(code, "", "disentanglement", float(np.mean(list(found.values()))))
            yield Row(code, "", "disentanglement_spread", float(np.std(list(found.values()))))
            if len(found) > 1:
                for name, value in found.items():
                    yield Row(code, name, "disentanglement", value)

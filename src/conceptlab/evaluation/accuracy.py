"""The measurement every study needs: what does the model draw when asked for each class?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conceptlab import measures
from conceptlab.concepts import Class, ConceptSpace
from conceptlab.evaluation.measurement import (
    Context,
    Live,
    Measurement,
    Prompt,
    Row,
    class_prompt,
    register,
)
from conceptlab.probes import correct_drawn


@register("accuracy")
class Accuracy(Measurement):
    """Rows for every class of the space, seen or held out:

    | measure | variable | value |
    |---|---|---|
    | `accuracy` | | share of images with every variable right (Eq. 2) |
    | `accuracy` | name | share with this variable right |
    | `probability` | | mean product of the probe's probabilities |
    | `additive` | | mean of the single accuracies |
    | `coordinate` | name | position in concept space |
    | `drawn` | a class | share of images read as that class |
    | `drawn` | `nothing` | share of images in which the judge reads nothing, where there are such |
    | `corrected` | | `accuracy`, corrected for the judge's confusion on real images (real data only) |
    | `disagreement` | | share of images on which the second probe sees something else |
    """

    def prompts(self, context: Context, images: int) -> list[Prompt]:
        return [class_prompt(context, cls, images) for cls in context.world.space]

    def rows(self, live: Live) -> Iterable[Row]:
        context = live.context
        space = context.world.space
        for cls in space:
            code, prompt = space.code(cls), f"class {space.code(cls)}"
            seen = live.read[prompt]
            yield Row(code, "", "accuracy", measures.joint_accuracy(space, seen, cls))
            yield Row(code, "", "probability", measures.joint_probability(space, seen, cls))
            yield Row(code, "", "additive", measures.additive_accuracy(space, seen, cls))
            for name, value in measures.variable_accuracies(space, seen, cls).items():
                yield Row(code, name, "accuracy", value)
            for name, value in measures.concept_space(space, seen).items():
                yield Row(code, name, "coordinate", value)
            yield from _drawn(space, code, seen)
            if context.confusion is not None:
                yield Row(code, "", "corrected", _corrected(space, seen, cls, context.confusion))
            if context.second is not None:
                yield Row(code, "", "disagreement", measures.disagreement(space, seen, live.second[prompt]))


def _drawn(space: ConceptSpace, code: str, seen: measures.Probabilities) -> Iterable[Row]:
    shares = measures.drawn(space, seen)
    for other, share in shares.items():
        yield Row(code, space.code(other), "drawn", share)
    if (nothing := 1 - sum(shares.values())) > 1e-9:
        yield Row(code, "nothing", "drawn", nothing)


def _corrected(
    space: ConceptSpace, seen: measures.Probabilities, asked: Class, confusion: np.ndarray
) -> float:
    """The share of the asked class that, read by a judge with this confusion, would look like what was read."""
    shares = measures.drawn(space, seen)
    observed = np.array([shares.get(cls, 0.0) for cls in space])
    return float(correct_drawn(observed, confusion)[space.classes.index(asked)])

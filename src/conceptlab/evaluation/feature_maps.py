"""Feature maps: from images to the features in which conditions are compared (`measures.feature_space`).

A feature map is any function from images (n, C, H, W) in [0, 1] to features (n, …): pixels, a transform, a module of
one's own. A denoiser has one inside, where its maps are coarsest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from conceptlab import random
from conceptlab.errors import InputError, unknown
from conceptlab.evaluation.locality import Level
from conceptlab.training.objective import to_model
from conceptlab.worlds import World, derived_seed

FeatureMap = Callable[[Tensor], Tensor]


def pixels(images: Tensor) -> Tensor:
    """The images themselves."""
    return images.flatten(1)


class Bottleneck:
    """What a denoiser makes of noisy images at one of its modules, all with the same condition.

    By default the module is the last one in the run whose output is as coarse as any: the end of the bottleneck. Where
    all maps are equally coarse, as in `cells`, there is none, and a module has to be named.
    Noise is the same in every call, image by image, so that two sets of images are compared under the same noise.
    """

    def __init__(self, level: Level, condition: Tensor, kind: str, module: str | None = None) -> None:
        self.level, self.kind = level, kind
        self.condition = condition.to(level.alpha.device)
        named = dict(level.denoiser.named_modules())
        if module is not None and module not in named:
            raise unknown("module", module, named, where=type(level.denoiser).__name__)
        self.module = module if module is not None else self._coarsest(named)

    def __call__(self, images: Tensor) -> Tensor:
        held: list[Tensor] = []

        def keep(_: nn.Module, __: object, output: Tensor) -> None:
            held.append(output)

        hook = self.level.denoiser.get_submodule(self.module).register_forward_hook(keep)
        try:
            self._run(images)
        finally:
            hook.remove()
        return held[-1].flatten(1).float().cpu()

    def _run(self, images: Tensor) -> None:
        shape = images.shape
        key = random.fold(random.key(0, "features/noise"), torch.arange(len(images)))
        noise = random.normal(key, shape[1:]).to(self.condition.device)
        with torch.no_grad():
            z = self.level.noisy(to_model(images.to(noise.device), self.kind), noise)
            self.level(z, self.condition.expand(len(z), *self.condition.shape))

    def _coarsest(self, named: Mapping[str, nn.Module]) -> str:
        seen: list[tuple[int, str]] = []

        def watch(name: str) -> Callable[..., None]:
            def note(_: nn.Module, __: object, output: object) -> None:
                if isinstance(output, Tensor) and output.ndim == 4:
                    seen.append((output.shape[2] * output.shape[3], name))

            return note

        hooks = [m.register_forward_hook(watch(name)) for name, m in named.items() if name]
        try:
            self._run(torch.zeros(1, *self.level.denoiser.image_shape))
        finally:
            for hook in hooks:
                hook.remove()
        sizes = {size for size, _ in seen}
        if len(sizes) < 2:
            raise InputError(
                f"feature map 'Bottleneck': no map of {type(self.level.denoiser).__name__} is coarser than another, so "
                f"it has no bottleneck; name a module, such as module='{_last_inner(seen)}'"
            )
        return [name for size, name in seen if size == min(sizes)][-1]


def _last_inner(seen: Sequence[tuple[int, str]]) -> str:
    """A module that could be named: the last but for those that end the network."""
    names = [name for _, name in seen] or [""]
    blocks = [name for name in names if name.startswith("blocks.") and name.count(".") == 1]
    return (blocks or names)[-1]


def concept_features(
    world: World, centre: tuple[int, ...], feature: FeatureMap, n: int, seed: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Features of n images of each class that differs from `centre` in one variable, and of the centre itself.

    Classes share all random draws that the class does not set, so that what differs is the concept."""
    own = derived_seed(seed, "features")
    with torch.no_grad():  # a module of the user's own has weights
        groups = [
            feature(world.sample(cls, n, own).images).numpy() for cls in world.space.altered(centre).values()
        ]
        return groups, feature(world.sample(centre, n, own).images).numpy()

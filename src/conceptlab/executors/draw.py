"""Drawing from a stored checkpoint: any prompt, also beyond what was trained on."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from conceptlab.denoisers import load_weights
from conceptlab.diffusion import Process
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError, unknown
from conceptlab.evaluation import Prompt, draw_one
from conceptlab.executors.room import check_drawn
from conceptlab.store import Member
from conceptlab.worlds import World


def parse_prompt(world: World, text: str, images: int) -> Prompt:
    """`111`, or `111;colour=0,0,1`: a class, then entries of its condition to replace, as the network sees them."""
    name, *changes = text.split(";")
    cls = world.space.parse(name)
    condition = world.condition(cls).clone()
    changed: set[str] = set()
    for change in changes:
        variable, _, numbers = change.partition("=")
        part = world.condition_parts.get(variable.strip())
        if part is None:
            raise unknown("part of the condition", variable, world.condition_parts, where=f"prompt '{text}'")
        try:
            values = torch.tensor([float(number) for number in numbers.split(",")])
        except ValueError:
            own = ",".join(f"{number:.3g}" for number in condition[part].tolist())
            raise InputError(f"prompt '{text}': write numbers, e.g. {variable}={own} as in {name}") from None
        if not values.isfinite().all():
            raise InputError(f"prompt '{text}': no network can be asked for {numbers}; write finite numbers")
        if len(values) != part.stop - part.start:
            raise InputError(
                f"prompt '{text}': {variable} takes {part.stop - part.start} numbers, not {len(values)}"
            )
        if variable.strip() in changed:
            raise InputError(f"prompt '{text}' gives {variable.strip()} twice; leave one of them out")
        changed.add(variable.strip())
        condition[part] = values
    return Prompt(text, condition, images, stream=world.space.code(cls))


def draw(
    member: Member,
    prompts: list[Prompt],
    step: int | None = None,
    weights: str = "raw",
    tell: Callable[[int], object] = lambda images: None,
) -> Tensor:
    """Images (prompts, images, C, H, W) in [0, 1] from a checkpoint, with the sampler of the member's recipe; `tell`
    hears how many were drawn since the last time."""
    check_drawn(max(prompt.images for prompt in prompts), len(prompts), member.world.image_shape)
    process = load_process(member, step, weights)
    found = draw_one(member.model(step, weights), process, member.recipe, prompts, tell=tell)
    return torch.stack([found[prompt.name] for prompt in prompts])


def load_process(member: Member, step: int | None = None, weights: str = "raw") -> Process:
    """The noise process of a checkpoint, with its learned ends where it has them."""
    process, prefix = build_process(**member.recipe.process), f"{weights}.process."
    held = member.weights(step)
    load_weights(process, {k.removeprefix(prefix): v for k, v in held.items() if k.startswith(prefix)})
    return process

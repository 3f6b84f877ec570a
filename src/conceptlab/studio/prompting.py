"""Prompts by hand: what can be set, how far it goes beyond training, and the drawing itself.

Sliders are in the units of the world (a colour channel, a size), not in those of the network's input; `Entry`
knows the way from one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from conceptlab import measures, random
from conceptlab.concepts import Class
from conceptlab.denoisers import Denoiser
from conceptlab.diffusion import Process, sample
from conceptlab.errors import InputError
from conceptlab.evaluation import Prompt
from conceptlab.evaluation.generate import embed_prompts, prompt_keys
from conceptlab.executors.draw import load_process
from conceptlab.probes import Probe, load_probe
from conceptlab.store import Member
from conceptlab.store.files import read_json
from conceptlab.studio.catalogue import inside
from conceptlab.studio.worker import Tell
from conceptlab.training import to_image
from conceptlab.worlds import World

# Images of each training class from which the trained range of a number is taken.
_SEEN = 48


@dataclass(frozen=True)
class Entry:
    """One number of the condition: its place, name and unit, what training saw of it and how far a slider goes."""

    place: int
    name: str
    centre: float
    scale: float
    trained: tuple[float, float]
    reach: tuple[float, float]

    def condition(self, value: float) -> float:
        return (value - self.centre) * self.scale

    def value(self, condition: float) -> float:
        return condition / self.scale + self.centre


@dataclass(frozen=True)
class Axis:
    """One concept variable as it is prompted: for every value the entries that ask for it."""

    variable: str
    values: tuple[str, ...]
    entries: tuple[Entry, ...]
    anchors: tuple[tuple[float, ...], ...]  # for every value, the numbers of its entries


@dataclass(frozen=True)
class Drawn:
    """What came of a prompt: images of the plain prompt and of the given one from the same noise, and how the
    run's own probe reads them (None where there is none)."""

    plain: np.ndarray  # uint8 (n, H, W, 3)
    asked: np.ndarray
    plain_read: Reading | None
    asked_read: Reading | None


@dataclass(frozen=True)
class Reading:
    right: int
    images: int
    coordinates: dict[str, float]
    drawn: dict[str, float]  # class codes and shares, largest first


def axes_of(member: Member) -> list[Axis]:
    """The concepts that can be prompted by numbers; worlds whose condition is no list of numbers have none."""
    world = member.world
    if len(world.condition_shape) != 1:
        return []
    seen = _seen_conditions(member)
    found = []
    for variable in world.space.concepts:
        part = world.condition_parts.get(variable.name)
        if part is None:
            continue
        place = world.space.variable(variable.name)
        entries = tuple(
            _entry(world, variable.name, part, at, seen[:, at]) for at in range(part.start, part.stop)
        )
        anchors = tuple(
            _anchor(world, place, value, entries) for value in range(len(world.space.concepts[place].values))
        )
        found.append(Axis(variable.name, variable.values, entries, anchors))
    return found


def _seen_conditions(member: Member) -> Tensor:
    """Conditions as training saw them, jitter included; the classes' own where images cannot be had here."""
    world, split = member.world, member.split
    try:
        return torch.cat([world.sample(cls, _SEEN, seed=0).conditions for cls in split.train])
    except (InputError, OSError):
        return torch.stack([world.condition(cls) for cls in split.train])


def _entry(world: World, variable: str, part: slice, at: int, seen: Tensor) -> Entry:
    centre = dict(getattr(world, "condition_centre", ())).get(variable, 0.0)
    scale = dict(getattr(world, "condition_scale", ())).get(variable, 1.0)
    blank = Entry(at, "", centre, scale, (0, 0), (0, 0))
    own = [blank.value(float(world.condition(cls)[at])) for cls in world.space]
    low = min(*own, blank.value(float(seen.min())))
    high = max(*own, blank.value(float(seen.max())))
    trained = (blank.value(float(seen.min())), blank.value(float(seen.max())))
    room = max(high - low, 0.2)
    names = {"colour": "RGB", "background": "RGB"}.get(variable)
    width = part.stop - part.start
    name = variable if width == 1 else names[at - part.start] if names else str(at - part.start)
    if variable == "shape" and hasattr(world, "shapes"):
        name = world.shapes[at - part.start]  # pyright: ignore[reportAttributeAccessIssue]
    reach = (round(low - room, 2), round(high + room, 2))
    if names:  # the corners of the colour cube, and beyond them
        reach = (min(reach[0], -0.25), max(reach[1], 1.25))
    return Entry(at, name, centre, scale, trained, reach)


def _anchor(world: World, place: int, value: int, entries: Sequence[Entry]) -> tuple[float, ...]:
    cls = tuple(value if i == place else 0 for i in range(len(world.space.concepts)))
    condition = world.condition(cls)
    return tuple(round(entry.value(float(condition[entry.place])), 4) for entry in entries)


def numbers_at(axis: Axis, value: int, place: float) -> list[float]:
    """The numbers at a place on an axis: for two values 0 is the first and 1 the second, whatever the class; for more,
    0 is the mean of the others and 1 the class's own value. `studio.js` does the same while a slider moves."""
    anchors = np.array(axis.anchors)
    if len(anchors) == 2:
        start, end = anchors
    else:
        start, end = np.delete(anchors, value, axis=0).mean(0), anchors[value]
    return [round(float(x), 4) for x in start + place * (end - start)]


def condition_from(world: World, cls: Class, axes: Sequence[Axis], values: dict[int, float]) -> Tensor:
    """The condition of a class with some of its numbers replaced, given by place in the world's own units."""
    condition = world.condition(cls).clone()
    for entry in (entry for axis in axes for entry in axis.entries):
        if entry.place in values:
            condition[entry.place] = entry.condition(values[entry.place])
    return condition


def prompt_text(world: World, cls: Class, condition: Tensor) -> str:
    """The prompt as `conceptlab sample --prompt` takes it; only what differs from the class's own is written."""
    own, changes = world.condition(cls), []
    for variable, part in world.condition_parts.items():
        if not torch.allclose(own[part], condition[part], atol=1e-4):
            changes.append(f"{variable}={','.join(f'{number:.4g}' for number in condition[part].tolist())}")
    return ";".join((world.space.code(cls), *changes))


def draw(
    member: Member, step: int, weights: str, cls: Class, condition: Tensor, images: int, tell: Tell
) -> Drawn:
    """The images that `executors.draw` gives, step by step, so that progress can be told and work called off."""
    denoiser, process = _network(member.path, _stamp(member, step), step, weights)
    recipe, code = member.recipe, member.world.space.code(cls)
    prompts = [
        Prompt("plain", member.world.condition(cls), images, stream=code),
        Prompt("asked", condition, images, stream=code),
    ]
    total = recipe.evaluation.sampler_steps
    done = 0
    embedding, _ = embed_prompts(denoiser, prompts)
    embedding = {name: part.repeat_interleave(images, dim=0) for name, part in embedding.items()}
    keys = prompt_keys([recipe.seed], [prompts])[0]

    def predict(z: Tensor, time: Tensor) -> Tensor:
        nonlocal done
        tell(done, total)
        done += 1
        return denoiser.denoise(z, time, embedding).float()

    shape = denoiser.image_shape
    with torch.no_grad():
        pixels = sample(
            predict,
            process,
            recipe.prediction,
            random.normal(random.fold(keys, 0), shape),
            steps=total,
            method=recipe.evaluation.sampler,
            draw=lambda i: random.normal(random.fold(keys, i + 1), shape),
        )
    drawn = to_image(pixels, recipe.pixels)
    tell(total, total)
    plain, asked = drawn.split(images)
    world = member.world
    return Drawn(
        _pixels(world, plain), _pixels(world, asked), _read(member, cls, plain), _read(member, cls, asked)
    )


@lru_cache(maxsize=8)
def _network(path: Path, _modified: int, step: int, weights: str) -> tuple[Denoiser, Process]:
    member = Member(path)
    return member.model(step, weights), load_process(member, step, weights).requires_grad_(False)


def _stamp(member: Member, step: int) -> int:
    path = member.path / "checkpoints" / f"{step:08d}.safetensors"
    return path.stat().st_mtime_ns if path.exists() else 0


def _pixels(world: World, images: Tensor) -> np.ndarray:
    """Images (n, C, H, W) in [0, 1] as they are looked at: bytes, (n, H, W, 3)."""
    pixels = world.on_paper((images.clamp(0, 1) * 255).round().to(torch.uint8).numpy())
    return np.broadcast_to(pixels, (len(pixels), 3, *pixels.shape[2:])).transpose(0, 2, 3, 1)


def _read(member: Member, cls: Class, images: Tensor) -> Reading | None:
    """How the probe that judged the run reads the images."""
    space = member.world.space
    try:
        probe = _judge(member.path)
    except (InputError, KeyError, TypeError):
        return None
    seen = {name: table.numpy() for name, table in probe.probabilities(images).items()}
    right = round(measures.joint_accuracy(space, seen, cls) * len(images))
    shares = sorted(measures.drawn(space, seen).items(), key=lambda item: -item[1])
    drawn = {space.code(other): share for other, share in shares if share > 0}
    return Reading(right, len(images), dict(measures.concept_space(space, seen)), drawn)


@lru_cache(maxsize=8)
def _judge(path: Path) -> Probe:
    """The probe that a member's record names, from the same store."""
    name = str(read_json(path / "probe.json")["judge"]["probe"])
    probes = path.parent.parent / "probes"
    return load_probe(inside(probes / name, probes) / "probe")

"""Probes in the store: trained once for a world, validated, and only then allowed to judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from conceptlab.errors import InputError
from conceptlab.probes import (
    KINDS,
    Fitting,
    Probe,
    Validation,
    load_probe,
    require_judge,
    save_probe,
    train_probe,
    validate,
)
from conceptlab.recipe import RECIPE_VERSION, Part
from conceptlab.registry import choose
from conceptlab.store import Store
from conceptlab.store.files import locked, read_json, write_json
from conceptlab.worlds import build as build_world

_FITTING = ("steps", "batch", "blank")
_SETTINGS = ("name", "seed", "images_per_class", *_FITTING)
_WHOLE = ("seed", "images_per_class", "steps", "batch")


def prepare_probe(store: Store, world_part: Part, part: Part, *, judges: bool) -> None:
    """Train and validate a probe unless the store has it. One that is to judge must be good enough."""
    path = store.probe_path(probe_hash(world_part, part))
    world = build_world(**world_part)
    # Another run may be training it: its probe is waited for, not trained twice.
    with locked(path, wait=True):
        if not _is_there(path):
            fitting = check_probe(part)
            options = {k: v for k, v in part.items() if k in ("seed", "images_per_class")}
            probe = train_probe(world, part["name"], fitting=fitting, **options)
            found = validate(probe, world)
            save_probe(probe, path / "probe")
            # Written last, see `_is_there`.
            write_json(path / "validation.json", found.to_json())
    if judges:
        require_judge(Validation.from_json(read_json(path / "validation.json")), world)


def unlearned(store: Store, probes: Iterable[tuple[Part, Part]]) -> list[tuple[Part, Part]]:
    """The probes (world, probe) that must learn from images first and are not there yet. Worlds that differ only in
    their conditions share one."""
    apart = {store.probe_path(probe_hash(*both)): both for both in probes if both[1]["name"] != "analytic"}
    return [both for path, both in apart.items() if not _is_there(path)]


def _is_there(path: Path) -> bool:
    """A probe without its validation is not."""
    return (path / "validation.json").exists()


def ready_probe(store: Store, world_part: Part, part: Part) -> Probe:
    return load_probe(store.probe_path(probe_hash(world_part, part)) / "probe")


def confusion_of(store: Store, world_part: Part, part: Part) -> np.ndarray:
    """How a probe reads held-out real images: rows are true classes, columns what it reads."""
    return np.array(validation_record(store, world_part, part)["validation"]["confusion"])


def validation_record(store: Store, world_part: Part, part: Part) -> dict[str, Any]:
    """What a run records of its probe: which one, and how it did on real images."""
    name = probe_hash(world_part, part)
    return {"probe": name, **dict(part), "validation": read_json(store.probe_path(name) / "validation.json")}


def check_probe(part: Part) -> Fitting:
    """How a probe is to be fitted; an `InputError` if no probe can be made of these settings."""
    for setting in part:
        choose("setting of the probe", setting, _SETTINGS)
    choose("probe", part["name"], KINDS)
    fitting = Fitting(**{name: value for name, value in part.items() if name in _FITTING})
    for setting in _WHOLE:
        value = part.get(setting, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"evaluation.probe.{setting}={value!r} must be a whole number of 0 or more")
    return fitting


def probe_hash(world_part: Part, part: Part) -> str:
    """The name of a probe's folder in the store."""
    unseen = build_world(**world_part).condition_settings
    images = {name: value for name, value in world_part.items() if name not in unseen}
    text = json.dumps([RECIPE_VERSION, images, dict(part)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]

"""Rendered scenes on disk (`conceptlab.cache`), by a hash of everything that decides them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from conceptlab import cache
from conceptlab.atomic import replacing

LEAST = 500
"""Fewer images than this are not worth a file."""


def remembered(what: Any, n: int, make: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors of n rows: from a file of the same description with at least as many, or made and kept."""
    if n < LEAST:
        return make()
    name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
    place = cache.root() / "scenes"
    for path in sorted(place.glob(f"{name}-*.safetensors")):
        if int(path.stem.partition("-")[2]) >= n and (found := _read(path, n)) is not None:
            return found
    made = make()
    _write(place / f"{name}-{n}.safetensors", made)
    return made


def _read(path: Path, n: int) -> dict[str, Tensor] | None:
    """The first n rows; nothing where the file is damaged, so that it is made again."""
    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_slice(name)[:n] for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (OSError, SafetensorError):
        return None


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    """A cache that cannot be written is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary)
    except (OSError, SafetensorError):
        return

"""Small trained models that ship with the package, so that prompting works before anything has been trained.

They are ordinary run folders whose checkpoints were rounded to half precision. `pack` made them; the file
`made.json` beside them records from what, with which command, on what and how long.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from conceptlab.errors import InputError
from conceptlab.store.files import make_folder, read_json, read_tensors, write_json, write_tensors
from conceptlab.store.judges import copy_judges
from conceptlab.store.runs import FigureRun, Store

SHIPPED = Path(__file__).parent / "pretrained"

# What of a member is worth its bytes; logs and locks are not.
_KEPT = ("config.json", "environment.json", "probe.json", "done.json", "metrics.parquet")


def pack(run: FigureRun, into: Path, checkpoints: Mapping[str, Sequence[int]]) -> None:
    """Copy a figure's run with its members, and of some members some checkpoints: raw weights in half precision."""
    manifest = run.manifest
    for id_ in checkpoints:
        if id_ not in manifest["members"]:
            raise InputError(f"{run.path} has no member {id_}; it has {', '.join(manifest['members'])}")
    target = Store(into).figure(manifest["study"], manifest["scale"], manifest["figure"])
    for part in ("manifest.json", "claims.json", *(f"figures/{path.name}" for path in run.pictures)):
        if (run.path / part).exists():
            _copy(run.path / part, target.path / part)
    for member in run.members:
        place = into / "members" / member.id
        for name in _KEPT:
            _copy(member.path / name, place / name)
        if member.id in checkpoints:
            _copy(member.path / "samples", place / "samples")
            for step in checkpoints[member.id]:
                half(member.path / "checkpoints" / f"{step:08d}.safetensors", place / "checkpoints")
    copy_judges(run.members, run.store, Store(into))
    _record(run, into)


def half(checkpoint: Path, into: Path) -> None:
    """The raw weights of a checkpoint in half precision."""
    raw = {name: t for name, t in read_tensors(checkpoint).items() if name.startswith("raw.")}
    rounded = {name: t.half() if t.is_floating_point() else t for name, t in raw.items()}
    notes = {"step": str(int(checkpoint.stem)), "precision": "float16"}
    write_tensors(into / checkpoint.name, rounded, notes)


def _record(run: FigureRun, into: Path) -> None:
    path = into / "made.json"
    made = read_json(path) if path.exists() else {}
    manifest = run.manifest
    made[f"{manifest['study']}.{manifest['figure']}"] = {
        "command": manifest["command"],
        "seconds": manifest.get("seconds"),
        "environment": read_json(run.members[0].path / "environment.json"),
        "checkpoints": "raw weights, rounded from float32 to float16",
    }
    write_json(path, made)


def _copy(source: Path, target: Path) -> None:
    make_folder(target.parent)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)

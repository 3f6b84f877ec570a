"""A small labelled folder of images, drawn by a rendered world, as a user would have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from conceptlab.worlds import DataOptions, build, open_data

WORLD = {"resolution": 16, "shapes": ["circle", "triangle"], "angle": 0.0, "location": 0.05}


def write_folder(
    root: Path, counts: Mapping[str, int], *, table: str = "labels.csv", pictures: str = "pictures"
) -> Path:
    """`counts` images of each class of a three-variable shapes world, with a table of their attributes."""
    world = build("shapes", **WORLD)
    (root / pictures).mkdir(parents=True)
    rows = []
    for code, count in counts.items():
        if not count:
            continue
        cls = world.space.parse(code)
        samples = world.sample(cls, count, seed=int("1" + code))
        values = [variable.values[value] for variable, value in zip(world.space.concepts, cls)]
        for number, image in enumerate(samples.images):
            name = f"{pictures}/{code}-{number:03d}.png"
            pixels = (image * 255).round().byte().permute(1, 2, 0).numpy()
            Image.fromarray(np.ascontiguousarray(pixels)).save(root / name)
            radius = float(samples.factors["size"][number])
            rows.append({"file": name, **dict(zip(world.space.names, values)), "radius": round(radius, 4)})
    write_table(root / table, pd.DataFrame(rows))
    return root


def write_table(path: Path, table: pd.DataFrame) -> None:
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        records = table.to_dict(orient="records")
        path.write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    else:
        table.to_csv(path, index=False)


def everything(count: int) -> dict[str, int]:
    return dict.fromkeys(("000", "001", "010", "011", "100", "101", "110", "111"), count)


VARIABLES = ("shape", "size", "colour")


def opened(folder: Path, *variables: str, **options: object):
    return open_data(folder, DataOptions(variables=variables or VARIABLES, **options))  # pyright: ignore


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (
            (about := path.stat()).st_mtime_ns,
            about.st_size,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }

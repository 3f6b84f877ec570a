"""Run folders and tables as training would leave them, made in a moment: real formats, plausible curves.

A class at distance d rises around a time that grows with d; until then its images look like the nearest training
class. Everything is drawn from a generator seeded by the member's seed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from conceptlab.claims import Verdict, write_claims
from conceptlab.concepts import Class, ConceptSpace, Split, Variable
from conceptlab.measures import emergence_table
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.store import FigureRun, MemberWriter, Store
from conceptlab.store.files import write_json, write_table
from conceptlab.worlds import QUICKSTART
from conceptlab.worlds import build as build_world

STEPS = tuple(range(50, 1001, 50))


def binary_space(*names: str) -> ConceptSpace:
    return ConceptSpace([Variable(name, ("a", "b")) for name in names])


def cube_split(count: int = 500) -> Split:
    world = build_world(name="shapes", **QUICKSTART)
    return Split.around(world.space, "000", count)


def recipe(seed: int = 0, **settings: object) -> Recipe:
    return Recipe(
        world={"name": "shapes", **QUICKSTART},
        train=dict.fromkeys(("000", "100", "010", "001"), 500),
        evaluation=Evaluation(count=len(STEPS)),
        seed=seed,
    ).with_settings(settings)


def metrics(split: Split, seed: int = 0, steps: tuple[int, ...] = STEPS) -> pd.DataFrame:
    """Rows as `evaluation.Accuracy` writes them."""
    space, rng = split.space, np.random.default_rng(seed)
    rows = []
    for cls in space:
        code, middle = space.code(cls), 170 + 190 * split.distance(cls) + 25 * rng.standard_normal()
        nearest = _nearest(split, cls)
        for step in steps:
            rise = 1 / (1 + np.exp(-(step - middle) / 45))
            single = np.array(
                [0.55 + 0.44 * rise if a != b else 0.9 + 0.09 * rise for a, b in zip(cls, nearest)]
            )
            if split.distance(cls) == 0:
                single = np.full(len(cls), 0.5 + 0.49 * rise)
            single = np.clip(single + 0.01 * rng.standard_normal(len(cls)), 0, 1)
            joint = float(np.clip(single.prod() ** 1.1, 0, 1))
            rows += [(step, code, "", "accuracy", joint), (step, code, "", "additive", float(single.mean()))]
            rows += [(step, code, "", "disagreement", float(0.2 * (1 - rise)))]
            for place, name in enumerate(space.names):
                start, end = 0.5 * (cls[place] + nearest[place]) * 0.5 + 0.2, cls[place]
                moved = start + (end - start) * rise + 0.02 * rng.standard_normal()
                rows.append((step, code, name, "accuracy", float(single[place])))
                rows.append((step, code, name, "coordinate", float(np.clip(moved, 0, 1))))
            rows.append((step, code, code, "drawn", joint))
            rows.append((step, code, space.code(_other(space, cls, nearest)), "drawn", 1 - joint))
    found = pd.DataFrame(rows, columns=["step", "class", "variable", "measure", "value"])
    return found.assign(weights="raw")


def curves(split: Split, seeds: int = 4, steps: tuple[int, ...] = STEPS) -> pd.DataFrame:
    """The metrics of several seeds, with `seed` and `distance`, as a study's table holds them."""
    distance = {split.space.code(cls): split.distance(cls) for cls in split.space}
    parts = [metrics(split, seed, steps).assign(seed=seed) for seed in range(seeds)]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(distance=table["class"].map(distance))


def times(table: pd.DataFrame, threshold: float = 0.8) -> pd.DataFrame:
    return emergence_table(table, threshold, by=["seed", "class", "distance"])


def images(seed: int, step: int, shown: int = 8) -> torch.Tensor:
    """(classes, shown, C, H, W) in [0, 1]: noisy at first, the wrong class before its time."""
    split, rng = cube_split(), np.random.default_rng([seed, step])
    rows = []
    for cls in split.space:
        right = 1 / (1 + np.exp(-(step - 170 - 190 * split.distance(cls)) / 45))
        own, other = _pictures(cls, shown, seed), _pictures(_nearest(split, cls), shown, seed)
        chosen = torch.from_numpy(rng.random(shown) < right)[:, None, None, None]
        noise = torch.from_numpy(rng.standard_normal(own.shape)).float() * max(0.03, 0.5 - step / 600)
        rows.append((torch.where(chosen, own, other) + noise).clamp(0, 1))
    return torch.stack(rows)


@cache
def _pictures(cls: Class, count: int, seed: int) -> torch.Tensor:
    return build_world(name="shapes", **QUICKSTART).sample(cls, count, seed).images


def member(store: Store, made: Recipe, *, status: str = "complete", steps: tuple[int, ...] = STEPS) -> None:
    """Write one member's folder, finished or not."""
    split = Split(build_world(**made.world).space, made.train)
    about = {"conceptlab": "0.1.0", "python": "3.11.2", "torch": "2.13.0", "device": "cpu (x86_64)"}
    writer = MemberWriter(store.member_path(made), made, about)
    write_json(writer.path / "probe.json", {"judge": probe("cnn", 0.999), "second": probe("analytic", 0.97)})
    table = metrics(split, made.seed, steps)
    for step in steps:
        writer.metrics(step, table[table["step"] == step])
        writer.samples(step, images(made.seed, step))
    if status != "unfinished":
        reason = {"reason": "the training loss is not finite"} if status == "failed" else {}
        writer.finish(status, step=steps[-1], seconds=48.2, **reason)


def probe(kind: str, joint: float) -> dict[str, object]:
    """A probe record as runs keep it."""
    confusion = np.full((8, 8), (1 - joint) / 7)
    np.fill_diagonal(confusion, joint)
    codes = [f"{i:03b}" for i in range(8)]
    return {
        "probe": f"{kind}-hash",
        "name": kind,
        "validation": {
            "kind": kind,
            "images_per_class": 200,
            "joint": joint,
            "per_variable": dict.fromkeys(("shape", "size", "colour"), joint),
            "per_class": dict.fromkeys(codes, joint),
            "confusion": confusion.tolist(),
        },
    }


def verdicts(study: str = "quickstart", figure: str = "emergence") -> list[Verdict]:
    def one(id_: str, statement: str, value: float | None, low: float | None, high: float | None, bar: float,
            verdict: str, kind: str = "empirical", note: str = "") -> Verdict:  # fmt: skip
        return Verdict(
            f"{study}.{id_}", study, figure, kind, statement, f"statistic of {id_}", value, low, high, bar,
            verdict, "indicative", 4, 0, note,  # pyright: ignore[reportArgumentType]
        )  # fmt: skip

    return [
        one("order", "Classes seen in training come first, then distance 1, then distance 2.", 1.42, 1.18, 1.71,
            1.0, "reproduced"),
        one("held-out", "At the end the model draws every class it never saw.", 0.91, 0.78, 1.04, 0.8,
            "inconclusive", note="the interval straddles the threshold"),
        one("speed", "Distance 2 comes ten times later than distance 1.", 1.9, 1.5, None, 10.0, "not reproduced"),
        one("sum", "Shares of what was drawn sum to one.", 1e-9, None, None, 1e-6, "reproduced", "identity"),
    ]  # fmt: skip


def figure_run(
    root: Path,
    recipes: list[Recipe],
    *,
    study: str = "quickstart",
    figure: str = "emergence",
    scale: str = "small",
    statuses: tuple[str, ...] = (),
    judged: list[Verdict] | None = None,
    steps: tuple[int, ...] = STEPS,
    **manifest: object,
) -> FigureRun:
    """A figure's folder with its members, tables and verdicts; the picture is the caller's to draw."""
    store = Store(root)
    for made, status in zip(recipes, [*statuses, *["complete"] * len(recipes)]):
        if status != "missing" and not (store.member_path(made) / "config.json").exists():
            member(store, made, status=status, steps=steps)
    run = store.figure(study, scale, figure)
    seeds = [made.seed for made in recipes]
    run.claim({
        "study": study, "figure": figure, "title": "From seen to unseen combinations",
        "shows": "accuracy of every class over training, by concept distance", "paper": study, "scale": scale,
        "seeds": seeds, "settings": {}, "members": [made.hash for made in recipes],
        "command": f"conceptlab run {study} --scale {scale} --seeds {max(1, len(seeds))}", "seconds": 194.3,
        **manifest,
    })  # fmt: skip
    if recipes:
        table = curves(cube_split(), seeds=len(set(seeds)), steps=steps or STEPS)
        write_table(run.path / "tables" / "curves.parquet", table)
        write_table(run.path / "tables" / "times.parquet", times(table))
    write_claims(run.path / "claims.json", verdicts(study, figure) if judged is None else judged)
    return run


def _nearest(split: Split, cls: Class) -> Class:
    return min(split.train, key=lambda seen: (split.space.distance(seen, cls), seen))


def _other(space: ConceptSpace, cls: Class, nearest: Class) -> Class:
    return nearest if nearest != cls else space.neighbours(cls)[0]

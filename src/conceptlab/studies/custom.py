"""custom: the question of quickstart, asked of one's own data or world.

Some combinations are shown, others held out; a CNN probe, trained and validated on images of its own, judges what the
model draws. On real images accuracies are corrected for the probe's confusion, and claims are judged on the corrected
ones. The recipe is quickstart's, with a longer training; everything in it can be changed with `--set`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from conceptlab.claims import PerSeed, final_value
from conceptlab.concepts import Class
from conceptlab.errors import InputError
from conceptlab.figures import select
from conceptlab.recipe import Evaluation, Optimiser, Part, Recipe
from conceptlab.studies.custom_figures import draw, judged
from conceptlab.studies.emergence_claims import emergence, final_claim, order_claim
from conceptlab.studies.study import Figure, Results, Scale, Study, Tables
from conceptlab.worlds import LabelledWorld, World
from conceptlab.worlds.problems import Problems

MOST_CLASSES = 256
_STEPS = {"tiny": 24, "small": 2000, "paper": 20_000}
_IMAGES = {"tiny": 8, "small": 24, "paper": 50}
_FINAL_IMAGES = {"tiny": 8, "small": 100, "paper": 500}
_PROBE = {"tiny": 60, "small": 600, "paper": 2000}
_PROBE_IMAGES = {"tiny": 64, "small": 768, "paper": 768}

_NOTHING_HELD_OUT = "no class is held out, so that only what is shown is judged; name some with --test"


@dataclass(frozen=True)
class Roles:
    """Which classes are shown, with how many images each, and which are claimed to be learnt without being shown."""

    train: Mapping[str, int]
    test: tuple[str, ...]


def roles(world: World, train: Sequence[str], test: Sequence[str]) -> Roles:
    """Parse `--train` and `--test`. Without `--train`, whatever has images and is not tested is shown; without
    `--test`, whatever has images and is not shown is tested. `000:500` shows 500 images of a class; `000` all."""
    space = world.space
    if len(space) > MOST_CLASSES:
        raise InputError(
            f"{len(space)} combinations are too many to draw and judge all of; bin the variables more coarsely, to "
            f"{MOST_CLASSES} or fewer"
        )
    tested = _tested(world, test)
    shown = _once("--train", world, _parsed(world, train)) or {
        cls: None for cls in world.seen if cls not in tested
    }
    tested = tested or [cls for cls in world.seen if cls not in shown]
    for cls in tested:
        if cls in shown:
            raise InputError(
                f"class {space.code(cls)} is in --train and in --test; leave it out of one of them"
            )
    _check_sizes(world, [*shown, *tested])
    if not shown:
        raise InputError("nothing is left to train on; name classes with --train")
    for cls, count in shown.items():
        if count == 0:
            code = space.code(cls)
            raise InputError(
                f"--train {code}:0 shows no image of class {code}; leave it out, or put it into --test"
            )
    counts = {space.code(cls): _count(world, cls, count) for cls, count in shown.items()}
    return Roles(counts, tuple(space.code(cls) for cls in tested))


def _parsed(world: World, texts: Sequence[str]) -> list[tuple[Class, int | None]]:
    """Classes with the number of images, where one is given; `000,100` is as good as `000 100`."""
    found = []
    for text in texts:
        several = "," in text and "=" not in text and text.count(",") + 1 != len(world.space.concepts)
        for part in text.split(",") if several else [text]:
            name, colon, count = part.rpartition(":")
            if colon and count.isdecimal() and len(count) < 19:
                found.append((world.space.parse(name), int(count)))
            elif colon and not _is_class(world, part) and _is_class(world, name):
                raise InputError(f"{part}: after the colon write how many images are shown, e.g. {name}:200")
            else:
                found.append((world.space.parse(part), None))
    return found


def _tested(world: World, texts: Sequence[str]) -> list[Class]:
    """The classes of `--test`, each once: a run is found by them. How many images are drawn is a setting."""
    parsed = _parsed(world, texts)
    for cls, count in parsed:
        if count is not None:
            code = world.space.code(cls)
            raise InputError(f"--test {code}:{count}: nothing of what is tested is shown; write {code} alone")
    return list(dict(parsed))


def _is_class(world: World, text: str) -> bool:
    try:
        world.space.parse(text)
    except InputError:
        return False
    return True


def _once(option: str, world: World, classes: Sequence[tuple[Class, int | None]]) -> dict[Class, int | None]:
    """The classes with their numbers. Of two numbers for one class neither can be meant more than the other."""
    found: dict[Class, int | None] = {}
    for cls, count in classes:
        if found.setdefault(cls, count) != count:
            raise InputError(f"{option} names class {world.space.code(cls)} twice; leave one of them out")
    return found


def _check_sizes(world: World, classes: Sequence[Class]) -> None:
    """A class that is shown or tested has enough images to be judged, or none at all."""
    if not isinstance(world, LabelledWorld):
        return
    few, problems = world.too_few(), Problems(world.where)
    for cls in classes:
        if cls in few:
            about = f"{world.space.code(cls)} ({world.space.words(cls)}): {few[cls]}"
            remedy = (
                "A probe needs one to learn from and one to be examined on: collect more, or name other classes with "
                "--train and --test."
            )
            problems.add("classes with too few different images", about, remedy)
    problems.stop()


def _count(world: World, cls: Class, asked: int | None) -> int:
    """As many images as are asked for, or all."""
    there = _available(world, cls)
    if asked is not None and isinstance(world, LabelledWorld) and asked > there:
        code = world.space.code(cls)
        raise InputError(
            f"--train {code}:{asked}: {world.where} has {there} images of class {code} ({world.space.words(cls)}) for "
            f"models to train on, the others are for the probe; ask for {there} or fewer"
        )
    return there if asked is None else asked


def _available(world: World, cls: Class) -> int:
    """All images of a class that models may train on; of a renderer as many as quickstart takes."""
    if not isinstance(world, LabelledWorld):
        return 500
    count = len(world.rows_of(cls))
    if not count:
        code, words = world.space.code(cls), world.space.words(cls)
        raise InputError(
            f"{world.where} has no image of class {code} ({words}) to train on; leave it out of --train"
        )
    return count


def study(world: World, chosen: Roles, options: Sequence[str], notes: Sequence[str] = ()) -> Study:
    """The study of one world; `options` are the words of the command that made it, `notes` what they left open."""
    part = {"name": world.name, **world.settings}

    def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
        base = _recipe(part, world, chosen, scale)
        return [base.with_seed(seed) for seed in seeds]

    def tables(results: Results) -> dict[str, pd.DataFrame]:
        return _tables(results, chosen)

    figure = Figure(
        id="emergence",
        title="From seen to unseen combinations",
        shows="accuracy of every class over training, by concept distance; real and drawn images",
        recipes=recipes,
        tables=tables,
        draw=draw,
        claims=CLAIMS,
    )
    where = world.where if isinstance(world, LabelledWorld) else world.name
    return Study(
        name="custom",
        title=f"Compositions in {where}",
        paper="custom",
        figures=(figure,),
        seeds={"tiny": 2, "small": 3, "paper": 5},
        options=tuple(options),
        about={"world": dict(part), "train": dict(chosen.train), "test": list(chosen.test)},
        notes=(*notes, *([] if chosen.test else [_NOTHING_HELD_OUT])),
    )


def _recipe(part: Part, world: World, chosen: Roles, scale: Scale) -> Recipe:
    # As many images of each class as a probe can use, within what memory bears.
    images = max(16, min(_PROBE_IMAGES[scale], 20_000 // len(world.space)))
    probe: dict[str, Any] = {"name": "cnn", "steps": _PROBE[scale], "images_per_class": images}
    return Recipe(
        world=part,
        train=chosen.train,
        denoiser={"name": "film"},
        process={"name": "continuous", "gamma_min": -6.0, "gamma_max": 8.0},
        prediction="v",
        times="stratified",
        steps=_STEPS[scale],
        optimiser=Optimiser(
            learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.01, decay="cosine", clip=1.0
        ),
        ema=0.99 if scale != "paper" else 0.999,
        evaluation=Evaluation(
            count=3 if scale == "tiny" else 16,
            spacing="square",
            images=_IMAGES[scale],
            final_images=_FINAL_IMAGES[scale],
            sampler_steps=10 if scale == "tiny" else 20,
            ema=True,
            probe=probe,
            second_probe=None,
        ),
    )


def _tables(results: Results, chosen: Roles) -> dict[str, pd.DataFrame]:
    """`curves` with the role of each class, and `times` of those that are shown or tested."""
    metrics = results.metrics
    shown = metrics[
        metrics["measure"].isin(["accuracy", "corrected", "additive", "coordinate", "loss"])
    ].copy()
    names = {**dict.fromkeys(chosen.test, "test"), **dict.fromkeys(chosen.train, "train")}
    shown["role"] = shown["class"].map(names).fillna("other")
    asked = shown[shown["role"] != "other"]
    times = emergence(asked, by=["role"], measure=judged(shown))
    return {"curves": shown.drop(columns="member"), "times": times}


def _final(tables: Tables, role: str) -> PerSeed:
    curves = tables["curves"]
    rows = select(curves, judged(curves))
    return final_value(rows[rows["role"] == role], over="min")


CLAIMS = (
    final_claim(
        "custom.shown",
        "At the end the model draws every class it was shown.",
        "class in --train",
        lambda tables: _final(tables, "train"),
    ),
    final_claim(
        "custom.held-out",
        "At the end the model draws every class of the test set, which it never saw.",
        "class in --test",
        lambda tables: _final(tables, "test"),
    ),
    order_claim(
        "custom", "Classes emerge in the order of their concept distance from those that were shown."
    ),
)

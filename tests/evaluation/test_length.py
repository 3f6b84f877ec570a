"""The measurement of length generalisation, on pictures whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from scipy import ndimage
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.evaluation import Context, Length, Live, Row, build
from conceptlab.evaluation.colours import ColourReader
from conceptlab.evaluation.length import _scenes, _seed, spurious_expected
from conceptlab.probes import Detector, Fitting, Found, train_probe
from conceptlab.recipe import Evaluation, Recipe
from conceptlab.worlds import ObjectWorld, World
from conceptlab.worlds import build as build_world

WORLD = {"name": "discs", "most": 6, "gap": 2.0}


class Outlines(Detector):
    """Finds discs that do not touch without learning: the middle of every connected dark part."""

    def find(self, images: Tensor) -> Found:
        centres = torch.full((len(images), 2 * self.most, 2), -1.0)
        heat = torch.zeros(len(images), 2 * self.most)
        for number, image in enumerate(images):
            dark = (image.mean(0) < 0.7).numpy()
            parts, count = ndimage.label(dark)  # pyright: ignore[reportGeneralTypeIssues]
            for i, (down, across) in enumerate(ndimage.center_of_mass(dark, parts, range(1, count + 1))):
                centres[number, i] = torch.tensor([across + 0.5, down + 0.5])
                heat[number, i] = 0.6
        return Found(centres, heat)


def context(**changes) -> Context:
    settings = {
        "world": WORLD,
        "train": {"1": 2, "2": 2, "3": 2},
        "evaluation": Evaluation(shown=0),
        **changes,
    }
    recipe = Recipe(**settings)
    world = build_world(**recipe.world)
    judge = Outlines("detector", world.space, world.image_shape, Fitting(), 0)
    return Context(recipe, world, Split(world.space, recipe.train), judge, None)


def rows(made: Context, measure: Length, draw, images: int = 24, step: int | None = None) -> list[Row]:
    """What the measurement says of a model that answers each prompt's condition with `draw(condition)`."""
    prompts = measure.prompts(made, images)
    pictures = dict(zip([p.name for p in prompts], draw([p.condition for p in prompts])))
    last = made.recipe.steps if step is None else step
    live = Live(made, last, "raw", torch.nn.Identity(), torch.nn.Identity(), pictures, {})  # type: ignore
    return list(measure.rows(live))


def discs(world: World):
    """A model that draws a disc in the middle of every cell asked for."""
    assert isinstance(world, ObjectWorld)

    def draw(conditions: list[Tensor]) -> list[Tensor]:
        drawn = []
        for condition in conditions:
            down, across = condition[0].nonzero().T
            centres = torch.zeros(1, world.most, 2)
            centres[0, : len(down)] = torch.stack((across, down), 1) * world.cell + world.cell / 2
            factors = {
                "centres": centres,
                "count": torch.tensor([len(down)]),
                "colour": torch.zeros(1, world.most),
            }
            drawn.append(world.render(factors))
        return drawn

    return draw


def test_a_plan_sees_the_same_prompts_without_laying_out_a_scene(monkeypatch):
    made = context(evaluation=Evaluation(shown=2))
    measure = Length(most=3, least_images=5)
    asked = measure.prompts(made, 12)
    monkeypatch.setattr(type(made.world), "draw", lambda *_: pytest.fail("a scene was laid out"))
    planned = Length(most=3, least_images=5).outlines(made, 12)
    assert [(p.name, p.images, p.stream, p.condition.shape) for p in planned] == [
        (p.name, p.images, p.stream, p.condition.shape) for p in asked
    ]


def value(found: list[Row], measure: str, k: int, variable: str = "") -> float:
    (row,) = [r for r in found if (r.measure, r.cls, r.variable) == (measure, str(k), variable)]
    return row.value


def test_prompts_ask_for_every_number_with_enough_conditions():
    made = context()
    prompts = Length(most=6, least_images=5).prompts(made, 20)
    asked = [int(p.condition.sum()) for p in prompts]
    assert [asked.count(k) for k in range(7)] == [5, 20, 10, 7, 5, 5, 5]
    assert all(p.images == 1 for p in prompts)
    assert len({p.name for p in prompts}) == len(prompts)
    # Image i of every K starts from the same noise, and its layout holds that of fewer objects.
    by_k = {k: [p for p in prompts if p.name.startswith(f"length {k} ")] for k in (2, 3)}
    assert by_k[2][1].stream == by_k[3][1].stream
    assert (by_k[3][1].condition >= by_k[2][1].condition).all()
    shown = context(evaluation=Evaluation(shown=3))
    assert sum(p.name.startswith("class ") for p in Length(most=6).prompts(shown, 2)) == 7


def test_an_oracle_meets_every_condition():
    # Rings of cells cannot hold discs that touch: one cell may then count two as one.
    made = context(world={**WORLD, "gap": 6.0, "most": 3}, train={"1": 2})
    found = rows(made, Length(most=3), discs(made.world))
    for k in (1, 2, 3):
        for measure in ("share_met", "share_corrected", "precision", "exact_count"):
            assert value(found, measure, k) == 1, (measure, k)
        assert value(found, "objects", k) == k
        assert value(found, "share_met", k, "heat 0.3") == 1
        assert value(found, "share_met", k, "heat 0.7") == 0
        assert value(found, "detector_share_met", k) == value(found, "detector_exact_count", k) == 1
    assert value(found, "exact_count", 0) == 1
    assert not any(r.measure == "share_met" and r.cls == "0" for r in found)


def test_other_layouts_and_empty_pictures_are_chance_and_nothing():
    made = context()

    world = made.world
    assert isinstance(world, ObjectWorld)
    others = {k: iter(world.layouts(k, 80, seed=99)[0]) for k in range(5)}

    def junk(conditions: list[Tensor]) -> list[Tensor]:
        return discs(world)([next(others[int(condition.sum())]) for condition in conditions])

    found = rows(made, Length(most=4, least_images=80), junk, images=80)
    assert abs(value(found, "share_corrected", 4)) < 0.15
    assert value(found, "share_met", 4) > 0.2
    blank = rows(made, Length(most=2), lambda asked: [torch.full((1, 3, 32, 32), 0.85)] * len(asked))
    assert value(blank, "share_met", 2) == value(blank, "objects", 2) == 0


def test_what_the_data_expect_beyond_conditions():
    assert spurious_expected(context()) == {1: 0.0, 2: 0.0, 3: 0.0}
    # One of one, two or three is labelled: no, one or two objects besides.
    assert spurious_expected(context(world={**WORLD, "labelled": "one"})) == {1: 1.0}
    uneven = context(world={**WORLD, "labelled": "one"}, train={"0": 5, "1": 1, "3": 3})
    assert spurious_expected(uneven) == {1: 1.5}


def test_the_detector_is_checked_at_the_end_only():
    made = context()
    early = rows(made, Length(most=1), discs(made.world), images=4, step=1)
    assert not any(r.measure.startswith("detector_") for r in early)


def test_what_it_cannot_measure_is_refused():
    with pytest.raises(InputError, match="most is 0; it must be at least 1"):
        build([{"name": "length", "most": 0}])
    circles = build_world("circles")
    recipe = Recipe(world={"name": "circles"}, train={"00": 1})
    other = Context(recipe, circles, Split(circles.space, {"00": 1}), train_probe(circles, "analytic"), None)
    with pytest.raises(InputError, match="needs a world of objects"):
        Length().prompts(other, 1)
    made = context()
    judged = made.recipe.with_settings({"evaluation.probe": {"name": "analytic"}})
    with pytest.raises(InputError, match="needs a detector"):
        Length(most=1).check(replace(made, recipe=judged))
    with pytest.raises(InputError, match="99 objects are asked for"):
        Length(most=99).check(made)


def test_shares_by_the_distance_between_conditions():
    """A model that draws only what stands alone: everything is met from three cells on, nothing nearer."""
    made = context(world={**WORLD, "gap": 0.5})
    plain = discs(made.world)

    def lonely(conditions: list[Tensor]) -> list[Tensor]:
        kept = []
        for condition in conditions:
            cells = condition[0].nonzero()
            apart = (cells[:, None] - cells[None]).abs().amax(-1) + 99 * torch.eye(len(cells)).long()
            alone = torch.zeros_like(condition)
            for down, across in cells[(apart > 2).all(1)]:
                alone[0, down, across] = 1
            kept.append(alone)
        return plain(kept)

    found = rows(made, Length(most=6), lonely, images=200)
    shares = {
        (r.cls, r.variable): r.value for r in found if r.measure == "share_met" and "nearest" in r.variable
    }
    counts = {(r.cls, r.variable): r.value for r in found if r.measure == "conditions"}
    assert shares.keys() == counts.keys()
    assert {name for cls, name in shares if cls == "1"} == {"nearest 5"}
    assert {value for (_, name), value in shares.items() if name[-1] in "345"} == {1.0}
    assert sum(counts[cls, name] for cls, name in counts if cls == "6" and name[-1] in "12") > 20
    # An object a few cells away may pass for a neighbour's, so a little is met by chance.
    assert all(value < 0.5 for (_, name), value in shares.items() if name == "nearest 1")
    every = {r.cls: r.value for r in found if r.measure == "share_met" and r.variable == ""}
    for cls, share in every.items():
        mean = [(shares[key], counts[key]) for key in shares if key[0] == cls]
        assert sum(s * n for s, n in mean) / sum(n for _, n in mean) == pytest.approx(share)


@pytest.mark.parametrize("told", ["colour", "both"])
def test_colours_asked_for_are_found_among_what_is_drawn(told):
    made = context(world={**WORLD, "colours": 5, "told": told})
    world, measure = made.world, Length(most=4)
    assert isinstance(world, ObjectWorld)

    def right(shift: int = 0):
        """A model that draws the scenes themselves, or with other colours than those asked for."""

        def draw(conditions: list[Tensor]) -> list[Tensor]:
            asked = [p.condition for p in measure.prompts(made, 24)]
            assert all(torch.equal(a, b) for a, b in zip(asked, conditions))
            drawn = []
            for k in range(5):
                scenes = _scenes(world, k, measure._images(k, 24), _seed(made))
                scenes = {**scenes, "colour": (scenes["colour"] + shift) % 5}
                drawn += [image[None] for image in world.render(scenes)]
            return drawn

        return draw

    found = {(r.cls, r.measure): r.value for r in rows(made, measure, right())}
    for k in "1234":
        assert found[k, "colour_met"] == found[k, "colour_corrected"] == found[k, "detector_colour_met"] == 1
        assert found[k, "colour_chance"] < 1
        assert ((k, "both_met") in found) == (told == "both")
        assert found.get((k, "both_met"), 1) == 1
    wrong = {(r.cls, r.measure): r.value for r in rows(made, measure, right(shift=1))}
    assert wrong["1", "colour_met"] == 0
    assert wrong["1", "share_met"] == 1, "places are right all the same"
    assert wrong.get(("4", "both_met"), 0) < 0.3
    assert wrong["1", "detector_colour_met"] == 1


def test_colours_of_rendered_scenes_are_read_from_real_ones():
    world = build_world("scenes", most=6)
    assert isinstance(world, ObjectWorld)
    factors = world.draw((6,), 20, seed=3)
    seen = ColourReader.of(world).read(world.render(factors), [c[:6] for c in factors["centres"]])
    right = torch.tensor([list(s) for s in seen]) == factors["colour"][:, :6]
    assert right.double().mean() > 0.95


def test_where_places_are_told_no_colours_are_looked_for():
    made = context()
    assert not {r.measure for r in rows(made, Length(most=2), discs(made.world))} & {"colour_met", "both_met"}

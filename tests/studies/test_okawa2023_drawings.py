"""Drawings of okawa2023: what stands in them, from simulated members and small tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation

from conceptlab import figures
from conceptlab.concepts import Split
from conceptlab.store.files import write_sheet
from conceptlab.studies.emergence_claims import drawn_by_half
from conceptlab.studies.okawa2023 import (
    STUDY,
    draw_data,
    draw_order,
    draw_sweeps,
    draw_world,
    recipes,
    tables,
)
from conceptlab.studies.okawa2023.settings import MINIMAL
from conceptlab.studies.study import Results
from conceptlab.worlds import OKAWA2023, Shapes
from tests.studies.okawa_members import write_members


def test_empty_images_have_no_place_in_the_cube() -> None:
    """A quarter of images empty, the others at .9: the mean over all is .8. Where most are empty nothing is told."""
    rows = [(1, "coordinate", "size", 0.8), (1, "drawn", "nothing", 0.25), (1, "drawn", "010", 0.75),
            (2, "coordinate", "size", 0.52), (2, "drawn", "nothing", 0.9), (3, "coordinate", "size", 0.7),
            (1, "accuracy", "", 0.7)]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["step", "measure", "variable", "value"])
    found = tables.shown(curves.assign(seed=0, distance=1, **{"class": "010"}))
    assert set(found["measure"]) == {"coordinate", "accuracy"}
    places = found[found["measure"] == "coordinate"].set_index("step")["value"]
    assert places[1] == pytest.approx(0.9)
    assert np.isnan(places[2])
    assert places[3] == 0.7
    assert found[found["measure"] == "accuracy"]["value"].tolist() == [0.7]


def test_a_class_is_drawn_at_its_mean() -> None:
    world = Shapes(**OKAWA2023)
    red = draw_world.mean_example(world, world.space.parse("000"))
    middle = red[:, 14, 14] / 255
    np.testing.assert_allclose(middle, (0.75, 0.25, 0.25), atol=0.01)
    np.testing.assert_array_equal(red, red[:, :, ::-1])


@pytest.mark.parametrize("last", [12, 500, 7900])
def test_a_square_root_axis_gives_the_first_quarter_half_its_length(last: int) -> None:
    page = figures.figure(columns=1)
    ax = page.add_subplot()
    ax.plot([1, last], [0, 1])
    draw_order.root_axis(ax, last)
    page.draw_without_rendering()
    start, quarter, end = (ax.transData.transform((x, 0))[0] for x in (0, last / 4, last))
    assert quarter - start == pytest.approx((end - start) / 2)
    places = [ax.transData.transform((x, 0))[0] for x in ax.get_xticks()]
    assert len(places) >= 3
    assert np.diff(places).min() > 0.15 * (end - start)


def test_half_of_the_seeds_draw_when_two_of_their_training_classes_stay_right() -> None:
    """Seeds begin at steps 200 and 400, the third never: half of three draw from 400 on."""
    rows = [
        (seed, step, cls, float(step >= begin))
        for seed, begin in enumerate((200, 400, np.inf))
        for step in range(100, 1100, 100)
        for cls in ("000", "100")
    ]
    curves = pd.DataFrame(rows, columns=["seed", "step", "class", "value"])
    curves = curves.assign(distance=0, measure="accuracy", variable="", weights="raw")
    assert drawn_by_half(curves) == 400
    assert drawn_by_half(curves[curves["seed"] == 2]) == np.inf


def test_where_few_steps_were_kept_every_class_is_shown(tmp_path: Path) -> None:
    recipe = recipes.base("small", [0])[0]
    member = write_members([recipe], tmp_path).member(recipe)
    assert len(member.sample_steps) == 2
    ax = figures.figure(columns=2).add_subplot()
    draw_order._drawings(ax, member)
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(step) for step in member.sample_steps]
    codes = [label.get_text() for label in ax.get_xticklabels()]
    assert sorted(codes) == [member.world.space.code(cls) for cls in member.world.space]
    assert codes[-1] == "111", "the furthest from training comes last"


def test_shares_come_with_their_spread_over_seeds() -> None:
    shares = pd.DataFrame(
        {"reader": ["judge", "judge", "linear"], "seed": [0, 1, 0], "value": [0.8, 1.0, 0.5]}
    )
    assert draw_order._shares(shares) == "judge 0.90 ± 0.14\nlinear 0.50"


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Results:
    wanted = recipes.figure9("tiny", [0, 1, 2])
    store = write_members(wanted, tmp_path_factory.mktemp("tuned"))
    return Results([store.member(recipe) for recipe in wanted], "tiny", [0, 1, 2])


def test_the_seed_shown_is_the_median_one_or_nearest_to_it_of_those_kept(
    tuned: Results, tmp_path: Path
) -> None:
    finals = pd.DataFrame({"seed": [0, 1, 2] * 2, "mode": "before", "class": ["010"] * 3 + ["011"] * 3,
                           "value": [0.0, 0.9, 0.5] * 2})  # fmt: skip
    member, standing = draw_data._typical(tuned.members, finals)
    assert member.recipe.seed == 2
    assert standing == "by how well it draws small circles this seed is number 2 of 3"
    before = [one for one in tuned.members if one.recipe.start is None]
    kept = []
    for one in before:
        place = tmp_path / one.path.name
        shutil.copytree(one.path, place)
        if one.recipe.seed == 2:
            shutil.rmtree(place / "samples")
        kept.append(type(one)(place))
    member, standing = draw_data._typical(kept, finals)
    assert member.recipe.seed == 0
    assert standing.endswith("this seed is number 3 of 3")
    assert "only" not in standing
    shutil.rmtree(kept[1].path / "samples")
    assert draw_data._typical(kept, finals)[1].startswith("the only seed of which drawings were kept; by")


def test_members_that_kept_fewer_drawings_are_shown_beside_the_others(tmp_path: Path) -> None:
    figure = STUDY.figure("unseen")
    wanted = figure.recipes("tiny", [0])
    store = write_members(wanted, tmp_path)
    members = [store.member(recipe) for recipe in wanted]
    (step,) = members[0].sample_steps[-1:]
    write_sheet(members[0].path / "samples" / f"{step:08d}.png", members[0].samples()[:, :1])
    results = Results([store.member(recipe) for recipe in wanted], "tiny", [0])
    page = figure.draw(results, figure.tables(results))
    titled = {ax.get_title(loc="left"): ax for ax in page.axes}
    strip = titled["Large blue circles and triangles, as drawn"]
    names = [label.get_text() for label in strip.get_xticklabels()]
    assert [name for name in names if name] == ["± 0", "± 0.15"]
    assert len(names) == 2 * len(wanted) - 1, "one image of each spread, and what parts them"
    assert [label.get_text() for label in strip.get_yticklabels()] == ["001", "101"]


def test_spread_and_shares_stay_between_0_and_1(tuned: Results) -> None:
    figure = STUDY.figure("fig9")
    made = figure.tables(tuned)
    finals = made["finals"]
    finals.loc[finals["seed"] == 0, "value"] = 0.2
    finals.loc[finals["seed"] != 0, "value"] = 1.0
    page = figure.draw(tuned, made)
    page.draw_without_rendering()
    titled = {ax.get_title(loc="left"): ax for ax in page.axes}
    bars = [
        line
        for ax in page.axes
        for group in ax.containers
        for line in getattr(group, "lines", [[], [], []])[2]
    ]
    ends = np.concatenate([segment[:, 1] for line in bars for segment in line.get_segments()])
    assert ends.max() == pytest.approx(1.0)
    assert ends.min() >= 0
    stacks = titled["Drawn as, tuned with 101"].patches
    sums: dict[float, float] = {}
    for bar in stacks:
        place = round(bar.get_x() + bar.get_width() / 2, 3)  # pyright: ignore[reportAttributeAccessIssue]
        sums[place] = sums.get(place, 0.0) + bar.get_height()  # pyright: ignore[reportAttributeAccessIssue]
    assert len(sums) == 9
    assert max(sums.values()) <= 1 + 1e-6
    assert min(sums.values()) > 0.5


def test_classes_at_one_distance_differ_in_dashes_and_critical_numbers_have_codes() -> None:
    codes, counts = ("100", "101", "110", "111"), (0, 10, 100)
    rows = [{"series": "100", "role": "in" if code == "100" else "out", "variable": "", "class": code, "number": n,
             "seed": 0, "value": float(n > 10 * at)} for at, code in enumerate(codes) for n in counts]  # fmt: skip
    critical = [{"series": "100", "variable": "", "class": code, "time": time}
                for code, time in zip(codes, (10.0, 100.0, 100.0, np.nan))]  # fmt: skip
    made = {"samples": pd.DataFrame(rows), "critical": pd.DataFrame(critical)}
    ax = figures.figure(columns=1).add_subplot()
    split = Split(Shapes(**OKAWA2023).space, dict.fromkeys(MINIMAL, 1))
    draw_data._against_count(ax, made, "100", split)
    curves = [line for line in ax.lines if len(line.get_xdata()) == len(counts)]  # pyright: ignore
    looks = [(str(line.get_color()), line.is_dashed()) for line in curves]
    assert len(set(looks)) == len(codes), "two classes look the same"
    said = [text.get_text() for text in ax.texts]
    assert "100" in said
    assert "101  110" in said


def test_critical_numbers_close_to_each_other_are_named_beside_the_last() -> None:
    """A label between 150 and 200 would lie on the second line."""
    look = figures.distance_colour(1)
    ax = figures.figure(columns=1).add_subplot()
    draw_data.count_axis(ax, [0, 30, 100, 150, 200, 1250])
    draw_data._critical(
        ax,
        {
            float(n): [draw_data.Line(look, code, "o")]
            for n, code in ((200, "111"), (150, "110"), (30, "100"))
        },
    )
    named = {text.get_text(): text for text in ax.texts if isinstance(text, Annotation)}
    assert {code: text.xy[0] for code, text in named.items()} == {"100": 30.0, "110": 200.0, "111": 200.0}
    assert named["110"].xyann[1] < named["111"].xyann[1], "one label hides the other"


def test_the_median_of_critical_numbers_counts_seeds_that_no_number_was_enough_for() -> None:
    rows = [{"series": "100", "role": "in", "variable": "", "class": "100", "number": n, "seed": seed, "value": 0.5}
            for seed in range(3) for n in (0, 10, 100)]  # fmt: skip
    split = Split(Shapes(**OKAWA2023).space, dict.fromkeys(MINIMAL, 1))
    for times, shown in (((10.0, np.nan, np.nan), False), ((10.0, 100.0, np.nan), True)):
        critical = [{"series": "100", "variable": "", "class": "100", "time": time} for time in times]
        ax = figures.figure(columns=1).add_subplot()
        draw_data._against_count(
            ax, {"samples": pd.DataFrame(rows), "critical": pd.DataFrame(critical)}, "100", split
        )
        places = [float(text.xy[0]) for text in ax.texts if isinstance(text, Annotation)]
        assert places == ([100.0] if shown else [])


def test_the_joint_accuracy_has_left_the_product_where_it_does_not_come_back() -> None:
    at = (0.0, 0.25, 0.5, 1.0)
    departures = pd.DataFrame(
        [{"seed": seed, "correlation": rho, "value": -rho} for seed in (0, 1) for rho in at]
    )
    rules = pd.DataFrame([{"seed": 0, "correlation": rho, "rule": "product", "error": 0.1} for rho in at])
    curves = pd.DataFrame(
        [
            {"seed": 0, "correlation": rho, "step": step, "class": code, "value": 0.5 * step}
            for rho in at
            for step in (1, 2)
            for code in ("000", "010", "101")
        ]
    )
    for left, marks in (
        ((True, False, True), [1.0]),
        ((True, False, False), []),
        ((False, True, True), [0.5]),
    ):
        leaves = pd.DataFrame({"correlation": at[1:], "leaves": left})
        page = draw_sweeps.draw_correlation(
            Results([], "tiny", [0]),
            {"curves": curves, "departures": departures, "leaves": leaves, "rules": rules},
        )
        assert [
            text.get_text() for text in page.axes[0].texts if text.get_text() in ("000", "010", "101")
        ] == ["010", "101"]
        lines = [line.get_xdata() for line in page.axes[1].lines]
        assert [float(x[0]) for x in lines if len(x) == 2 and x[0] == x[1]] == marks  # pyright: ignore


def test_critical_numbers_are_written_plainly_and_not_told_of_as_times() -> None:
    numbers = [0, 3, 10, 1250]
    rows = [
        (name, name, "in", n, seed, 0.5) for name in ("shape", "colour") for n in numbers for seed in (0, 1)
    ]
    samples = pd.DataFrame(rows, columns=["teaches", "variable", "role", "number", "seed", "value"])
    told = [
        (name, predicted, time, 1250)
        for name, predicted in (("shape", 5.4), ("colour", 10))
        for time in (3, 30)
    ]
    predicted = pd.DataFrame(told, columns=["teaches", "predicted", "time", "last"])
    page = draw_sweeps.draw_threshold(
        Results([], "paper", [0, 1]), {"samples": samples, "predicted": predicted}
    )
    assert [label.get_text() for label in page.axes[1].get_xticklabels()] == ["1", "10", "100"]
    caption = " ".join(page.get_supxlabel().split())
    assert "in the grey field: with no number that was tried" in caption
    assert "dotted: as predicted" in caption

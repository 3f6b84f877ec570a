"""What bradley2025's figures of the experiments draw, on tables whose answer is known."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from conceptlab.studies import Results
from conceptlab.studies.bradley2025 import told
from conceptlab.studies.bradley2025.crowding import with_enough
from conceptlab.studies.bradley2025.length import _k_max, _precision, _spurious
from conceptlab.studies.bradley2025.shipped import learned_cosines, shipped_member
from conceptlab.studies.bradley2025.tables import WHOLE


def curves(measure: str, values: dict[int, float], experiment: str = "2") -> pd.DataFrame:
    rows = [
        {"seed": seed, "experiment": experiment, "trained": 3, "reach": WHOLE, "k": k, "variable": "",
         "measure": measure, "value": value}
        for seed in (0, 1)
        for k, value in values.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def axes() -> Axes:
    ax = Figure().add_subplot()
    ax.set_ylim(-0.03, 1.05)
    return ax


@pytest.mark.parametrize(("reached", "text"), [((12, 12), ["≥ 12"]), ((12, 9), ["≥ 10.5"]), ((11, 4), [])])
def test_k_max_of_all_that_was_asked_for_is_written_as_a_lower_bound(reached, text):
    summary = pd.DataFrame({"experiment": "2", "seed": (0, 1), "k_max": reached, "most": 12})
    ax = axes()
    _k_max(ax, curves("share_met", {1: 1.0, 12: 0.45}), summary)
    assert [note.get_text() for note in ax.texts] == text
    # From its place on the curve down to the axis.
    drop, mark = ax.lines
    at = sum(reached) / 2
    assert list(drop.get_xdata()) == [at, at]
    assert list(drop.get_ydata()) == pytest.approx([-0.03, 1.0 - 0.05 * (at - 1)])
    assert list(mark.get_xdata()) == [at]


@pytest.mark.parametrize(("draw", "right"), [(_spurious, 1.0), (_precision, 0.5)])
def test_objects_nobody_labelled_are_expected_as_often_as_training_has_them(draw, right):
    table = pd.concat(
        [
            curves("spurious", {1: 0.8, 2: 0.4}),
            curves("precision", {1: 0.6, 2: 0.8}),
            curves("spurious_expected", {1: 1.0}),
        ]
    )
    ax = axes()
    draw(ax, table, "d")
    (mark,) = [line for line in ax.lines if line.get_markerfacecolor() == "none" and len(line.get_xdata())]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([1], [right])


def test_crowding_draws_a_k_only_where_every_seed_has_enough_conditions():
    counts = {(0, 8): 30, (1, 8): 12, (0, 9): 40, (1, 9): 9, (0, 10): 50}
    rows = [
        {"seed": seed, "experiment": "3", "trained": 3, "reach": 2, "place": place, "k": k, "conditions": n}
        for place in ("alone", "crowded")
        for (seed, k), n in counts.items()
    ]
    # A setting with one seed needs that one.
    rows.append({**rows[0], "experiment": "1", "reach": WHOLE, "k": 10})
    found = with_enough(pd.DataFrame(rows), least=10)
    assert set(found.loc[found["experiment"] == "3", "k"]) == {8}
    assert len(found[found["experiment"] == "3"]) == 4
    assert list(found.loc[found["experiment"] == "1", "k"]) == [10]


def test_the_shipped_network_learns_to_tell_colour_from_size():
    found = learned_cosines(images=40, levels=(-2.0,))
    pixels, inside = (found[found["space"] == space] for space in ("pixels", "bottleneck"))
    assert pixels["cosine"].item() == pytest.approx(0.18, abs=0.02), "a larger disc and a paler one"
    assert list(inside["step"]) == shipped_member().checkpoint_steps
    first, last = inside["cosine"].iloc[[0, -1]]
    assert abs(last) < pixels["cosine"].item() < first


@pytest.mark.parametrize("least", [0.1, -0.3])
def test_names_of_what_is_told_stand_where_its_lines_end(least: float) -> None:
    ends = {"location": 0.6, "colour": least, "both": 0.9}
    rows = [
        (seed, what, 3, k, 1.0 - (1.0 - end) * k / 6)
        for seed in (0, 1)
        for what, end in ends.items()
        for k in (2, 4, 6)
    ]
    table = pd.DataFrame(rows, columns=["seed", "told", "trained", "k", "met"])
    table = table.assign(corrected=table["met"], chance=0.1, real=1.0)
    page = told.draw_told(Results([], "small", (0, 1)), {"curves": table})
    right = page.axes[1]
    low, high = right.get_ylim()
    found = {text.get_text(): low + text.get_position()[1] * (high - low) for text in right.texts}
    for what, end in ends.items():
        assert found[told.LINES[what].label] == pytest.approx(end, abs=0.02)
    assert low < least

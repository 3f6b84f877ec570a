"""The drawings of park2024, from tables made in a moment: what they show is what their captions say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from conceptlab.studies.park2024 import STUDY, drawing
from conceptlab.studies.park2024.tables import curve, run_times
from conceptlab.studies.study import Results
from tests.studies import park2024_synthetic as synthetic


def test_figures_draw_realistic_tables():
    separations = (0.175, 0.25, 0.3)
    every, masked = synthetic.sweep(3, separations), synthetic.masking(3, (0.0, 0.5))
    tables = {"curves": every, "times": run_times(every), "signal": synthetic.signal(separations)}
    hidden = {"curves": masked, "times": run_times(masked), "signal": synthetic.signal((0.3,))}
    for id_ in ("fig1", "fig3", "fig4", "fig5", "elicitation", "masking"):
        given = hidden if id_ == "masking" else tables
        page = STUDY.figure(id_).draw(Results([], "paper", (0, 1, 2)), given)
        assert page.axes, id_


def test_what_is_drawn_is_what_the_captions_say():
    every = synthetic.sweep(3, (0.175, 0.3))
    tables = {"curves": every, "times": run_times(every), "signal": synthetic.signal((0.175, 0.3))}

    def drawn(id_: str):
        page = STUDY.figure(id_).draw(Results([], "paper", (0, 1, 2)), tables)
        return page, " ".join(page.get_supxlabel().split())

    for id_, bands in (("fig1", False), ("fig2", True), ("fig4", False), ("fig7", False), ("fig8", False)):
        assert ("band" in drawn(id_)[1]) == bands, id_

    # Lines begin, and paleness ends, when half of the seeds draw.
    begins = tables["times"].groupby("separation")["drawing"].median()
    for ax in drawn("fig7")[0].axes[:2]:
        assert [line.get_xdata()[0] for line in ax.lines] == list(begins)
    pale = [
        ax.patches[0].get_extents().transformed(ax.transData.inverted()).x1 for ax in drawn("fig2")[0].axes
    ]
    assert pale == pytest.approx(list(begins))

    # Stars in concept space: where the seeds are at their own times, whatever the mean path shows.
    page, _ = drawn("fig4")
    stars = [np.ravel(line.get_xdata())[0] for line in page.axes[2].lines if line.get_marker() == "*"]
    for star, separation in zip(stars, (0.175, 0.3), strict=True):
        runs = every[every["separation"] == separation]
        times = tables["times"][tables["times"]["separation"] == separation]
        own = [
            np.interp(t, path.index, path)
            for seed, t in zip(times["seed"], times["capability"])
            for path in [curve(runs[runs["seed"] == seed], "coordinate", "colour")]
        ]
        assert star == pytest.approx(np.mean(own))


def test_every_run_has_a_mark_of_its_own():
    """Times are those of evaluations, so that runs share them; those that never learn share the last."""
    every = synthetic.sweep(4, (0.175, 0.3))
    times = run_times(every)
    times["colour"] = [np.nan, np.nan, np.nan, 5400.0, 2709.0, 2709.0, 3038.0, 5400.0]
    tables = {"curves": every, "times": times, "signal": synthetic.signal((0.175, 0.3))}
    page = STUDY.figure("fig1").draw(Results([], "paper", (0, 1, 2, 3)), tables)
    marks = [(line.get_marker(), *map(float, np.ravel(line.get_xydata()))) for line in page.axes[2].lines]
    assert [mark for mark, *_ in marks].count("^") == 3
    assert len({(round(x, 3), y) for _, x, y in marks}) == len(times)
    # In the middle between those alike, where the signal is; the other times are their own.
    assert np.exp(np.mean(np.log([x for mark, x, _ in marks if mark == "^"]))) == pytest.approx(
        0.022 * 175**2 / 1e3
    )
    assert "3 never reach .5" in " ".join(page.get_supxlabel().split())


def test_a_seed_that_never_draws_has_no_way_of_its_own():
    """What a judge reads in its noise is not shown as if it were drawn."""
    every = synthetic.sweep(3, (0.25,))
    never = (every["seed"] == 2) & (every["class"] == "00") & (every["measure"] == "accuracy")
    every = every.assign(value=every["value"].mask(never, 0.0))
    tables = {"curves": every, "times": run_times(every)}
    page = STUDY.figure("fig9").draw(Results([], "paper", (0, 1, 2)), tables)
    assert [len(line.get_data_3d()[0]) > 0 for line in page.axes[0].lines] == [True] * 6 + [False] * 3
    assert "(1 never does)" in " ".join(page.get_supxlabel().split())


def test_ways_at_another_separation_than_the_claims_say_so():
    """Beside them stands that at the lowest signal not every seed behaves: in the picture all do."""

    def caption(*separations: float) -> str:
        every = synthetic.sweep(3, separations)
        tables = {"curves": every, "times": run_times(every)}
        page = STUDY.figure("fig9").draw(Results([], "paper", (0, 1, 2)), tables)
        return " ".join(page.get_supxlabel().split())

    assert "claims are about all, or the lowest, 0.175." in caption(0.175, 0.25)
    assert "claims" not in caption(0.25, 0.3)


def test_stars_of_networks_that_cannot_draw_yet_are_hollow():
    every = synthetic.sweep(3, (0.175, 0.3))
    tables = {"curves": every, "times": run_times(every)}
    page = STUDY.figure("elicitation").draw(Results([], "paper", (0, 1, 2)), tables)
    since = tables["times"].groupby("separation")["drawing"].median()
    for ax, begins in zip(page.axes, since, strict=True):
        found = [line for line in ax.lines if line.get_marker() == "*"]
        hollow = {
            float(x): line.get_markerfacecolor() == "white"
            for line in found
            for x in np.ravel(line.get_xdata())
        }
        assert hollow == {step: step < begins for step in hollow}
        assert len(set(hollow.values())) == 2


def test_elicitation_shows_what_its_claims_compare_with():
    """The best of redraws, by both probes, as one grey line: a mean without a band."""
    every = synthetic.sweep(3, (0.175, 0.3))
    tables = {"curves": every, "times": run_times(every)}
    page = STUDY.figure("elicitation").draw(Results([], "paper", (0, 1, 2)), tables)
    null = every[(every["measure"] == "agreed_best") & (every["variable"] == "redraws")]
    for ax, (_, runs) in zip(page.axes, null.groupby("separation"), strict=True):
        (line,) = (line for line in ax.lines if line.get_color() == drawing.NULL.colour)
        assert np.ravel(line.get_ydata()) == pytest.approx(runs.groupby("step")["value"].mean().to_numpy())
        bands = [face for made in ax.collections for face in np.atleast_2d(made.get_facecolor())]
        assert len(bands) >= 5
        assert not any(same_color(face[:3], drawing.NULL.colour) for face in bands)
    assert "grey" in page.get_supxlabel()


def test_a_band_on_a_logarithmic_axis_stays_on_it():
    every = synthetic.sweep(3, (0.175, 0.3))
    wild = every["value"] * np.where(every["seed"] == 0, 50.0, 1.0)
    every["value"] = every["value"].where(every["measure"] != "gradient_norm", wild)
    page = STUDY.figure("fig12").draw(
        Results([], "paper", (0, 1, 2)), {"curves": every, "times": run_times(every)}
    )
    assert "of its logarithm" in " ".join(page.get_supxlabel().split())
    beside = [ax for ax in page.axes if ax.get_yscale() == "log"]
    assert len(beside) == 2
    for ax in beside:
        (area,) = (path for band in ax.collections for path in band.get_paths())
        assert np.asarray(area.vertices, dtype=float)[:, 1].min() > 0


def test_figure_5_tells_of_a_grey_line_only_where_there_is_one():
    every = synthetic.sweep(2, (0.175, 0.3))
    times = run_times(every)
    for time, there in ((1000.0, True), (np.nan, False)):
        tables = {"curves": every, "times": times.assign(disentangled=time)}
        text = STUDY.figure("fig5").draw(Results([], "paper", (0, 1)), tables).get_supxlabel()
        assert ("Grey line" in text, "Nowhere" in text) == (there, not there)


@pytest.mark.parametrize("figure", ["fig2", "fig5", "fig10", "fig16", "elicitation"])
@pytest.mark.parametrize("separations", [synthetic.SEPARATIONS[:5], (0.175, 0.3)])
def test_panels_at_the_edge_of_an_incomplete_row_are_labelled(figure, separations):
    every = synthetic.sweep(2, separations)
    tables = {"curves": every, "times": run_times(every)}
    page = STUDY.figure(figure).draw(Results([], "paper", (0, 1)), tables)
    places = {}
    for ax in page.axes:
        grid = ax.get_subplotspec()
        assert grid is not None
        places.setdefault((grid.rowspan.start, grid.colspan.start), []).append(ax)
    assert len(places) == len(separations)
    for (row, column), (left, *beside) in places.items():
        assert bool(left.get_xlabel()) == ((row + 1, column) not in places)
        assert bool(left.get_ylabel()) == (column == 0)
        for right in beside:
            ends = (row, column + 1) not in places
            assert bool(right.get_ylabel()) == ends
            assert right.yaxis.get_tick_params()["labelright"] == ends


@pytest.mark.parametrize(
    ("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 3), (6, 3), (7, 4), (8, 4), (9, 3)]
)
def test_rows_of_panels_have_few_empty_places(count: int, columns: int) -> None:
    assert drawing.columns_of(pd.DataFrame({"separation": [0.1 * n for n in range(count)] * 2})) == columns

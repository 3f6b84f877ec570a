"""park2024 at tiny scale: every figure from one shared sweep, the notebook on the same members, elicitation, docs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from conceptlab.cli import main
from conceptlab.cli.settings import parse_settings
from conceptlab.errors import InputError
from conceptlab.executors import elicit
from conceptlab.recipe import flatten
from conceptlab.store import FigureRun, Store
from conceptlab.studies import Order, run
from conceptlab.studies.park2024 import STUDY
from conceptlab.studies.park2024.recipes import SIZES, sweep
from conceptlab.studies.park2024.tables import curve, run_times
from conceptlab.studies.study import Results
from tests.examples import run_script
from tests.notebooks import run_notebook
from tests.studies import park2024_synthetic as synthetic

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, FigureRun]:
    order = Order(STUDY, STUDY.figures, "tiny", SEEDS, {})
    store = Store(tmp_path_factory.mktemp("park2024") / "runs")
    return {
        r.manifest["figure"]: r for r in run(order, store, torch.device("cpu"), lambda members, steps: None)
    }


def test_every_figure_is_drawn_and_judged_from_shared_members(runs):
    assert set(runs) == {*(f"fig{i}" for i in range(1, 17)), "elicitation", "masking", "sampling"}
    members = {member for r in runs.values() for member in r.manifest["members"]}
    assert len(members) == 8, "four of the sweep, two masked, two to check the sampling"
    for id_, figure_run in runs.items():
        assert [p.stem for p in figure_run.pictures] == [id_]
        assert len(figure_run.verdicts) == len(STUDY.figure(id_).claims)
        assert all(v.strength == "indicative" for v in figure_run.verdicts)
    every = set(runs["fig1"].metrics["measure"])
    assert {
        "prompt_capability",
        "best_prompt",
        "winner",
        "disentanglement",
        "weight_norm",
        "gradient_norm",
    } <= every


def test_every_way_of_asking_was_measured_and_patches_belong_to_kept_steps(runs):
    curves = runs["elicitation"].tables["curves"]
    capable = curves[curves["measure"] == "agreed_capability"]
    assert set(capable["variable"]) == {"over-prompting", "redraws", "search", "latent", "guidance", "patch"}
    kept = runs["elicitation"].members[0].recipe.keep
    assert set(capable.loc[capable["variable"] == "patch", "step"]) == set(kept)
    winners = runs["elicitation"].tables["winners"]
    assert (winners["prompt"] != "").all()


def test_members_that_were_not_asked_in_other_ways_are_refused_in_words(runs):
    asked = runs["elicitation"].members
    plain = Results(asked, "tiny", (0, 1))
    plain.metrics.drop(plain.metrics.index[plain.metrics["measure"] == "agreed_capability"], inplace=True)
    with pytest.raises(InputError, match="were not asked in other ways"):
        STUDY.figure("elicitation").tables(plain)


def test_the_notebook_runs_on_the_same_members(runs, monkeypatch):
    monkeypatch.chdir(runs["fig1"].store.root.parent)
    names = run_notebook(DOCS / "notebooks" / "park2024.ipynb")
    assert names["turn"] == 800
    assert names["naive"] > names["held_out"] + 0.05
    assert names["signal"]["colour", "00"] == pytest.approx(0.0074, rel=0.1)
    assert names["signal"]["colour", "01"] == pytest.approx(0.00088, rel=0.1)
    assert names["signal"]["size", "00"] == pytest.approx(0.043, rel=0.1)
    assert len(names["verdicts"]) == 14


def test_elicit_answers_for_a_run_and_shows_images(runs, tmp_path, capsys):
    sheet = tmp_path / "elicit.png"
    assert main(["elicit", str(runs["fig2"].path), "--class", "11", "--n", "4", "--out", str(sheet)]) == 0
    said = capsys.readouterr().out
    assert "It can" in said
    assert "search" in said
    with Image.open(sheet) as picture:
        assert picture.width > 800  # large enough to see, whatever the resolution of the world
    assert main(["elicit", str(runs["fig2"].path), "--class", "31"]) == 2
    with pytest.raises(InputError, match="at least 4 images"):
        elicit(runs["fig2"].members[0], "11", images=2)


def test_an_answer_tells_can_from_does(runs):
    answer = elicit(runs["fig2"].members[0], "11", images=4)
    last = answer.ways["step"].max()

    def told(plain: float, latent: float) -> str:
        ways = pd.DataFrame(
            [(last, "redraws", "draw 0", plain), (last, "latent", "all × 2", latent)],
            columns=["step", "way", "prompt", "accuracy"],
        )
        none = answer.trained.iloc[:0]
        return type(answer)(answer.code, ways, none, answer.images, answer.shown).sentence

    assert told(0.1, 0.9).startswith("It can, but does not")
    assert "latent (all × 2) in 90%" in told(0.1, 0.9)
    assert told(0.8, 0.9).startswith("It can and does")
    assert told(0.1, 0.2).startswith("It cannot yet")


def test_sampling_is_checked_before_during_and_after_emergence(runs):
    table = runs["sampling"].tables["sampling"]
    assert list(table["step"].unique()) == [4, 8, 12]
    assert len(table) == 2 * 3 * 4, "seeds, evaluations, classes"
    assert (table["full"] - table["few"]).to_numpy() == pytest.approx(table["difference"].to_numpy())
    recipe, *_ = STUDY.figure("sampling").recipes("paper", [0])
    (same,) = (r for r in sweep("paper", [0]) if r.world == recipe.world)
    # A shorter run is the beginning of the sweep's own, because nothing in training knows how long it is.
    assert same.optimiser == recipe.optimiser
    assert (same.optimiser.decay, recipe.steps) == ("constant", 6000)


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


def test_a_seed_that_never_draws_has_no_way_of_its_own():
    """What a judge reads in its noise is not shown as if it were drawn."""
    every = synthetic.sweep(3, (0.25,))
    never = (every["seed"] == 2) & (every["class"] == "00") & (every["measure"] == "accuracy")
    every = every.assign(value=every["value"].mask(never, 0.0))
    tables = {"curves": every, "times": run_times(every)}
    page = STUDY.figure("fig9").draw(Results([], "paper", (0, 1, 2)), tables)
    assert [len(line.get_data_3d()[0]) > 0 for line in page.axes[0].lines] == [True] * 6 + [False] * 3
    assert "(1 never does)" in " ".join(page.get_supxlabel().split())


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


def test_paper_scale_is_the_authors_setting():
    recipes = sweep("paper", range(5))
    first = recipes[0]
    assert len(recipes) == 5 * len(SIZES["paper"].separations)
    assert (first.steps, first.loss, first.data_noise, first.optimiser.clip) == (15_000, "bound", 1e-3, 0.01)
    assert len(first.evaluation_steps()) == 40
    assert set(first.keep) <= set(first.evaluation_steps()[:-1])
    shared = {
        "denoiser.channels": [32, 64, 128, 256],
        "denoiser.condition_mlp": "shared",
        "optimiser.clip": None,
    }
    changed = first.with_settings(shared)
    assert changed.hash != first.hash
    assert changed.optimiser.clip is None


def test_every_switch_in_the_docs_is_one():
    recipe = sweep("paper", [0])[0]
    rows = re.findall(r"^\|.*`(--set .*)`", (DOCS / "park2024.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 7
    for row in rows:
        settings = parse_settings(shlex.split(row)[1::2])
        changed = recipe.with_settings(settings)
        assert changed.hash != recipe.hash, row
        assert set(changed.keep) <= set(changed.evaluation_steps()[:-1]), row


def _example() -> str:
    (example,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "park2024.md").read_text(encoding="utf-8"), re.DOTALL
    )
    return example


def test_the_example_in_the_docs_is_the_papers_sweep():
    example = _example()
    assert len(example.strip().splitlines()) < 30
    names: dict = {}
    exec(compile(example, "park2024.md", "exec"), names)
    assert names["held_out"] == ["11"]
    assert len(names["sweep"]) == 30
    # It trains and draws as the study does; what else the study measures is left out.
    (ours,) = (r for r in sweep("paper", [0]) if r.world["colour_separation"] == 0.225)
    (theirs,) = (r for r in names["sweep"] if r.world["colour_separation"] == 0.225 and r.seed == 0)
    differing = {key for key, value in flatten(ours).items() if flatten(theirs).get(key) != value}
    assert differing == {"precision", "keep", "evaluation.final_images", "evaluation.measurements"}


def test_the_example_in_the_docs_trains(tmp_path):
    judge = 'images=2, probe={"name": "analytic"}, second_probe=None'
    quick = {
        "steps=15_000": "steps=2",
        '"count": 40': '"count": 1',
        '"sampler_steps": 50': '"sampler_steps": 2',
        ", 1740)": ", 20)",
        "Evaluation(": f"Evaluation({judge}, ",
        '{"name": "park2024"}': '{"name": "park2024", "channels": [16, 16]}',
        "(0.175, 0.2, 0.225, 0.25, 0.275, 0.3)": "(0.3,)",
        "range(5)]\nif": "range(1)]\nif",
    }
    (member,) = run_script(_example(), quick, tmp_path)
    assert member.status == "complete"
    assert member.recipe.world["colour_separation"] == 0.3
    assert set(member.metrics["measure"]) >= {"accuracy", "prompt_capability"}

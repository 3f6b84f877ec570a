"""The study yang2025: its numbers against reference runs and exact answers, and every figure end to end, small."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from conceptlab import figures, studies
from conceptlab.claims import judge
from conceptlab.store import Store
from conceptlab.studies import Results
from conceptlab.studies.yang2025 import (
    STUDY,
    compositions,
    deep,
    drawing,
    examples,
    failure,
    jacobian,
    map,
    networks,
    order,
    settings,
)
from conceptlab.studies.yang2025.swing_claims import discordant
from conceptlab.studies.yang2025.symmetric_runs import count_starts, pick, run_tables, turning_points
from conceptlab.theory import Cell, Sim, Trained, find_swings, run_cell

MICRO = settings.Size(d=4, samples=64, epochs=12, starts=6, tasks=2)
TRAINED = ("fig6", "predict")
"""Figures that draw from trained members; they are tested in test_yang2025_members.py."""
ALONE = [figure.id for figure in STUDY.figures if figure.id not in TRAINED]


@pytest.fixture
def micro(monkeypatch: pytest.MonkeyPatch) -> Results:
    """Two seeds of everything at a size that only proves that the parts fit together."""
    monkeypatch.setitem(settings.SIZES, "tiny", MICRO)
    monkeypatch.setitem(failure._STEPS, "tiny", 60)
    return Results([], "tiny", (0, 1))


def test_the_study_has_every_figure_of_the_paper() -> None:
    numbered = [f"fig{number}" for number in range(1, 20)]
    assert [figure.id for figure in STUDY.figures] == [*numbered, "map", "predict"]
    assert [figure.id for figure in STUDY.figures if figure.recipes("paper", (0,))] == [*TRAINED]
    for figure in STUDY.figures:
        assert all(claim.id.startswith(f"yang2025.{figure.id}.") for claim in figure.claims)
        assert all(claim.figure == figure.id for claim in figure.claims)


@pytest.mark.parametrize("id_", ALONE)
def test_every_figure_makes_tables_and_draws_them(id_: str, micro: Results) -> None:
    figure = STUDY.figure(id_)
    tables = figure.tables(micro)
    assert all(len(table) for table in tables.values())
    picture = figure.draw(micro, tables)
    assert len(picture.axes) >= 2
    lettered = {text.get_text() for ax in picture.axes for text in ax.texts}
    told = re.findall(r"(?<=[.;] )[a-z](?=: )", picture.get_supxlabel())
    assert lettered >= set(told), "the caption tells of a panel that is not there"
    assert len(judge(figure.claims, tables, "tiny")) == len(figure.claims)


def test_figure_3_tells_its_bars_from_the_small_starts_of_the_claim(micro: Results) -> None:
    """One layer swings from starts of the usual size in two dimensions, and not from those the claim is about."""
    figure = STUDY.figure("fig3")
    picture = figure.draw(micro, figure.tables(micro))
    caption = " ".join(picture.get_supxlabel().split())
    assert "of small starts of one layer, which its claim is about, 0 of 6 do." in caption


def test_clear_starts_are_the_reference_runs() -> None:
    """OOD loss at the turning points of the reference runs, gradient descent on U."""
    for example, levels in (
        (examples.CLEAR_DOUBLE, (2.411, 0.302, 0.455)),
        (examples.CLEAR_TRIPLE, (10.04, 1.508, 1.999, 0.4355, 0.4401)),
    ):
        assert example.start is not None
        curve = run_tables(example, example.start, "clear")["curves"]["ood"].to_numpy()
        found = turning_points(curve).value[0][: len(levels)]
        assert np.abs(found / levels - 1).max() < 2e-3


def test_count_starts_agrees_with_the_run_it_counts() -> None:
    starts, band = count_starts(examples.DOUBLE, 25)
    shown = pick(starts)
    run = run_tables(examples.DOUBLE, examples.DOUBLE.random_starts(25)[shown], "random")
    found = turning_points(run["curves"]["ood"].to_numpy())
    row = starts.loc[shown]
    assert found.descents[0] == row["descents"] == 2
    assert found.largest_ascent[0] / run["curves"]["ood"].iloc[0] == pytest.approx(row["rise"], rel=1e-3)
    entry = run["entries"].query("entry == '12'")["value"].to_numpy()
    valley, peak = found.index[0][1:3]
    assert bool(entry[peak] < entry[valley]) == bool(row["minor_falls"])
    assert starts.loc[starts["descents"] < 2, "minor_falls"].isna().all()
    assert band["seed"].nunique() == 20
    assert len(band) == 20 * len(examples.DOUBLE.moments)


def test_a_rise_between_two_steps_that_are_drawn_is_counted() -> None:
    """Start 19 of Figure 8 descends three times, which every tenth step does not show."""
    starts, _ = count_starts(examples.TRIPLE, 20)
    assert starts["descents"].iloc[19] == 3
    drawn = run_tables(examples.TRIPLE, examples.TRIPLE.random_starts(20)[19], "random")["curves"]["ood"]
    assert turning_points(drawn.to_numpy()).descents[0] == 2


def test_pick_prefers_descents_then_the_rise() -> None:
    starts = pd.DataFrame({"seed": [0, 1, 2], "descents": [2, 3, 3], "rise": [0.9, 0.1, 0.2]})
    assert pick(starts) == 2


def test_half_times_of_a_known_path() -> None:
    """Outputs that follow 1 - e^{-at} exactly are half learnt at ln 2 / a, and a flat one never."""
    run = networks.Run(Sim((1.0, 2.0), 0.0), 1, 2, 0.02, 640, 40)
    steps = np.array(run.record())
    a = run.sim.strengths
    t = torch.from_numpy(steps * run.rate)
    learnt = (1 - torch.exp(-t[:, None] * a)) * torch.tensor([1.0, 2.0])
    outputs = torch.stack([learnt, torch.zeros_like(learnt)], dim=1)[:, :, None]
    loss = torch.ones(len(steps), 2)
    table = networks.half_table(run, Trained(steps, outputs, loss, loss, None), (0, 1))
    first = table[table["seed"] == 0]
    assert np.allclose(first["time"], first["predicted"], rtol=2e-2)
    assert first["predicted"].iloc[0] == pytest.approx(math.log(2) / 0.5 / (0.02 * run.updates))
    assert table.loc[table["seed"] == 1, "time"].isna().all()


def test_swing_table_on_an_oracle_and_on_junk() -> None:
    steps = np.arange(6)
    swing = torch.tensor([1.0, 0.2, 0.3, 0.25, 0.1, 0.0])
    steady = torch.linspace(1, 0, 6)
    wiggle = steady + torch.tensor([0, 0.004, -0.004, 0.004, -0.004, 0])
    loss = torch.stack([swing, steady, wiggle], dim=1)
    trained = Trained(steps, torch.zeros(6, 3, 1, 2), loss, loss, None)
    assert networks.swing_table(trained, (0, 1, 2), 0.01)["swings"].tolist() == [True, False, False]


def test_a_rise_between_two_records_is_counted() -> None:
    """Seeds 5 and 73 of one layer in d = 2, as Figure 3 trains them, rise and fall again within the five updates that
    lie between two records."""
    run = deep._run("low", 1, settings.SIZES["paper"])
    trained = run.train((5, 73))
    assert networks.swing_table(trained, (5, 73), settings.LEVEL)["swings"].all()
    recorded = (trained.ood_loss / trained.ood_loss[0]).numpy()[trained.steps]
    assert not find_swings(recorded.T, settings.LEVEL).swings_by.any()
    table = networks.loss_table(run, trained, (5, 73)).pivot_table(
        index="epoch", columns="seed", values="ood"
    )
    assert np.allclose(table, recorded[networks.drawn(len(recorded))], rtol=1e-6)


def test_the_middle_of_a_band_does_not_hang_on_how_near_to_zero_the_quickest_seeds_come() -> None:
    middles = []
    for learnt in (1e-5, 1e-30):
        table = pd.DataFrame({"seed": range(5), "epoch": 1.0, "ood": [learnt, learnt, 0.01, 0.1, 1.0]})
        ax = figures.figure(columns=1, height=2.0).subplots()
        drawing.log_band(ax, table, "epoch", "ood", figures.Line("#000000"))
        middles.append(float(np.asarray(ax.lines[0].get_ydata())[0]))
    assert middles == pytest.approx([0.01, 0.01])


def test_a_curve_keeps_what_can_be_drawn() -> None:
    assert networks.drawn(networks.CURVE).tolist() == list(range(networks.CURVE))
    kept = networks.drawn(40 * deep._RECORDS + 1)  # the most that any figure records
    assert 100 < len(kept) < 200
    assert kept[[0, -1]].tolist() == [0, 40 * deep._RECORDS]
    assert kept[: 3 * deep._RECORDS].tolist() == list(range(3 * deep._RECORDS))
    assert (np.diff(kept) <= 1 + 0.025 * kept[1:]).all()


def test_thinned_curves_follow_the_path_and_judge_nothing() -> None:
    """A swing between two moments that are kept is not in the table of losses, but in that of swings."""
    run = networks.Run(Sim((1.0, 2.0), 0.0), 1, 2, 0.02, 1024, 40, records=16)
    steps = np.array(run.record())
    missing = int(np.setdiff1d(np.arange(len(steps)), networks.drawn(len(steps)))[0])
    loss = torch.linspace(1, 0, len(steps), dtype=torch.float64)[:, None].repeat(1, 2)
    loss[missing, 1] += 0.5
    fall = torch.exp(-torch.linspace(0, 5, len(steps), dtype=torch.float64))
    outputs = torch.stack([1 - fall, 2 * (1 - fall**4)], dim=-1)[:, None, None].repeat(1, 2, 1, 1)
    trained = Trained(steps, outputs, loss, loss, None)
    assert networks.swing_table(trained, (0, 1), 0.01)["swings"].tolist() == [False, True]
    table = networks.loss_table(run, trained, (0, 1))
    assert table["seed"].value_counts().le(networks.CURVE).all()
    assert table.groupby("epoch")["ood"].nunique().eq(1).all()
    path = networks.output_table(run, trained, (0, 1)).query("seed == 1")
    whole = outputs[:, 1, 0].numpy()
    for column, exact in zip(("x1", "x2"), whole.T, strict=True):
        between = np.interp(run.epoch(trained), path["epoch"], path[column])
        assert np.abs(between - exact).max() < 1e-3


def test_figure_17_tells_how_far_losses_rise_by_its_curves(micro: Results) -> None:
    figure = STUDY.figure("fig17")
    tables = figure.tables(micro)

    def told() -> str:
        return " ".join(figure.draw(micro, tables).get_supxlabel().split())

    of_its_start = "Largest rise of a loss over the least before it, as a share of its start"
    assert f"{of_its_start}: training 0, OOD" in told()
    curves = tables["curves"]
    run = (curves["run"] == curves["run"].iloc[0]).to_numpy()
    start = curves.loc[run, "training"].iloc[0]
    curves.loc[np.flatnonzero(run)[-1], "training"] = curves.loc[run, "training"].iloc[-2] + 0.25 * start
    assert f"{of_its_start}: training 0.25, OOD" in told()


@pytest.mark.parametrize("id_", ["fig2", "fig3", "fig13"])
def test_tables_hold_at_most_so_many_moments_a_curve(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many records as at paper scale, of small networks."""
    epochs = settings.SIZES["paper"].epochs
    size = settings.Size(d=2, samples=1024, epochs=epochs, starts=6, tasks=2)
    monkeypatch.setitem(settings.SIZES, "tiny", size)
    tables = STUDY.figure(id_).tables(Results([], "tiny", (0, 1)))
    values = {"x1", "x2", "ood", "training"}
    for name in {"paths", "losses", "deep"} & tables.keys():
        table = tables[name]
        curve = table.columns.difference([*values, "epoch"]).tolist()
        moments = table.groupby(curve).size()
        assert moments.between(epochs, networks.CURVE).all()
        assert (table[table.columns.intersection([*values])].dtypes == np.float32).all()


def test_published_half_learning_epochs() -> None:
    """The paper's (7, 2) at sigma_1 = .05 and (1, 2) at 2, from a_p alone, to within an epoch and a half."""
    size = settings.SIZES["paper"]
    for sigma, published in ((0.05, (7, 2)), (2.0, (1, 2))):
        predicted = order._run((1.0, 2.0), sigma, size, order._ONE_LAYER).half_epochs()
        assert np.abs(np.array(predicted) - published).max() < 1.5


def test_identities_hold_and_their_checks_can_fail() -> None:
    assert order.closed_form_errors(horizon=2.0)["error"].max() < 1e-12
    assert jacobian.entry_equation_errors(range(3))["error"].max() < 1e-12
    starts = (0.1, 1e-4)
    w, rate = jacobian.minor_paths(starts, points=200)
    assert jacobian.turning_errors(starts, w, rate)["error"].max() < 1e-3
    assert jacobian.turning_errors(starts, 1.01 * w, rate)["error"].min() > 5e-3


def test_correlated_tasks_swing_only_towards_the_composition() -> None:
    swings = jacobian.correlated_tasks(range(4)).pivot_table(
        index="seed", columns="correlation", values="swing"
    )
    assert (swings[0.99] > settings.LEVEL).all()
    assert (swings.loc[:, :0] < 1e-6).all(axis=None)
    assert swings.columns.tolist() == sorted({*swings.columns, *-swings.columns}), (
        "as many ways away as towards"
    )


@pytest.mark.parametrize("correlation", [0.0, -0.25, -0.5, -0.75, -0.9, -0.99])
def test_a_swing_from_any_start_that_does_not_point_there_was_not_predicted(correlation: float) -> None:
    """One task of three swings from one such start alone."""
    columns = [c for c in jacobian._CORRELATIONS if c != correlation]
    rows = [(seed, c, 0.1 if c == 0.99 else 0.0) for seed in range(3) for c in columns]
    rows += [(seed, correlation, 0.1 if seed == 1 else 0.0) for seed in range(3)]
    tasks = pd.DataFrame(rows, columns=["seed", "correlation", "swing"])
    assert jacobian._as_predicted(tasks).low.tolist() == [1.0, 0.0, 1.0]


def test_one_layer_does_not_swing_from_small_starts() -> None:
    assert not deep.one_layer_swings(range(50))["swings"].any()


def test_discordant_seeds() -> None:
    first, second = pd.Series([True, True, False, True]), pd.Series([True, False, True, False])
    found = discordant(first, second)
    assert found.seeds == (1, 2, 3)
    assert found.low.tolist() == [1, 0, 1]


def test_concordance_of_perfect_and_reversed_orders() -> None:
    times = pd.DataFrame({"seed": 0, "predicted": [1.0, 1.0, 2.0, 4.0], "time": [1.5, 1.0, 2.0, math.inf]})
    assert compositions._concordance({"times": times}).low.tolist() == [1.0]
    assert compositions._concordance({"times": times.assign(time=-times["time"])}).low.tolist() == [0.0]


def test_cell_shares_count_by_stratum_and_level() -> None:
    result = run_cell(Cell(2, 0.1, 4.0), range(60), noise=settings.LEVEL)
    frame = pd.DataFrame({"d": 2, "scale": 0.1, "ratio": 4.0, "swing": result.swing, "pull": result.pull})
    cells = map.cell_shares(frame).set_index(["stratum", "level"])["share"]
    assert cells["all", settings.LEVEL] == result.share()
    assert cells["towards", settings.LEVEL] == result.share(pull=1)
    assert cells["all", settings.FINE_LEVEL] == result.share(settings.FINE_LEVEL) > result.share()


@pytest.mark.slow
def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [Cell(2, 0.1, 4.0), Cell(4, 0.1, 2.0)]
    alone = map.run_cells(cells, range(20))
    monkeypatch.setattr(map, "_WORTH_PROCESSES", 1)
    together = map.run_cells(cells, range(20))
    for one, other in zip(alone, together, strict=True):
        assert one.cell == other.cell
        assert np.array_equal(one.swing, other.swing)


@pytest.mark.slow
def test_the_whole_study_runs_tiny(tmp_path: Path) -> None:
    figures = tuple(figure for figure in STUDY.figures if figure.id in ALONE)
    whole = studies.Order(STUDY, figures, "tiny", None, {})
    runs = studies.run(whole, Store(tmp_path), torch.device("cpu"), lambda *_, **__: None)
    assert all((run.path / "figures" / f"{run.path.name}.png").stat().st_size > 10_000 for run in runs)
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    assert len(verdicts) == sum(len(figure.claims) for figure in figures)
    assert all(v.verdict == "reproduced" for v in verdicts if v.kind == "identity")

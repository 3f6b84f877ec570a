from __future__ import annotations

import contextlib
import shlex
import shutil
import time
from dataclasses import replace

import pandas as pd
import pytest
import torch

from conceptlab import executors
from conceptlab.claims import Claim, final_value
from conceptlab.cli.settings import parse_settings
from conceptlab.errors import InputError
from conceptlab.store import METRIC_COLUMNS, FigureRun, Store
from conceptlab.store.files import write_json, write_table
from conceptlab.studies import Figure, Order, Study, find, judge_study, parse_seeds, ready, run
from tests.tiny import blank_figure, tiny_recipe


def recipes(scale, seeds):
    before = tiny_recipe()
    return [before, tiny_recipe(start=before.to_dict(), train={"111": 20})]


FIGURE = blank_figure(recipes)
STUDY = Study("s", "title", "paper", (FIGURE,))


def test_a_figure_may_take_fewer_seeds_than_its_study_unless_told():
    large = replace(FIGURE, id="large", seeds={"paper": 3})
    study = Study("s", "", "p", (FIGURE, large))
    order = Order(study, study.figures, "paper", None, {})
    assert [len(order.seeds_of(figure)) for figure in study.figures] == [5, 3]
    assert order.command == "conceptlab run s --scale paper"
    assert replace(order, scale="tiny").command == "conceptlab run s --scale tiny --seeds 2"
    told = replace(order, seeds=parse_seeds(4))
    assert [len(told.seeds_of(figure)) for figure in study.figures] == [4, 4]


def test_several_figures_of_a_study_are_one_order():
    study, figures = find("okawa2023.fig9,fig5,fig9")
    assert [figure.id for figure in figures] == ["fig9", "fig5"]
    order = Order(study, figures, "tiny", None, {})
    assert order.command == "conceptlab run okawa2023.fig9,fig5 --scale tiny --seeds 2"
    alone = [Order(study, (figure,), "tiny", None, {}).all_recipes() for figure in figures]
    assert {r.hash for r in order.all_recipes()} == {r.hash for recipes in alone for r in recipes}
    assert Order(*find("okawa2023"), "tiny", None, {}).command.startswith("conceptlab run okawa2023 ")


def test_a_changed_setting_reaches_the_member_that_others_start_from():
    before, after = Order(STUDY, (FIGURE,), "tiny", (0,), {"steps": 8}).recipes(FIGURE)
    assert before.steps == after.steps == 8
    assert after.before is not None
    assert after.before.hash == before.hash
    assert dict(after.train) == {"111": 20}


def swept(scale, seeds):
    return [tiny_recipe(seed=seed, steps=steps) for steps in (8, 9) for seed in seeds]


@pytest.mark.parametrize(
    ("settings", "seeds"),
    [({"batch": 8}, (0, 1, 2)), ({"batch": 8, "data_seed": 3}, (0, 1, 2)), ({"seed": 5}, (0,))],
)
def test_settings_change_every_seed_as_they_would_change_it_alone(settings, seeds):
    figure = replace(FIGURE, recipes=swept)
    found = Order(STUDY, (figure,), "tiny", seeds, settings).recipes(figure)
    assert found == [recipe.with_settings(settings) for recipe in swept("tiny", seeds)]


def test_a_setting_is_refused_where_nothing_is_trained():
    study, figures = find("yang2025.fig1")
    with pytest.raises(InputError, match="fig1 trains nothing that --set could change"):
        Order(study, figures, "tiny", (0,), {"steps": 3}).all_recipes()
    assert Order(study, figures, "tiny", (0,), {}).all_recipes() == []


def test_a_setting_that_a_figure_varies_is_refused():
    figure = replace(FIGURE, recipes=swept)
    order = Order(STUDY, (figure,), "tiny", (0, 1), {"steps": 7})
    with pytest.raises(
        InputError, match=r"s\.f varies steps itself \(8, 9\), so --set steps=7 .* leave it out"
    ):
        order.recipes(figure)
    with pytest.raises(InputError, match=r"varies seed itself \(0, 1\).* add --seeds 1"):
        replace(order, settings={"seed": 7}).recipes(figure)


def test_the_command_says_what_was_asked_for():
    order = Order(STUDY, (FIGURE,), "tiny", (0, 1), {"optimiser.learning_rate": 0.01})
    assert order.command == "conceptlab run s --scale tiny --seeds 2 --set optimiser.learning_rate=0.01"


def test_the_command_names_the_plugins_that_it_needs():
    order = Order(STUDY, (FIGURE,), "tiny", (0, 1), {"denoiser.name": "mine"}, ("my parts.py",))
    assert shlex.split(order.command)[3:7] == ["--plugin", "my parts.py", "--scale", "tiny"]


def test_the_command_sets_what_was_set():
    given = ["a=word", 'b="12"', "c=12", "d=null", 'e="null"', 'f=["x", 1]', "g=true", "h=two words", "i="]
    settings = parse_settings(given)
    words = shlex.split(Order(STUDY, (FIGURE,), "tiny", (0,), settings).command)
    assert parse_settings(words[words.index("--set") + 1 :: 2]) == settings


def test_figures_are_ready_when_all_members_are_trained_and_those_they_start_from(tmp_path):
    store, before = Store(tmp_path), tiny_recipe()
    after = tiny_recipe(start=before.to_dict(), train={"111": 20})
    tuned = Figure(
        "tuned", "", "", tables=FIGURE.tables, draw=FIGURE.draw, recipes=lambda scale, seeds: [after]
    )
    plain = Figure(
        "plain", "", "", tables=FIGURE.tables, draw=FIGURE.draw, recipes=lambda scale, seeds: [before]
    )
    order = Order(Study("s", "", "p", (plain, tuned)), (plain, tuned), "tiny", (0,), {})
    with pytest.raises(InputError, match="without --ready"):
        ready(order, store)
    write_json(store.member_path(after) / "done.json", {"status": "complete"})
    with pytest.raises(InputError, match="without --ready"):
        ready(order, store)
    write_json(store.member_path(before) / "done.json", {"status": "complete"})
    assert ready(order, store)[0].figures == (plain, tuned)
    (store.member_path(after) / "done.json").unlink()
    found, lacking = ready(order, store)
    assert (found.figures, lacking) == ((plain,), {"tuned": "1 member is not trained"})


def test_where_fewer_seeds_are_trained_ready_says_how_many(tmp_path):
    def several(scale, seeds):
        return [tiny_recipe(seed=seed) for seed in seeds]

    figure, store = replace(FIGURE, recipes=several), Store(tmp_path)
    order = Order(Study("s", "", "p", (figure,)), (figure,), "tiny", (0, 1, 2, 3), {})
    for recipe in several("tiny", (0, 1)):
        write_json(store.member_path(recipe) / "done.json", {"status": "complete"})
    with pytest.raises(InputError, match=r"take fewer seeds \(--seeds 2\)"):
        ready(order, store)
    assert ready(replace(order, seeds=(0, 1)), store)[0].figures == (figure,)


def test_figures_whose_members_lack_a_measure_are_not_ready(tmp_path):
    older = Figure("older", "", "", FIGURE.tables, FIGURE.draw, lambda scale, seeds: [tiny_recipe()])
    newer = replace(older, id="newer", measures=("capability",))
    store = Store(tmp_path)
    member = store.member_path(tiny_recipe())
    write_json(member / "config.json", tiny_recipe().to_dict())
    write_json(member / "done.json", {"status": "complete"})
    row = dict.fromkeys(METRIC_COLUMNS, 0) | {"measure": "accuracy"}
    write_table(member / "metrics.parquet", pd.DataFrame([row]))
    order = Order(Study("s", "", "p", (older, newer)), (older, newer), "tiny", (0,), {})
    found, lacking = ready(order, store)
    assert (found.figures, list(lacking)) == ((older,), ["newer"])
    assert "before capability was measured" in lacking["newer"]


def test_figures_of_samples_are_not_ready_where_members_keep_none(tmp_path):
    """As in exported results: one figure that cannot be made must not keep all others from being judged."""
    plain = Figure("plain", "", "", FIGURE.tables, FIGURE.draw, lambda scale, seeds: [tiny_recipe()])
    pictured = replace(plain, id="pictured", samples=True)
    store = Store(tmp_path)
    member = store.member_path(tiny_recipe())
    write_json(member / "config.json", tiny_recipe().to_dict())
    write_json(member / "done.json", {"status": "complete"})
    order = Order(Study("s", "", "p", (plain, pictured)), (plain, pictured), "tiny", (0,), {})
    found, lacking = ready(order, store)
    assert (found.figures, list(lacking)) == ((plain,), ["pictured"])
    assert "keep no samples" in lacking["pictured"]
    with pytest.raises(InputError, match=r"s\.pictured: .* keep no samples .*; train it with another --out"):
        ready(replace(order, figures=(pictured,)), store)
    (member / "samples").mkdir()
    (member / "samples" / "00000008.png").touch()
    assert ready(order, store)[0].figures == (plain, pictured)


def test_figures_of_the_paper_that_show_samples_of_all_members_say_so():
    study, _ = find("okawa2023")
    assert [figure.id for figure in study.figures if figure.samples] == ["fig13", "fig14", "fig15"]


@pytest.mark.parametrize("damage", ["[]", '{"study": "s"}', "copy", "cut", "lost"])
def test_a_damaged_or_copied_figure_keeps_no_other_from_its_verdicts(tmp_path, monkeypatch, caplog, damage):
    other, store, judged = replace(FIGURE, id="other"), Store(tmp_path), []
    for figure in (FIGURE, other):
        place = store.figure("s", "tiny", figure.id)
        about = {"settings": {}, "members": [], "seeds": [0], "tables": ["t"]}
        place.claim({"study": "s", "figure": figure.id, "scale": "tiny", **about})
        write_table(place.path / "tables" / "t.parquet", pd.DataFrame({"of": [figure.id]}))
        write_table(place.path / "tables" / "more.parquet", pd.DataFrame({"of": [figure.id]}))
    table = tmp_path / "s/tiny/other/tables/t.parquet"
    if damage == "cut":
        table.write_bytes(table.read_bytes()[:40])
    elif damage == "lost":
        table.unlink()
    else:
        text = (tmp_path / "s/tiny/f/manifest.json").read_text() if damage == "copy" else damage
        (tmp_path / "s/tiny/other/manifest.json").write_text(text)

    def measure(claims, tables, failures):
        judged.append(tables["t"]["of"][0])
        return []

    monkeypatch.setitem(judge_study.__globals__, "measure", measure)
    judge_study(Study("s", "", "p", (FIGURE, other)), "tiny", store)
    assert judged == ["f"]
    assert len(caplog.messages) == 1


def test_settings_belong_to_what_is_trained(tmp_path):
    """A figure of theory beside one that trains is not another one for it; a seed that is set is the seed."""
    theory = replace(FIGURE, id="theory", recipes=lambda scale, seeds: [])
    study = Study("s", "", "p", (theory, replace(FIGURE, recipes=lambda scale, seeds: [tiny_recipe()])))
    order = Order(study, study.figures, "tiny", (0,), {"seed": 7, "steps": 2, "evaluation.count": 1})
    alone, trained = run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert alone.manifest["settings"] == {}
    assert trained.manifest["settings"]["steps"] == 2
    assert trained.manifest["seeds"] == [7] == [member.recipe.seed for member in trained.members]


def test_another_configuration_is_refused_before_it_trains(tmp_path):
    """It comes while the first trains its probe, when no member is there yet."""
    figure = replace(FIGURE, recipes=lambda scale, seeds: [tiny_recipe(steps=2)])
    order = Order(Study("s", "", "p", (figure,)), (figure,), "tiny", (0,), {"evaluation.count": 1})
    other, trained = replace(order, settings={"batch": 2}), []

    def begin(*given):
        for second in (other, order):  # the same command may come twice
            with contextlib.suppress(InputError):
                run(second, Store(tmp_path), torch.device("cpu"), lambda *_: None, note(second))
        executors.run(*given)

    def note(second):
        return lambda *given: (trained.append(second), executors.run(*given))

    (made,) = run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None, begin)
    assert trained == [order]
    assert made.manifest["settings"] == {"evaluation.count": 1}
    assert made.manifest["ended"] == pytest.approx(time.time(), abs=600)


def test_a_figure_that_is_refused_leaves_those_beside_it_finished(tmp_path):
    figures = tuple(replace(SEEDED, id=id_, claims=()) for id_ in ("f", "g"))
    order, store = Order(Study("s", "", "p", figures), figures[:1], "tiny", (0,), {}), Store(tmp_path)
    (first,) = run(order, store, torch.device("cpu"), lambda *_: None)
    other = replace(order, figures=figures[1:], settings={"batch": 2})
    run(other, store, torch.device("cpu"), lambda *_: None)
    before = first.manifest
    with pytest.raises(InputError, match=r"g was made by another configuration \(batch=2\)"):
        run(replace(order, figures=figures), store, torch.device("cpu"), lambda *_: None)
    assert first.manifest == before
    assert "seconds" in before


@pytest.mark.parametrize(
    ("settings", "files", "is_told"),
    [
        ({}, (), False),
        ({}, ("mine.py",), True),
        ({}, ("/somewhere/mine.py",), False),
        ({"world": {"folder": "images"}}, (), True),
        ({"world.folder": "images"}, (), True),
        ({"denoiser.name": "images of it", "steps": 2}, (), False),
    ],
)
def test_where_a_command_names_files_is_known(tmp_path, monkeypatch, settings, files, is_told):
    (tmp_path / "images").mkdir()
    monkeypatch.chdir(tmp_path)
    order = Order(Study("s", "", "p", (FIGURE,)), (FIGURE,), "tiny", (0,), settings, files)
    assert order.directory == (str(tmp_path) if is_told else "")


ENDS = Claim(
    id="s.ends", paper="s", figure="f", statement="It ends low.", statistic="loss",
    measure=lambda tables: final_value(tables["t"]), threshold=100.0, side="below",
)  # fmt: skip
SEEDED = replace(
    FIGURE,
    claims=(ENDS,),
    recipes=lambda scale, seeds: [
        tiny_recipe(seed=seed, steps=2, evaluation=replace(tiny_recipe().evaluation, count=1))
        for seed in seeds
    ],
    tables=lambda results: {"t": results.metrics.query("measure == 'loss'")},
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("seeded"))
    made(store)
    return store


def made(store: Store, seeds: int = 3) -> FigureRun:
    order = Order(Study("s", "", "p", (SEEDED,)), (SEEDED,), "tiny", parse_seeds(seeds), {})
    return run(order, store, torch.device("cpu"), lambda *_: None)[0]


@pytest.fixture
def again(trained, tmp_path) -> Store:
    """A copy of what was trained, to be damaged."""
    shutil.copytree(trained.root, tmp_path / "runs")
    return Store(tmp_path / "runs")


@pytest.mark.parametrize("asked", [1, 2])
def test_seeds_that_an_abandoned_run_left_untrained_spoil_no_later_one(again, asked):
    figure, lost = again.figure("s", "tiny", "f"), SEEDED.recipes("tiny", (3,))[0].hash
    whole = figure.manifest["members"]
    claimed = {**figure.manifest, "members": [*whole, lost], "seeds": [0, 1, 2, 3]}
    write_json(figure.path / "manifest.json", claimed)
    figure = made(again, asked)
    assert (figure.manifest["members"], figure.manifest["seeds"]) == (whole, [0, 1, 2])
    assert set(figure.tables["t"]["seed"]) == {0, 1, 2}


def test_a_member_that_failed_is_told_with_the_verdict(again):
    assert made(again).verdicts[0].failed == 0
    path = again.member_path(SEEDED.recipes("tiny", (1,))[0])
    write_json(path / "done.json", {"status": "failed", "step": 2, "seconds": 0, "reason": "it blew up"})
    figure = made(again)
    (verdict,) = figure.verdicts
    assert (verdict.seeds, verdict.failed, verdict.verdict) == (3, 1, "inconclusive")
    assert "1 of 3 seeds failed (seed 1: it blew up at step 2)" in verdict.note
    assert set(figure.tables["t"]["seed"]) == {0, 2}


def test_where_every_member_failed_it_is_said_how(again):
    for recipe in SEEDED.recipes("tiny", (0, 1, 2)):
        outcome = {"status": "failed", "step": 2, "seconds": 0, "reason": "it blew up"}
        write_json(again.member_path(recipe) / "done.json", outcome)
    with pytest.raises(InputError, match="every member failed, the first of them so: it blew up at step 2"):
        made(again)


def test_what_was_lost_of_a_figure_is_made_anew_without_training(again):
    folder = again.figure("s", "tiny", "f").path
    whole = {path.name for path in folder.rglob("*")}
    trained = {path: path.stat().st_mtime_ns for path in again.root.glob("members/*/metrics.parquet")}
    (folder / "tables" / "t.parquet").unlink()
    (folder / "figures" / "f.png").write_bytes(b"")
    (folder / "figures" / "f.pdf").unlink()
    (folder / "claims.json").unlink()
    with pytest.raises(InputError, match=r"t.parquet is missing; .* --ready"):
        _ = again.figure("s", "tiny", "f").tables
    made(again)
    assert {path.name for path in folder.rglob("*")} == whole
    assert (folder / "figures" / "f.png").stat().st_size
    assert trained == {path: path.stat().st_mtime_ns for path in trained}


def test_a_member_whose_configuration_was_changed_is_never_used(again):
    path = again.member_path(SEEDED.recipes("tiny", (1,))[0])
    write_json(path / "config.json", SEEDED.recipes("tiny", (7,))[0].to_dict())
    before = (again.root / "s/tiny/f/claims.json").read_bytes()
    with pytest.raises(InputError, match=r"config.json is damaged \(changed by hand"):
        made(again)
    assert (again.root / "s/tiny/f/claims.json").read_bytes() == before

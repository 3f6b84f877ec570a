from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
import torch
from matplotlib.figure import Figure as Picture

from conceptlab.errors import InputError
from conceptlab.store import METRIC_COLUMNS, Store
from conceptlab.store.files import write_json, write_table
from conceptlab.studies import Figure, Order, Study, find, judge_study, parse_seeds, ready, run
from tests.tiny import tiny_recipe


def recipes(scale, seeds):
    before = tiny_recipe()
    return [before, tiny_recipe(start=before.to_dict(), train={"111": 20})]


FIGURE = Figure(
    "f",
    "title",
    "shows",
    tables=lambda results: {"t": pd.DataFrame()},
    draw=lambda r, t: Picture(),
    recipes=recipes,
)
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


@pytest.mark.parametrize("damage", ["[]", '{"study": "s"}', "copy"])
def test_a_damaged_or_copied_figure_keeps_no_other_from_its_verdicts(tmp_path, monkeypatch, caplog, damage):
    other, store, judged = replace(FIGURE, id="other"), Store(tmp_path), []
    for figure in (FIGURE, other):
        place = store.figure("s", "tiny", figure.id)
        place.claim(
            {"study": "s", "figure": figure.id, "scale": "tiny", "settings": {}, "members": [], "seeds": [0]}
        )
        write_table(place.path / "tables" / "t.parquet", pd.DataFrame({"of": [figure.id]}))
    text = (tmp_path / "s/tiny/f/manifest.json").read_text() if damage == "copy" else damage
    (tmp_path / "s/tiny/other/manifest.json").write_text(text)

    def measure(claims, tables):
        judged.append(tables["t"]["of"][0])
        return []

    monkeypatch.setitem(judge_study.__globals__, "measure", measure)
    judge_study(Study("s", "", "p", (FIGURE, other)), "tiny", store)
    assert judged == ["f"]
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        (
            {"evaluation.measurements": [{"name": "length", "most": 3}]},
            "needs a world of objects, not 'shapes'",
        ),
        ({"process.gamma": 3}, "unknown setting 'gamma' in process"),
        ({"evaluation.probe.name": "oracle"}, "unknown probe 'oracle'"),
        ({"evaluation.second_probe": {"name": "linear", "steps": -1}}, "setting 'steps' of the probe is -1"),
        ({"denoiser.channels": [4]}, "must be two numbers"),
    ],
)
def test_a_setting_of_which_nothing_can_be_built_is_refused_before_a_folder_is_claimed(
    setting, word, tmp_path
):
    order = Order(STUDY, (FIGURE,), "tiny", (0,), setting)
    with pytest.raises(InputError, match=word):
        run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert not list(tmp_path.iterdir())


def test_settings_belong_to_what_is_trained(tmp_path):
    """A figure of theory beside one that trains is not another one for it; a seed that is set is the seed."""
    theory = replace(FIGURE, id="theory", recipes=lambda scale, seeds: [])
    study = Study("s", "", "p", (theory, replace(FIGURE, recipes=lambda scale, seeds: [tiny_recipe()])))
    order = Order(study, study.figures, "tiny", (0,), {"seed": 7, "steps": 2, "evaluation.count": 1})
    alone, trained = run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert alone.manifest["settings"] == {}
    assert trained.manifest["settings"]["steps"] == 2
    assert trained.manifest["seeds"] == [7] == [member.recipe.seed for member in trained.members]

"""The page of what was reproduced: what it says of made-up results, and that the one we keep is current and true."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from conceptlab.cli import main
from conceptlab.errors import InputError
from conceptlab.report import report
from conceptlab.report.reproduction import reproduction
from conceptlab.store import FigureRun, Store, find_figures
from tests.figures import synthetic
from tests.report.reading import read

STEPS = (500, 1000)

# One figure of okawa2023 is run, with four seeds: of its claims one each reproduced, not reproduced and inconclusive.
ONE = "1 indicative"
OKAWA = "[okawa2023](#okawa2023)<br>Compositional abilities emerge multiplicatively"
AT_A_GLANCE = [OKAWA, "1 of 24", ONE, ONE, ONE, "28", "1 of 1"]


def paper_run(root: Path, study: str, figure: str, recipes: list, **more) -> FigureRun:
    run = synthetic.figure_run(root, recipes, study=study, figure=figure, scale="paper", steps=STEPS, **more)
    (run.path / "figures").mkdir(exist_ok=True)
    Image.linear_gradient("L").save(run.path / "figures" / f"{figure}.png")
    return run


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Two papers: okawa2023 with one figure, yang2025 with that figure's members and one of theory."""
    root = tmp_path_factory.mktemp("reproduction") / "results"
    recipes = [synthetic.recipe(seed, steps=1000) for seed in range(2)]
    verdicts = [
        replace(v, statistic="a ratio; claimed above 1") for v in synthetic.verdicts("okawa2023", "fig5")
    ]
    paper_run(root, "okawa2023", "fig5", recipes, judged=verdicts)
    for seed, made in enumerate(recipes):
        log = Store(root).member_path(made) / "log.jsonl"
        begun = 1000.0 + 100 * seed
        log.write_text(
            f'{{"time": {begun}, "event": "started"}}\n{{"time": {begun + 150}, "event": "complete"}}\n'
        )
    paper_run(root, "yang2025", "fig6", recipes, judged=[], seeds=list(range(100)))
    paper_run(root, "yang2025", "fig1", [], judged=[], seconds=61.2, seeds=list(range(100)))
    (root / "okawa2023" / "notes.md").write_text(
        "In short.\n\n### What differs\n\nNothing | at all.\n", encoding="utf-8"
    )
    return root


@pytest.fixture(scope="module")
def page(results) -> str:
    return reproduction(results, results.parent)


def rows(page: str, first: str) -> list[list[str]]:
    """Cells of the table rows that begin with some text; spaces that do not break are spaces."""
    page = page.replace("\u00a0", " ")
    lines = [line for line in page.splitlines() if line.startswith(f"| {first}")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_counts_are_those_of_the_claims_with_identities_apart(page):
    assert rows(page, AT_A_GLANCE[0]) == [AT_A_GLANCE]


def test_firm_verdicts_and_those_that_are_only_indicative_are_not_added_up(tmp_path):
    verdicts = synthetic.verdicts("okawa2023", "fig5")
    reproduced = [replace(verdicts[0], id=f"okawa2023.{i}", strength="firm") for i in range(2)]
    run = paper_run(tmp_path, "okawa2023", "fig5", [], judged=[*verdicts, *reproduced])
    (glance,) = rows(reproduction(tmp_path, tmp_path), AT_A_GLANCE[0])
    assert glance[2:5] == ["2 firm, 1 indicative", ONE, ONE]
    # The report and the terminal say the outcome beside the number.
    text = read(report([run], tmp_path / "page.html")).text
    assert "2 of 5 reproduced (1 more indicative)" in text
    assert "1 of 5 inconclusive (indicative)" in text


def test_every_claim_has_its_number_interval_seeds_verdict_and_picture(page):
    link = "[fig5](results/okawa2023/paper/fig5/figures/fig5.png)"
    order, held_out, speed, identity = (cells for cells in rows(page, "`") if link in cells[0])
    assert order == [
        f"`order`<br>{link}",
        "**Classes seen in training come first, then distance 1, then distance 2.**<br>a ratio",
        "**1.42**<br>(1.18 … 1.71)", "above 1", "4", "✓ reproduced (indicative)",
    ]  # fmt: skip
    assert held_out[-1] == "? inconclusive (indicative)"
    assert (speed[2], speed[-1]) == ("**1.9**<br>(1.5 … ∞)", "✗ not reproduced (indicative)")
    assert (identity[2], identity[-1]) == ("**1e-09**", "✓ reproduced (identity)")
    assert identity[4].endswith(("case", "cases")), "mathematics has no seeds"


def test_what_leaves_claims_open_is_folded_below_and_told_once(tmp_path):
    why = "4 seeds are too few; with this mean and spread 9 seeds would decide it"
    (one,) = [
        replace(v, why=why) for v in synthetic.verdicts("okawa2023", "fig5") if v.verdict == "inconclusive"
    ]
    another = replace(one, id="okawa2023.another")
    paper_run(tmp_path, "okawa2023", "fig5", [], judged=[one, another])
    page = reproduction(tmp_path, tmp_path)
    below = page.partition("| verdict |\n| --- | --- | --- | --- | --- | --- |")[2]
    _, _, opened = below.partition(
        "<details><summary>Why 2 claims stayed open, and what more seeds would do</summary>"
    )
    assert (
        f"| `{one.id.removeprefix('okawa2023.')}`, `another` | {why} |" in opened.partition("</details>")[0]
    )
    assert page.count(why) == 1


def test_where_no_claim_is_open_nothing_is_folded_for_them(tmp_path):
    decided = [v for v in synthetic.verdicts("okawa2023", "fig5") if v.verdict != "inconclusive"]
    paper_run(tmp_path, "okawa2023", "fig5", [], judged=decided)
    assert "stayed open, and" not in reproduction(tmp_path, tmp_path)


def test_an_interval_and_a_verdict_are_not_broken_into_lines(page):
    assert "| **1.42**<br>(1.18\u00a0…\u00a01.71) |" in page
    assert "✗\u00a0not\u00a0reproduced (indicative)" in page


def test_a_value_that_is_only_a_bound_is_told_as_one(tmp_path):
    verdicts = [replace(v, bound="upper") for v in synthetic.verdicts("okawa2023", "fig5")]
    paper_run(tmp_path, "okawa2023", "fig5", [], judged=verdicts)
    page = reproduction(tmp_path, tmp_path).replace("\u00a0", " ")
    assert "| **≤ 1.42**<br>(1.18 … 1.71) |" in page


def test_how_to_run_it_again_is_told_where_a_page_tells_it(results, tmp_path):
    link = "(runs/README.md)"
    shutil.copytree(results, tmp_path / "runs")
    assert link not in reproduction(tmp_path / "runs", tmp_path)
    (tmp_path / "runs" / "README.md").write_text("How.", encoding="utf-8")
    assert link in reproduction(tmp_path / "runs", tmp_path)


def test_seeds_that_failed_are_told_with_the_claims(tmp_path):
    recipes = [synthetic.recipe(seed, steps=1000) for seed in range(2)]
    verdicts = [replace(v, failed=1) for v in synthetic.verdicts("okawa2023", "fig5")]
    paper_run(tmp_path, "okawa2023", "fig5", recipes, judged=verdicts, statuses=("complete", "failed"))
    page = reproduction(tmp_path, tmp_path)
    assert "| 4 (1 failed) |" in page
    assert "- fig5: 1 of 2 seeds failed (seed 1: the training loss is not finite at step 1000).\n" in page


def test_what_has_not_been_run_is_said(page):
    assert "Not run at paper scale yet: fig2, fig3, fig4, fig6 (3 claims)" in page
    assert "fig10 (2 claims, needs data of your own)" in page


def test_time_is_that_of_the_logs_and_shared_members_count_once(page):
    """Two members alone on the device for 150 s each, the second begun 100 s after the first; 2,000 × 49 ms is 98 s."""
    (okawa,) = rows(page, "okawa2023")
    assert okawa == ["okawa2023", "2", "2,000", "4 min 10 s", "1 min 38 s", "5 min 00 s", "cpu (x86_64)", "–"]
    (yang,) = rows(page, "yang2025")
    assert yang == ["yang2025", "0 (and 2 of those above)", "–", "–", "–", "–", "–", "1 min 01 s"]


def test_seeds_are_those_of_the_members_where_a_figure_has_any(page):
    ((_, _, seeds, members, *_),) = rows(page, "[fig6](results/yang2025/paper/fig6/figures/fig6.png)")
    assert (seeds, members) == ("2", "2")
    ((_, _, seeds, members, *_),) = rows(page, "[fig1](results/yang2025/paper/fig1/figures/fig1.png)")
    assert (seeds, members) == ("100", "–")


def test_notes_are_taken_over_as_they_are(page):
    assert "### What differs\n\nNothing | at all.\n" in page


def test_what_notes_say_in_short_comes_before_the_claims(page):
    paper = page.partition("## okawa2023")[2]
    assert paper.index("In short.") < paper.index("### Claims of okawa2023") < paper.index("### What differs")


def test_the_page_depends_on_the_results_alone(results, page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert reproduction(results, results.parent) == page


def test_a_folder_without_results_is_told(tmp_path):
    with pytest.raises(InputError, match="holds no study"):
        reproduction(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("okawa2023/paper/fig5/manifest.json", "[]"),
        ("okawa2023/paper/fig5/manifest.json", '{"study": "okawa2023"}'),
        ("okawa2023/paper/fig5/claims.json", "{"),
        ("okawa2023/notes.md/stray", ""),
        ("members/{member}/config.json", "[]"),
        ("members/{member}/environment.json", "[]"),
        ("members/{member}/environment.json", '{"members": 0}'),
        ("members/{member}/log.jsonl", "{junk}"),
    ],
)
def test_what_is_damaged_is_named_in_one_line(results, tmp_path, name, text):
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    (copy / "okawa2023" / "notes.md").unlink()
    path = copy / name.format(member=sorted((copy / "members").iterdir())[0].name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(InputError, match=r"damaged|cannot be read as text") as raised:
        reproduction(copy, tmp_path)
    assert "\n" not in str(raised.value)


def test_a_figure_that_is_the_copy_of_another_is_left_out(results, tmp_path, caplog):
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    shutil.copytree(copy / "okawa2023/paper/fig5", copy / "okawa2023/paper/fig6")
    made = reproduction(copy, tmp_path)
    assert rows(made, AT_A_GLANCE[0]) == [AT_A_GLANCE]
    assert "fig6 is a copy" in caplog.messages[0]


def test_report_and_verdicts_tell_papers_and_figures_in_the_order_of_the_page(tmp_path, capsys):
    """One that is not of the studies comes last, and one that cannot be read where its folder says."""
    names = ["okawa2023.fig5", "yang2025.fig2", "yang2025.map", "bradley2025.length", "bradley2025.across"]
    for name in [*names, "custom.emergence"]:
        study, _, figure = name.partition(".")
        paper_run(tmp_path, study, figure, [], judged=synthetic.verdicts(study, figure)[:1])
    page = reproduction(tmp_path, tmp_path)
    linked = re.findall(r"^\| `order`<br>\[[^]]+\]\(\./(\w+)/paper/([^/]+)/figures/", page, re.MULTILINE)
    assert [".".join(found) for found in linked] == names
    assert main(["verdict", str(tmp_path), "--json"]) == 0
    judged = [f"{v['paper']}.{v['figure']}" for v in json.loads(capsys.readouterr().out)]
    assert judged == [*names, "custom.emergence"]
    (tmp_path / "yang2025" / "paper" / "fig2" / "manifest.json").write_text("half")
    text = read(report(find_figures(tmp_path, damaged=True), tmp_path / "page.html")).text
    told = ["okawa2023.fig5", "yang2025/paper/fig2", *names[2:], "custom.emergence"]
    places = [text.rindex(name) for name in told]
    assert places == sorted(places)

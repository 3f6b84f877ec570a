"""What the page says: its words are explained, and say neither more nor less than what is shown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from conceptlab.concepts import ConceptSpace, Split, Variable
from conceptlab.report import report
from conceptlab.report.timeline import _row
from conceptlab.report.words import options_apart, unbroken
from conceptlab.store import Member
from tests.figures import synthetic
from tests.report.reading import read


def test_a_command_is_broken_nowhere_within_an_option() -> None:
    command = "conceptlab run quickstart --set 'a=[-1, \"<b>\"]' --scale=tiny -s x--y --plan"
    assert "".join(options_apart(command)) == command
    assert options_apart(command)[1::2] == ["--set", "--scale", "-s", "--plan"]
    assert str(unbroken("run <x> --plan")) == 'run &lt;x&gt; <span class="option">--plan</span>'


def test_a_class_is_not_named_twice() -> None:
    shapes, numbers = (ConceptSpace([Variable("v", values)]) for values in (("red", "blue"), ("0", "1")))

    def words(space: ConceptSpace) -> list[str]:
        member = SimpleNamespace(world=SimpleNamespace(space=space), split=Split(space, {"0": 1}))
        return [_row(cast(Member, member), cls)["words"] for cls in space]

    assert words(shapes) == ["red", "blue"]
    assert words(numbers) == ["", ""]


def test_words_are_explained_before_the_table_that_uses_them(tmp_path: Path) -> None:
    page = read(report([synthetic.figure_run(tmp_path, [])], tmp_path / "report.html"))
    before = page.text.partition("Interval against threshold")[0]
    for word in ("Indicative", "Identity", "Censored", "Definitions", "inconclusive"):
        assert f"{word} :" in before or f"{word} with" in before


def test_samples_that_are_left_out_are_told_and_curves_are_not_said_to_be(tmp_path: Path) -> None:
    recipes = [synthetic.recipe(seed) for seed in range(14)]
    run = synthetic.figure_run(tmp_path, recipes, steps=(500, 1000))
    text = read(report([run], tmp_path / "report.html")).text
    assert "Samples are shown of 12 of 14 members." in text
    assert "settings are charted" not in text
    assert "14 seeds; band" in text


def test_trainings_are_named_after_their_figures(tmp_path: Path) -> None:
    runs = [
        synthetic.figure_run(tmp_path / study, [synthetic.recipe(0)], study=study, steps=(500,))
        for study in ("first", "second")
    ]
    runs += [
        synthetic.figure_run(tmp_path / "first", [synthetic.recipe(0)], study="first", figure=f"fig{n}")
        for n in range(3)
    ]
    text = read(report(runs, tmp_path / "report.html")).text
    assert "Training of emergence and 3 more first Training of emergence second" in text


def test_claims_of_several_papers_are_counted_paper_by_paper(tmp_path: Path) -> None:
    runs = [synthetic.figure_run(tmp_path, [], study=study) for study in ("okawa2023", "another")]
    text = read(report(runs, tmp_path / "report.html")).text
    tally = "✓ 1 reproduced ✗ 1 not reproduced ? 1 inconclusive = 1 identities"
    assert f"okawa2023 Compositional abilities emerge multiplicatively {tally}" in text
    assert f"another {tally}" in text
    assert tally not in read(report(runs[:1], tmp_path / "one.html")).text

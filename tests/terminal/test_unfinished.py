"""A run that was interrupted says so, and what goes on with it: it is not one that makes no claims."""

from __future__ import annotations

import json
from pathlib import Path

from conceptlab.cli import main
from conceptlab.store import FigureRun
from conceptlab.store.files import write_json
from tests.figures import synthetic


def _begun(root: Path, figure: str, statuses: tuple[str, ...] = (), *, judged: bool = False) -> FigureRun:
    """A figure as an interrupted run leaves it; one that was finished with fewer seeds before has its claims."""
    recipes = [synthetic.recipe(seed) for seed in range(2)]
    run = synthetic.figure_run(root, recipes, figure=figure, statuses=statuses, steps=(100,))
    write_json(run.path / "manifest.json", {k: v for k, v in run.manifest.items() if k != "seconds"})
    if not judged:
        (run.path / "claims.json").unlink()
    return run


def _told(path: Path, capsys, *options: str) -> tuple[int, str, list[str]]:
    code = main(["verdict", str(path), *options])
    said = capsys.readouterr()
    return code, said.out, said.err.splitlines()


def test_figures_that_were_begun_together_are_told_together(tmp_path: Path, capsys) -> None:
    for figure in ("emergence", "other"):
        _begun(tmp_path, figure, ("complete", "unfinished"))
    line = (
        "conceptlab: not finished: quickstart.emergence, other at small scale (1 of 2 members are not trained); "
        f"`conceptlab run quickstart --scale small --seeds 2 --out {tmp_path}` goes on with them"
    )
    for options in ((), ("--json",)):
        assert _told(tmp_path, capsys, *options) == (2, "", [line])


def test_runs_of_several_commands_are_one_line(tmp_path: Path, capsys) -> None:
    for figure in ("first", "second", "third"):
        run = _begun(tmp_path, figure)
        write_json(run.path / "manifest.json", {**run.manifest, "command": f"conceptlab run {figure}"})
    code, _, (line,) = _told(tmp_path, capsys)
    assert code == 2
    assert line.endswith(
        f"`conceptlab run first --out {tmp_path}` goes on with it; 2 more runs are not finished"
    )


def test_what_is_trained_and_not_drawn_is_not_finished(tmp_path: Path, capsys) -> None:
    _begun(tmp_path, "emergence")
    code, _, lines = _told(tmp_path, capsys)
    assert (code, len(lines)) == (2, 1)
    assert "(not drawn and judged)" in lines[0]


def test_claims_that_are_there_are_told_all_the_same(tmp_path: Path, capsys) -> None:
    _begun(tmp_path, "emergence", ("complete", "missing"), judged=True)
    code, out, (line,) = _told(tmp_path, capsys, "--json")
    assert (code, len(json.loads(out))) == (0, 4)
    assert line.startswith("not finished: quickstart.emergence at small scale (1 of 2 members")


def test_a_finished_figure_without_claims_has_none(tmp_path: Path, capsys) -> None:
    synthetic.figure_run(tmp_path, [], judged=[])
    code, out, lines = _told(tmp_path, capsys)
    assert (code, lines) == (0, [])
    assert "no claims" in out


def test_a_copy_without_its_members_is_finished(tmp_path: Path, capsys) -> None:
    """What was found does not depend on whether the networks behind it were kept."""
    synthetic.figure_run(tmp_path, [synthetic.recipe(0)], statuses=("missing",))
    code, _, lines = _told(tmp_path, capsys)
    assert (code, lines) == (0, [])

"""`run` as a user meets it: what it leaves, continues, plans, refuses to overwrite."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

import conceptlab
from conceptlab import studies
from conceptlab.cli import main


def test_run_leaves_what_the_design_says(out):
    figure = out / "quickstart" / "tiny" / "emergence"
    for name in (
        "manifest.json",
        "claims.json",
        "figures/emergence.png",
        "figures/emergence.pdf",
        "figures/times.csv",
    ):
        assert (figure / name).stat().st_size > 0
    assert (out / "quickstart" / "tiny" / "report.html").stat().st_size > 10_000
    for member in (out / "members").iterdir():
        for name in (
            "config.json",
            "environment.json",
            "metrics.parquet",
            "probe.json",
            "done.json",
            "log.jsonl",
        ):
            assert (member / name).exists()
        record = json.loads((member / "probe.json").read_text())
        assert record["judge"]["validation"]["joint"] >= 0.99


def test_more_seeds_train_only_the_new_ones(out, capsys, tmp_path):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    before = {p.name: (p / "metrics.parquet").stat().st_mtime_ns for p in (copy / "members").iterdir()}
    assert (
        main(["run", "quickstart", "--scale", "tiny", "--seeds", "3", "--out", str(copy), "--device", "cpu"])
        == 0
    )
    assert "2 of 3 members are done already" in capsys.readouterr().err
    after = {p.name: (p / "metrics.parquet").stat().st_mtime_ns for p in (copy / "members").iterdir()}
    assert len(after) == 3
    assert before.items() <= after.items()
    assert main(["diff", str(out), str(copy)]) == 0
    assert "quickstart.order" in capsys.readouterr().out


def test_ready_makes_only_figures_whose_members_are_there(out, tmp_path, capsys):
    arguments = ["run", "quickstart", "--scale", "tiny", "--out", str(tmp_path), "--device", "cpu", "--ready"]
    assert main(arguments) == 2
    assert "no figure of quickstart at tiny scale has all its members" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "nothing was trained"


def test_plan_runs_nothing(tmp_path, capsys):
    folder = tmp_path / "runs"
    assert main(["run", "quickstart", "--plan", "--out", str(folder), "--device", "cpu"]) == 0
    assert "members" in capsys.readouterr().out
    assert not folder.exists()


def test_strict_tells_a_failed_claim_by_its_exit_code(out):
    """At tiny scale nothing is learned, so the held-out classes cannot be drawn."""
    arguments = ["run", "quickstart", "--scale", "tiny", "--out", str(out), "--device", "cpu"]
    failed = any(v.verdict == "not reproduced" for v in conceptlab.load(out / "quickstart").verdicts)
    assert main([*arguments, "--strict"]) == (3 if failed else 0)


def test_another_configuration_does_not_overwrite(out, capsys):
    arguments = [
        "run",
        "quickstart",
        "--scale",
        "tiny",
        "--out",
        str(out),
        "--set",
        "steps=31",
        "--device",
        "cpu",
    ]
    assert main(arguments) == 2
    assert "another configuration" in capsys.readouterr().err


def test_python_dash_m():
    found = subprocess.run(
        [sys.executable, "-m", "conceptlab", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == conceptlab.__version__


def test_pieces_train_their_share_and_the_whole_is_judged_from_them(tmp_path, capsys):
    common = ["run", "quickstart", "--scale", "tiny", "--seeds", "2", "--out", str(tmp_path)]
    assert main([*common, "--piece", "1/2"]) == 0
    assert "1 of 2 members are done" in capsys.readouterr().out
    assert len(list((tmp_path / "members").iterdir())) == 1
    assert main(["verdict", str(tmp_path)]) == 2
    assert "holds members, but no figure; if --piece trained them" in capsys.readouterr().err
    assert main([*common, "--piece", "2/2"]) == 0
    assert main([*common, "--piece", "2/2", "--plan"]) == 0
    assert "1 (1 done already)" in capsys.readouterr().out
    assert main(["run", "quickstart", "--piece", "3/2"]) == 2


@pytest.mark.parametrize("option", ["--ready", "--strict"])
def test_a_piece_is_neither_drawn_nor_judged(option, tmp_path, capsys):
    out = tmp_path / "runs"
    assert main(["run", "quickstart", "--scale", "tiny", "--piece", "1/1", option, "--out", str(out)]) == 2
    assert "leave out --ready and --strict" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("how", [["--plan"], ["--piece", "1/1"]])
def test_what_a_run_would_refuse_is_neither_planned_nor_begun(how, tmp_path, capsys):
    wrong = ["--set", "process.gamma_min=99"]
    out = tmp_path / "runs"
    assert main(["run", "quickstart", "--scale", "tiny", *how, *wrong, "--out", str(out)]) == 2
    assert "gamma_min" in capsys.readouterr().err
    assert not out.exists()


def test_a_run_that_ends_while_it_judges_is_not_one_without_claims(out, tmp_path, capsys, monkeypatch):
    def killed(*given):
        raise KeyboardInterrupt

    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    figure = copy / "quickstart" / "tiny" / "emergence"
    (figure / "claims.json").unlink()
    again = ["run", "quickstart", "--scale", "tiny", "--out", str(copy), "--device", "cpu"]
    with monkeypatch.context() as patch:
        patch.setitem(studies.run.__globals__, "judge_study", killed)
        assert main(again) == 130
    capsys.readouterr()
    told = f"conceptlab run quickstart --scale tiny --seeds 2 --out {copy}`"
    assert main(["verdict", str(copy)]) == 2
    line = (
        f"not finished: quickstart.emergence at tiny scale (drawn, but not judged); `{told} goes on with it"
    )
    assert capsys.readouterr().err == f"conceptlab: {line}\n"
    assert main(["export", str(copy), "--out", str(tmp_path / "kept")]) == 2
    assert f"it was not judged; `{told} judges it" in capsys.readouterr().err
    assert main(again) == 0
    capsys.readouterr()
    assert main(["verdict", str(copy), "--json"]) == 0
    said = capsys.readouterr()
    assert (len(json.loads(said.out)), said.err) == (2, "")


def test_verdicts_that_were_lost_are_told_as_such(out, tmp_path, capsys):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    (copy / "quickstart" / "tiny" / "emergence" / "claims.json").unlink()
    assert main(["verdict", str(copy)]) == 2
    assert "(drawn, but not judged)" in capsys.readouterr().err

"""The command line as a user meets it: the quickstart at tiny scale, end to end, and every kind of bad input."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import conceptlab
from conceptlab.cli import build_parser, main
from conceptlab.store import FigureRun
from conceptlab.terminal.listing import listing

THEORY = Path(__file__).parent.parent / "results" / "yang2025" / "paper" / "fig3"

KEYS = {
    "id", "paper", "figure", "kind", "statement", "statistic", "value", "ci_low", "ci_high", "threshold", "verdict",
    "strength", "seeds", "censored", "note", "failed",
}  # fmt: skip


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    assert main(["run", "quickstart", "--scale", "tiny", "--out", str(folder), "--device", "cpu"]) == 0
    return folder


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


def test_three_lines_in_a_notebook(out):
    member = conceptlab.load(out / "quickstart").members[0]
    curves = member.curves()
    images = member.samples()
    assert curves.shape == (3, 8)
    assert images.shape[0] == 8


def test_a_figure_shows_itself_in_a_notebook(out, tmp_path):
    figure = conceptlab.load(out / "quickstart")
    found = figure._repr_png_()
    assert found
    data, shown = found
    with Image.open(io.BytesIO(data)) as picture:
        assert shown["width"] < picture.width < 2 * shown["width"]
    assert FigureRun(tmp_path)._repr_png_() is None


def test_verdict_and_list_are_stable_json(out, capsys):
    assert main(["verdict", str(out / "quickstart"), "--json"]) == 0
    verdicts = json.loads(capsys.readouterr().out)
    assert [set(verdict) for verdict in verdicts] == [KEYS] * 2
    assert main(["list", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert "quickstart.emergence" in [figure["id"] for figure in figures]
    assert {"id", "study", "figure", "title", "claims", "cost"} <= set(figures[0])
    assert main(["list"]) == 0
    assert main(["verdict", str(out)]) == 0


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


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def test_sample_draws_any_prompt(out, tmp_path, capsys):
    sheet = tmp_path / "s.png"
    arguments = [
        "sample",
        str(out / "quickstart"),
        "--prompt",
        "111",
        "--prompt",
        "111;colour=-3,0,3",
        "--n",
        "4",
    ]
    assert main([*arguments, "--out", str(sheet)]) == 0
    assert size_of(sheet) == (4 * 16, 2 * 16)
    assert main(["sample", str(out / "quickstart"), "--weights", "ema", "--n", "1", "--out", str(sheet)]) == 0
    assert size_of(sheet) == (16, 8 * 16)


def test_report_of_a_path(out, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(out), "--out", str(page)]) == 0
    assert "quickstart" in page.read_text(encoding="utf-8")


def test_results_are_exported_and_read_without_training(out, tmp_path, capsys):
    """From a run to a page of verdicts; the export is itself a run folder, in which nothing is left to train."""
    kept = tmp_path / "results"
    assert main(["export", str(out), "--out", str(kept)]) == 0
    assert "new: quickstart.emergence at tiny scale" in capsys.readouterr().out
    verdicts = []
    for folder in (out, kept):
        assert main(["verdict", str(folder / "quickstart"), "--json"]) == 0
        verdicts.append(json.loads(capsys.readouterr().out))
    assert verdicts[0] == verdicts[1]
    assert main(["report", str(kept), "--out", str(tmp_path / "page.html")]) == 0
    again = ["run", "quickstart", "--scale", "tiny", "--out", str(kept), "--device", "cpu", "--ready"]
    assert main(again) == 0, "redrawn and judged anew from metrics in float32"
    redrawn = conceptlab.load(kept).verdicts
    assert [v.verdict for v in redrawn] == [v.verdict for v in conceptlab.load(out).verdicts]
    assert main(["reproduction", str(kept), "--out", str(tmp_path / "page.md")]) == 2
    assert "holds nothing at paper scale" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()


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


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "nothing"], "unknown study"),
        (["run", "quickstartt"], "did you mean 'quickstart'"),
        (["run", "quickstart.fig9"], "unknown figure"),
        (["run", "quickstart."], "lacks the name of a figure"),
        (["run", "okawa2023.fig5,"], "lacks the name of a figure"),
        (["run", "okawa2023.fig5,fig99"], "fig99"),
        (["run", "quickstart", "--seeds", "-1"], "at least one seed"),
        (["run", "quickstart", "--seeds", "many"], "invalid int"),
        (["run", "quickstart", "--seeds", "1000000000000"], "GiB are free; take fewer"),
        (["run", "quickstart", "--set", "batch=1000000000000"], "GiB are free; lower batch"),
        (["run", "quickstart", "--set", "batch=1000000000000", "--piece", "1/2"], "lower batch"),
        (["run", "quickstart", "--set", "world.resolution=100000000", "--plan"], "memory ran out when"),
        (["run", "quickstart", "--set", "stepz=1"], "unknown setting"),
        (["run", "quickstart", "--set", "world.colour=3", "--plan"], "unknown setting"),
        (["run", "park2024.fig1", "--set", "world.colour_separation=0.5"], "leave it out"),
        (["run", "okawa2023.fig8", "--set", "train.001=9", "--plan"], "varies train itself"),
        (["run", "quickstart", "--device", "cuda"], "not available"),
        (["run", "quickstart", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["run"], "required"),
        (["fly"], "invalid choice"),
        (["verdict", "nowhere"], "does not exist"),
        (["report", "nowhere"], "does not exist"),
        (["sample", "nowhere"], "does not exist"),
        (["diff", "nowhere", "nowhere"], "does not exist"),
        (["sample", str(THEORY)], "no trained model"),
        (["elicit", str(THEORY), "--class", "11"], "no trained model"),
        (["bench", "train", "--members", "0"], "--members 0: at least one"),
        (["bench", "sample", "--members", "4", "-3"], "--members -3: at least one"),
        (["studio", str(THEORY), "--port", "65536"], "--port 65536"),
        (["studio", str(THEORY), "--port", "-1"], "--port -1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, word, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert word in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("spoil", "arguments"),
    [
        ("claims.json", ["verdict"]),
        ("metrics.parquet", ["run", "quickstart", "--scale", "tiny", "--device", "cpu", "--out"]),
        ("checkpoint", ["sample"]),
    ],
)
def test_damaged_files_are_named(out, tmp_path, capsys, spoil, arguments):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    member = sorted((copy / "members").iterdir())[0]
    places = {
        "claims.json": copy / "quickstart" / "tiny" / "emergence" / "claims.json",
        "metrics.parquet": member / "metrics.parquet",
        "checkpoint": next((member / "checkpoints").glob("*.safetensors")),
    }
    places[spoil].write_bytes(b"damage")
    target = str(member) if spoil == "checkpoint" else str(copy)
    assert main([*arguments, target]) == 2
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert places[spoil].name in message
    assert "damaged" in message
    assert places[spoil].read_bytes() == b"damage", "nothing existing is overwritten"


DAMAGES = {
    "manifest []": ("quickstart/tiny/emergence/manifest.json", "[]"),
    "manifest {}": ("quickstart/tiny/emergence/manifest.json", "{}"),
    "table": ("quickstart/tiny/emergence/tables/curves.parquet", "damage"),
    "picture": ("quickstart/tiny/emergence/figures/emergence.png", "damage"),
    "metrics": ("members/{member}/metrics.parquet", "damage"),
    "no metrics": ("members/{member}/metrics.parquet", None),
    "config []": ("members/{member}/config.json", "[]"),
    "config {}": ("members/{member}/config.json", "{}"),
    "done": ("members/{member}/done.json", "[]"),
    "environment": ("members/{member}/environment.json", "[]"),
    "log": ("members/{member}/log.jsonl", "{junk}"),
    "stray": ("stray", "a file where folders lie"),
    "no members": ("members", "a file where a folder is expected"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_folder_is_never_a_traceback(out, tmp_path, capsys, damage):
    place, text = DAMAGES[damage]
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    path = copy / place.format(member=sorted((copy / "members").iterdir())[0].name)
    if path.is_dir():
        shutil.rmtree(path)
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    for command in (
        ["report", str(copy), "--out", str(tmp_path / "page.html")],
        ["verdict", str(copy)],
        ["export", str(copy), "--out", str(tmp_path / "kept")],
        ["diff", str(copy), str(out)],
    ):
        code = main(command)
        told = capsys.readouterr().err.strip().splitlines()
        assert (code, len(told)) in ((0, 0), (0, 1), (2, 1)), (command[0], told)
        if code and command[0] == "export":
            assert not (tmp_path / "kept").exists(), "all is read before anything is written"


def test_of_several_figures_the_damaged_and_the_copied_are_left_out(out, tmp_path, caplog):
    copy = tmp_path / "runs"
    shutil.copytree(out, copy)
    figure = copy / "quickstart" / "tiny" / "emergence"
    shutil.copytree(figure, figure.parent / "again")
    broken = figure.parent / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("[]")
    assert main(["export", str(copy), "--out", str(tmp_path / "kept")]) == 0
    assert len(caplog.messages) == 2
    assert all(line.startswith("left out: ") for line in caplog.messages)
    assert [path.name for path in (tmp_path / "kept" / "quickstart" / "tiny").iterdir()] == ["emergence"]


def test_a_full_disk_is_told_in_one_line_and_the_same_command_continues(tmp_path, capsys, monkeypatch):
    command = [
        "run", "quickstart", "--scale", "tiny", "--seeds", "1", "--device", "cpu", "--out", str(tmp_path / "runs"),
    ]  # fmt: skip
    to_parquet, written = pd.DataFrame.to_parquet, []

    def until_it_is_full(table, path, **options):
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(path)
        to_parquet(table, path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", until_it_is_full)
        assert main(command) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    last = told.strip().splitlines()[-1]
    assert re.search(
        r"cannot write \S+/metrics/\d+\.parquet: the disk is full; make room, and the same", last
    )
    assert not list(tmp_path.rglob(".0*.parquet")), "no half-written file is left"
    assert main(command) == 0


def test_whatever_else_finds_the_disk_full_is_told_in_one_line(monkeypatch, capsys):
    def full() -> dict[str, object]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere.bin")

    monkeypatch.setattr("conceptlab.terminal.listing.listing", full)
    assert main(["list", "--json"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "cannot write somewhere.bin: the disk is full" in told[0]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_runs_out_is_told_in_one_line(monkeypatch, capsys, error):
    def greedy() -> dict[str, object]:
        raise error

    monkeypatch.setattr("conceptlab.terminal.listing.listing", greedy)
    assert main(["list", "--json"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "memory ran out; free some, or lower" in told[0]


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


README = Path(__file__).parents[1] / "README.md"


def test_the_readme_example_runs(out, monkeypatch):
    code = README.read_text(encoding="utf-8").split("```python")[1].split("```")[0]
    monkeypatch.chdir(out.parent)
    exec(compile(code.replace('"runs/quickstart"', repr(str(out / "quickstart"))), "README.md", "exec"), {})


def test_the_commands_of_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("conceptlab ")]
    assert len(lines) >= 9
    for line in lines:
        command = line.split("  ")[0]
        build_parser().parse_args(shlex.split(command)[1:])


def test_the_readme_tells_of_every_study_that_is_listed():
    rows = re.findall(r"^\| `(\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(dict.fromkeys(figure["study"] for figure in listing()))


def test_the_pictures_and_pages_of_the_readme_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target


def test_pieces_train_their_share_and_the_whole_is_judged_from_them(tmp_path, capsys):
    common = ["run", "quickstart", "--scale", "tiny", "--seeds", "2", "--out", str(tmp_path)]
    assert main([*common, "--piece", "1/2"]) == 0
    assert "1 of 2 members are done" in capsys.readouterr().out
    assert len(list((tmp_path / "members").iterdir())) == 1
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


def test_names_that_look_like_markup_are_printed_as_they_are(out, tmp_path, capsys):
    odd = tmp_path / "runs[old][/b]"
    shutil.copytree(out, odd)
    assert main(["verdict", str(odd)]) == 0
    assert "runs[old][/b]" in capsys.readouterr().out.replace("\n", "")

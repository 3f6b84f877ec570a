"""The report: complete, escaped, self-contained."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from conceptlab.recipe import Evaluation, Recipe
from conceptlab.report import report
from conceptlab.report.words import duration
from conceptlab.store import FigureRun
from tests.figures import synthetic
from tests.report.reading import LOADING, Page, charts, draw_picture, read, timelines


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> FigureRun:
    run = synthetic.figure_run(
        tmp_path_factory.mktemp("runs"), [synthetic.recipe(0), synthetic.recipe(1)], steps=(250, 500, 1000)
    )
    draw_picture(run)
    return run


@pytest.fixture(scope="module")
def made(quickstart: FigureRun) -> tuple[Path, Page]:
    path = report([quickstart], quickstart.store.root / "report.html")
    return path, read(path)


def test_every_claim_is_there_with_its_numbers_and_verdict(made: tuple[Path, Page]) -> None:
    _, page = made
    for verdict in synthetic.verdicts():
        assert verdict.statement in page.text
        assert f"threshold {verdict.threshold:.3g}" in page.text
    for said in ("✓ reproduced", "✗ not reproduced", "? inconclusive", "indicative", "identity"):
        assert said in page.text
    assert "1.18 … 1.71" in page.text
    assert "1 of 3 reproduced (indicative)" in page.text  # as the terminal says where none is firm
    assert "1 of 1 identities hold" in page.text  # counted apart


def _describing(root: Path, figure: str = "twins") -> FigureRun:
    """A run of a figure that makes no claim: nothing writes claims for it."""
    run = synthetic.figure_run(root, [], study="park2024", figure=figure, scale="paper")
    (run.path / "claims.json").unlink()
    draw_picture(run)
    return run


def test_a_figure_that_makes_no_claim_says_so_and_announces_none(tmp_path: Path) -> None:
    page = read(report([_describing(tmp_path)], tmp_path / "page.html"))
    assert "This figure makes no claim" in page.text
    assert "Claims none: it describes" in page.text
    for said in ("judged", "of 0", "Holm"):
        assert said not in page.text
    both = [_describing(tmp_path, figure) for figure in ("fig6", "fig7")]
    assert "These figures make no claims" in read(report(both, tmp_path / "page.html")).text


def test_beside_claims_a_figure_without_any_says_so(quickstart: FigureRun, tmp_path: Path) -> None:
    page = read(report([quickstart, _describing(tmp_path)], tmp_path / "page.html"))
    assert page.text.count("none: it describes") == 1
    assert "makes no claim" not in page.text
    assert "1 of 3 reproduced" in page.text


def test_a_figure_whose_claims_are_to_come_is_not_said_to_make_none(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [])
    (run.path / "claims.json").unlink()
    page = read(report([run, _describing(tmp_path)], tmp_path / "page.html"))
    assert "No claim has been judged in these runs yet" in page.text
    assert "of 0" not in page.text
    assert page.text.count("none: it describes") == 1


def test_a_value_that_is_only_a_bound_is_shown_as_one(tmp_path: Path) -> None:
    judged = [replace(v, bound="lower") for v in synthetic.verdicts()]
    runs = [
        synthetic.figure_run(tmp_path, [], figure="fig1", judged=judged, scale=scale)
        for scale in ("small", "paper")
    ]
    text = read(report(runs, tmp_path / "page.html")).text
    # In the overview, with the figure, and where runs stand side by side.
    assert text.count("≥ 1.42") == 6
    assert not re.search(r"(?<!≥) 1\.42 ", text)


def test_signatures_of_failure_stand_below_the_claims(tmp_path: Path) -> None:
    found = [
        {"name": "held-out classes <at> chance", "shown": 2, "of": 2, "seen": "mean accuracy 0.06"},
        {"name": "no delay", "shown": 0, "of": 0, "seen": "nothing to compare"},
    ]
    page = read(report([synthetic.figure_run(tmp_path / "a", [], signatures=found)], tmp_path / "page.html"))
    assert "Signatures of failure" in page.text
    assert "held-out classes <at> chance 2 of 2 mean accuracy 0.06" in page.text
    assert "no delay – nothing to compare" in page.text
    damaged = synthetic.figure_run(tmp_path / "b", [], signatures=[{"name": "cut off"}])
    page = read(report([damaged], tmp_path / "damaged.html"))
    assert "Signatures of failure" not in page.text
    assert "its signatures of failure cannot be read; run its command again" in page.text
    assert synthetic.verdicts()[0].statement in page.text


def test_what_was_run_and_how_to_run_it_again(made: tuple[Path, Page]) -> None:
    _, page = made
    for said in (
        "conceptlab run quickstart --scale small --seeds 2",
        "3 min 14 s",
        "world.resolution",
        "2.13.0",
        "cpu (x86_64)",
        "99.90 % right",
        "97.00 % right",
        "Drawn instead",
        "(shape, size, colour)",
    ):
        assert said in page.text


def test_the_page_is_whole_html(made: tuple[Path, Page]) -> None:
    _, page = made
    assert page.unbalanced == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert (link["href"] or "").removeprefix("#") in ids


def test_the_page_asks_the_network_for_nothing(made: tuple[Path, Page]) -> None:
    _, page = made
    for _, attributes in page.elements:
        for name in LOADING & set(attributes):
            assert re.match(r"#|data:image/", attributes[name] or ""), attributes[name][:80]
    styles = [text for text in page.scripts if "prefers-color-scheme" in text and ":root" in text]
    assert len(styles) == 1
    assert "@import" not in styles[0]
    assert "url(" not in styles[0]
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_images_have_alternative_text_and_controls_are_labelled(made: tuple[Path, Page]) -> None:
    _, page = made
    assert all(image.get("alt") for image in page.all("img"))
    assert all(svg.get("aria-label") for svg in page.all("svg"))
    assert {button.get("type") for button in page.all("button")} == {"button"}


def test_charts_carry_the_curves_and_the_cube_can_be_turned(made: tuple[Path, Page]) -> None:
    _, page = made
    cube, accuracy = charts(page)
    assert {trace["type"] for trace in cube["data"]} == {"scatter3d"}
    lines = [trace for trace in accuracy["data"] if trace.get("name")]
    assert [line["name"] for line in lines] == ["training", "distance 1", "distance 2"]
    assert lines[0]["x"] == [250, 500, 1000]
    assert lines[0]["y"][-1] == pytest.approx(0.97, abs=0.05)
    (packed,) = [attributes for attributes in page.all("script") if attributes.get("id") == "plotly"]
    assert packed["type"] == "text/plain", "unpacked and run by the page, not read as a script"


def test_the_timeline_has_a_frame_for_every_evaluation_of_every_member(made: tuple[Path, Page]) -> None:
    _, page = made
    (lines,) = timelines(page)
    assert [line["label"] for line in lines] == ["seed 0", "seed 1"]
    assert [frame["step"] for frame in lines[0]["frames"]] == [250, 500, 1000]
    assert [row["code"] for row in lines[0]["rows"]] == [
        "000",
        "001",
        "010",
        "100",
        "011",
        "101",
        "110",
        "111",
    ]
    assert len(lines[0]["frames"][0]["accuracy"]) == 8


def test_what_several_figures_share_is_in_the_page_once(tmp_path: Path) -> None:
    """A sweep begins with the member that another figure rests on."""
    steps = (500, 1000)
    common, other = synthetic.recipe(0), synthetic.recipe(1, **{"optimiser.learning_rate": 2e-3})
    alone = synthetic.figure_run(tmp_path, [common], steps=steps)
    sweep = synthetic.figure_run(tmp_path, [common, other], figure="sweep", steps=steps)
    page = read(report([alone, sweep], tmp_path / "report.html"))
    (first,), (again, different) = timelines(page)
    assert [frame["src"] for frame in first["frames"]] == [frame["src"] for frame in again["frames"]]
    (pictures,) = [json.loads(text) for text in page.scripts if text.startswith('["data:image')]
    assert len(pictures) == len(set(pictures)) == len(first["frames"]) + len(different["frames"])
    assert max(frame["src"] for frame in different["frames"]) == len(pictures) - 1
    places = [element["data-chart"] for element in page.all("div") if "data-chart" in element]
    assert len(places) == 6
    assert places[:2] == places[2:4]


def test_a_picture_of_one_column_is_not_blown_up_across_the_page(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [], study="park2024", figure="fig3")
    (run.path / "figures").mkdir()
    for name, width in (("one", 748), ("two", 1540)):
        Image.new("RGB", (width, 300), "white").save(run.path / "figures" / f"{name}.png")
    page = read(report([run], tmp_path / "report.html"))
    assert [figure.get("class") for figure in page.all("figure")] == ["narrow", None]


def test_what_leaves_a_claim_open_stands_in_the_overview(tmp_path: Path) -> None:
    why = "all seeds tie and the claim states no resolution, so no spread is known"
    judged = [replace(synthetic.verdicts()[1], why=why, ci_low=None, ci_high=None)]
    page = read(report([synthetic.figure_run(tmp_path, [], judged=judged)], tmp_path / "page.html"))
    assert f"Because {why}." in page.text


def test_a_figure_without_members_needs_no_plotly(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [], study="yang2025", figure="fig3")
    draw_picture(run)
    path = report([run], tmp_path / "report.html")
    assert "none: computed, not trained" in read(path).text
    assert path.stat().st_size < 200_000


def test_several_runs_of_one_figure_are_set_side_by_side(tmp_path: Path) -> None:
    steps = (500, 1000)
    small = synthetic.figure_run(tmp_path, [synthetic.recipe(0)], steps=steps)
    paper = synthetic.figure_run(tmp_path, [synthetic.recipe(0, steps=2000)], scale="paper", steps=steps)
    draw_picture(small)
    page = read(report([small, paper], tmp_path / "report.html"))
    assert "Side by side" in page.text
    assert "quickstart.emergence · paper" in page.text
    assert re.search(r"steps default 2000", page.text)
    assert re.search(r"on cpu \(x86_64\) cpu \(x86_64\) last run took 3 min 14 s", page.text)
    # Two charts for each run's training, and its curves once more beside the other's.
    assert len(charts(page)) == 6
    assert "not drawn" in page.text


def test_a_member_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0)] * 2, steps=(500, 1000))
    text = read(report([run], tmp_path / "report.html")).text
    assert text.count("1000 of 1000") == 1
    shares = [float(share) for share in re.findall(r"[01]{3} (\d+\.\d) %", text)]
    assert shares
    assert max(shares) <= 100


def test_seeds_are_those_of_the_members_not_of_the_theory_beside_them(tmp_path: Path) -> None:
    recipes = [synthetic.recipe(seed, batch=batch) for seed in range(2) for batch in (32, 64)]
    seeds = list(range(100))
    runs = [
        synthetic.figure_run(tmp_path, recipes, steps=(500, 1000), seeds=seeds),
        synthetic.figure_run(
            tmp_path, [synthetic.recipe(7)], scale="paper", statuses=("missing",), seeds=seeds[:3]
        ),
    ]
    text = read(report(runs, tmp_path / "report.html")).text
    assert "Scale small Seeds 2 " in text
    assert "Scale paper Seeds 3 " in text  # not started: what the manifest plans
    assert "seeds 2 3 " in text


def test_a_sweep_offers_its_settings(tmp_path: Path) -> None:
    recipes = [synthetic.recipe(0, **{"optimiser.learning_rate": rate}) for rate in (1e-3, 2e-3)]
    page = read(
        report([synthetic.figure_run(tmp_path, recipes, steps=(500, 1000))], tmp_path / "report.html")
    )
    assert "optimiser.learning_rate = 0.002" in page.text
    assert len(charts(page)) == 4


def test_classes_of_each_world_are_read_in_their_own_order(tmp_path: Path) -> None:
    circles = Recipe(
        world={"name": "circles"}, train=dict.fromkeys(("00", "01", "10"), 500), evaluation=Evaluation(2)
    )
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0), circles], steps=(500, 1000))
    text = read(report([run], tmp_path / "report.html")).text
    assert "A class such as 111 reads (shape, size, colour), one such as 11 reads (colour, size)." in text


def test_a_paper_stays_below_twelve_megabytes(tmp_path: Path) -> None:
    recipes = [synthetic.recipe(seed) for seed in range(2)]
    runs = []
    for number in range(24):
        run = synthetic.figure_run(tmp_path, recipes, study="paper", figure=f"fig{number}", steps=(500, 1000))
        (run.path / "figures").mkdir()
        # Noise is the worst case for any compression.
        Image.effect_noise((900, 450), 120).save(run.path / "figures" / "noise.png", compress_level=0)
        runs.append(run)
    path = report(runs, tmp_path / "report.html")
    page = read(path)
    assert path.stat().st_size < 12_000_000
    # Shared members are shown once.
    assert len([a for a in page.all("section") if a.get("class") == "training"]) == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_a_browser_draws_the_charts_without_an_error(made: tuple[Path, Page], tmp_path: Path) -> None:
    path, _ = made
    watched = tmp_path / "watched.html"
    listen = "<script>onerror = (m) => document.documentElement.dataset.error = m;</script>"
    whole = path.read_text(encoding="utf-8")
    watched.write_text(whole.replace("<body>", f"<body>{listen}", 1), encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --enable-unsafe-swiftshader --no-first-run --disable-sync "
        "--disable-background-networking --disable-component-update --virtual-time-budget=8000 "
        "--window-size=1280,4000 --dump-dom"
    )
    command = ["chromium", *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", watched.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "data-error" not in shown
    assert shown.count('data-drawn="yes"') == 2


@pytest.mark.parametrize(("study", "told"), [("custom", False), ("quickstart", True)])
def test_own_data_are_no_changed_setting(tmp_path: Path, study: str, told: bool) -> None:
    """They are kept among the settings, to tell one study of own data from another."""
    about = {"world": {"name": "folder"}, "train": {"00": 8}, "test": ["11"]}
    run = synthetic.figure_run(tmp_path / "runs", [], study=study, settings={"steps": 500, **about})
    page = report([run], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<code>steps=500</code>" in page
    assert ("<code>world=" in page) == told
    bare = synthetic.figure_run(tmp_path / "bare", [], study="custom", settings=about)
    assert "Changed settings" not in report([bare], tmp_path / "bare.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("directory", ["/home/somebody/work", ""])
def test_a_command_of_relative_paths_says_so_and_names_no_folder_of_this_machine(
    tmp_path: Path, directory: str
) -> None:
    run = synthetic.figure_run(tmp_path / "runs", [], **({"directory": directory} if directory else {}))
    page = report([run], tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("It names files by relative paths" in page) == bool(directory)
    assert "/home/somebody" not in page


@pytest.mark.parametrize(
    ("seconds", "said"), [(48.2, "48 s"), (194.3, "3 min 14 s"), (7500, "2 h 05 min"), (None, "–")]
)
def test_durations(seconds: float | None, said: str) -> None:
    assert duration(seconds) == said


def test_training_time_is_that_of_the_members_however_often_the_figure_is_drawn(tmp_path: Path) -> None:
    """A cohort of two that took an hour, drawn later in seconds."""
    run = synthetic.figure_run(
        tmp_path, [synthetic.recipe(0), synthetic.recipe(1)], steps=(1000,), seconds=3.0
    )
    lines = [{"time": 1e9, "event": "started"}, {"time": 1e9 + 3600, "event": "complete"}]
    for member in run.members:
        (member.path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        about = {"device": "cuda (NVIDIA H200)", "members": 2}
        (member.path / "environment.json").write_text(json.dumps(about))
    text = read(report([run], tmp_path / "page.html")).text
    assert "2 members , 1 h 00 min of cuda (NVIDIA H200)" in text
    (run.members[0].path / "log.jsonl").write_text('{"event": "started"}\n')
    assert "1 h 00 min" not in read(report([run], tmp_path / "page.html")).text

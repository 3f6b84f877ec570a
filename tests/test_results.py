"""The results that are kept: read, judged, told and reported without training, and REPRODUCTION.md is current."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from conceptlab.claims import PerSeed, judge
from conceptlab.probes.detector import shortfall
from conceptlab.recipe import Recipe
from conceptlab.report import report
from conceptlab.report.reproduction import reproduction
from conceptlab.store import FigureRun, Store, find_figures
from conceptlab.studies import STUDIES, Order, find, judge_study, parse_seeds

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PAPERS = [name for name in STUDIES if name != "quickstart"]
MOST_MEGABYTES = 40


@pytest.fixture(scope="module")
def runs() -> list[FigureRun]:
    return find_figures(RESULTS)


def test_the_page_is_current():
    """Make it with: conceptlab reproduction results --out REPRODUCTION.md"""
    page = reproduction(RESULTS, ROOT)
    assert (ROOT / "REPRODUCTION.md").read_text(encoding="utf-8") == page
    for name in PAPERS:
        assert f"## {name}\n" in page


@pytest.mark.parametrize("page", ["REPRODUCTION.md", "results/README.md"])
def test_its_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert links
    headings = {line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("## ")}
    for link in links:
        found = link[1:] in headings if link.startswith("#") else ((ROOT / page).parent / link).exists()
        assert found, link


def test_every_verdict_follows_from_the_tables_with_the_claims_as_they_are(runs, tmp_path):
    """A threshold or a statistic cannot change without the results being judged anew."""
    judged = [run for run in runs if run.verdicts]
    for run in judged:
        shutil.copytree(run.path, tmp_path / run.path.relative_to(RESULTS))
    for name in PAPERS:
        judge_study(STUDIES[name], "paper", Store(tmp_path))
    for run in judged:
        again = FigureRun(tmp_path / run.path.relative_to(RESULTS)).verdicts
        assert [v.id for v in again] == [v.id for v in run.verdicts]
        for old, new in zip(run.verdicts, again):
            assert (old.verdict, old.strength, old.seeds, old.threshold) == (
                new.verdict, new.strength, new.seeds, new.threshold,
            )  # fmt: skip
            assert (old.statistic, old.floor, old.resolution) == (new.statistic, new.floor, new.resolution)
            assert (old.why is None) == (new.why is None) == (old.verdict != "inconclusive")
            # The fingerprint of all that was declared.
            assert old.note.rpartition("; ")[2] == new.note.rpartition("; ")[2]
            if old.value is None or new.value is None:
                assert old.value is new.value
            elif (
                old.kind != "identity"
            ):  # those are errors of rounding, which other processors round otherwise
                assert math.isclose(old.value, new.value, rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("okawa2023.fig9.overwrites", -1, 1),
        ("okawa2023.sampling.agree", -1, 1),
        ("park2024.memorisation", 0, math.sqrt(2)),
        ("park2024.gap", -1, 1),
        ("bradley2025.locality.conditions", -0.5, 0.5),
    ],
)
def test_no_interval_is_told_beyond_what_can_be(runs, name, low, high):
    """Neither that a distance is below 0 nor that two shares differ by more than 1."""
    (verdict,) = [verdict for run in runs for verdict in run.verdicts if verdict.id == name]
    assert low <= verdict.ci_low <= verdict.ci_high <= high
    # Two seeds at the ends of what can be have the widest interval there is.
    (claim,) = [claim for claim in STUDIES[verdict.paper].claims if claim.id == name]
    ends = replace(claim, measure=lambda tables: PerSeed.exact({0: low, 1: high}))
    (widest,) = judge([ends], {}, "tiny")
    assert (widest.ci_low, widest.ci_high) == (low, high)


def test_every_detector_that_judged_may_still_judge():
    records = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("members/*/probe.json")]
    detectors = [record["judge"] for record in records if record["judge"]["name"] == "detector"]
    assert detectors
    assert not any(shortfall(judge["validation"]["per_class"]) for judge in detectors)


def test_what_was_tried_is_told_for_every_claim_that_did_not_reproduce(runs):
    for run in runs:
        study = run.manifest["study"]
        notes = (RESULTS / study / "notes.md").read_text(encoding="utf-8")
        for verdict in run.verdicts:
            if verdict.verdict != "reproduced":
                assert f"`{verdict.id.removeprefix(f'{study}.')}`" in notes, verdict.id


def test_all_papers_go_into_one_report(runs, tmp_path):
    page = report(runs, tmp_path / "report.html")
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 9e6  # four figures are still to come; any page has 12
    for run in runs:
        assert run.name in text
        assert not any(
            problem in text for problem in ("cannot be read", "is damaged", "A picture is missing")
        )


def test_every_member_is_found_by_its_recipe():
    """Their folders bear the hash: by another one, everything would be trained again."""
    configs = sorted(RESULTS.glob("members/*/config.json"))
    assert configs
    for config in configs:
        recipe = Recipe.from_dict(json.loads(config.read_text(encoding="utf-8")))
        assert config.parent.name in recipe.hashes


def test_the_commands_that_repeat_park2024_tell_all_that_the_first_one_trains():
    """What it has trained here, and what figures that came later add to it."""
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    rows = {
        which: (int(members), int(steps.replace(",", "")))
        for which, members, steps in re.findall(
            r"^\| (first|fourth) \| .*? \| (\d+)\b[^|]* \| ([\d,]+) \|",
            page[page.index("### park2024") : page.index("### okawa2023")],
            re.MULTILINE,
        )
    }
    (twins,) = re.findall(r"(\d+)\s+members of `twins` \(([\d,]+) model-steps\)", page)
    told = [*rows.values(), (int(twins[0]), int(twins[1].replace(",", "")))]
    study = STUDIES["park2024"]
    planned = Order(study, study.figures, "paper", None, {}).all_recipes()
    assert sum(members for members, _ in told) == len(planned)
    assert sum(steps for _, steps in told) == sum(recipe.steps for recipe in planned)


def test_the_commands_that_repeat_okawa2023_tell_what_each_adds_to_those_before():
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(okawa2023[^ `]*)(?: --seeds (\d+))?`.*?\| `[^`]*` \| (\d+)", page, re.MULTILINE)
    assert len(rows) == 7
    trained: set[str] = set()
    for name, seeds, told in rows:
        study, figures = find(name)
        order = Order(study, figures, "paper", parse_seeds(int(seeds)) if seeds else None, {})
        added = {recipe.hash for recipe in order.all_recipes()} - trained
        assert len(added) == int(told), name
        trained |= added
    kept = {path.name for path in (RESULTS / "members").iterdir()}
    assert f"All but {len(trained - kept)} members are trained" in page
    assert f"{len(trained & kept)} members and" in page


def test_no_picture_is_cut_off_at_its_edge(runs):
    for path in (path for run in runs for path in run.pictures):
        with Image.open(path) as picture:
            ink = ImageOps.invert(picture.convert("L")).point(lambda level: 255 if level > 55 else 0)
        left, top, right, bottom = ink.getbbox()
        assert min(left, top, ink.width - right, ink.height - bottom) > 3, path


def test_they_are_small_and_hold_nothing_of_the_machine_they_came_from():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_MEGABYTES * 1e6
    kinds = {path.suffix for path in files if "probes" not in path.parts}
    assert kinds <= {".json", ".jsonl", ".md", ".parquet", ".png"}, "no weights but those of probes"
    here = {os.uname().nodename, str(Path.home()), str(ROOT)} - {""}
    for path in files:
        if path.suffix in (".json", ".jsonl"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r'"(/|[A-Z]:\\\\)\w', text), path
            assert not any(f'"{word}' in text for word in here), path
            if path.suffix == ".json":
                json.loads(text)

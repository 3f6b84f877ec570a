"""The example of docs/okawa2023.md is the paper's, and the notebook runs from top to bottom."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from conceptlab.cli import main
from conceptlab.evaluation import evaluation_flops
from conceptlab.recipe import Recipe, flatten
from conceptlab.store import Member
from conceptlab.studies import Order
from conceptlab.studies.okawa2023 import STUDY, recipes
from conceptlab.studies.okawa2023.settings import base
from conceptlab.training.cost import training_flops
from conceptlab.worlds import OKAWA2023, build
from tests.examples import run_script
from tests.notebooks import run_notebook

DOCS = Path(__file__).parents[2] / "docs"


def _page() -> str:
    return (DOCS / "okawa2023.md").read_text(encoding="utf-8")


def _examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", _page(), re.DOTALL)


def test_the_papers_graph_split_and_sweep_in_under_thirty_lines() -> None:
    source, _ = _examples()
    assert len(source.splitlines()) < 30
    names: dict[str, Any] = {}
    exec(compile(source, "docs/okawa2023.md", "exec"), names)
    assert (len(names["graph"].nodes), len(names["graph"].edges)) == (8, 12)
    assert names["distances"] == {
        "000": 0, "001": 0, "010": 0, "011": 1, "100": 0, "101": 1, "110": 1, "111": 2,
    }  # fmt: skip
    assert len(names["sweep"]) == 25
    assert {recipes.count_of(recipe, "001") for recipe in names["sweep"]} == {10, 30, 100, 300, 1250}
    # It trains and draws as the study does; what else the study measures is left out, as are defaults it spells out.
    (ours,) = base("paper", [0])
    (theirs,) = (r for r in names["sweep"] if r.train["001"] == 1250 and r.seed == 0)
    differing = {key for key, value in flatten(ours).items() if flatten(theirs).get(key, value) != value}
    measured = {"evaluation.final_images", "evaluation.measurements", "evaluation.shown"}
    assert differing == {"precision", *measured}


def test_the_papers_sweep_is_trained_by_its_last_line(tmp_path: Path) -> None:
    quick = {
        "steps=7900": "steps=2",
        '"features": 128': '"features": 16',
        '"count": 40': '"count": 1',
        '"images": 50': '"images": 2',
        '"sampler_steps": 50': '"sampler_steps": 2',
        '{"name": "cnn", "steps": 600, "blank": 0.25}': '{"name": "analytic"}',
        '"000", 1250)': '"000", 20)',
        "(10, 30, 100, 300, 1250), range(5)": "(10, 20), range(1)",
    }
    members = run_script(_examples()[0], quick, tmp_path)
    assert {member.recipe.train["001"] for member in members} == {10, 20}
    for member in members:
        assert member.status == "complete"
        assert set(member.metrics["measure"]) >= {"accuracy", "edge_capability"}


@pytest.mark.filterwarnings("ignore:the cnn probe reads")  # which learns from a few images
def test_the_authors_images_become_a_table_and_are_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder in the format of theirs: PNG with alpha, named by (shape, colour, size)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONCEPTLAB_CACHE", str(tmp_path / "cache"))
    world = build("shapes", **OKAWA2023)
    folder = tmp_path / "single-body_2d_3classes"
    (folder / "train").mkdir(parents=True)
    for shape, size, colour in world.space:
        for number, image in enumerate(world.sample((shape, size, colour), 12, seed=0).images):
            pixels = (image.permute(1, 2, 0) * 255).round().byte().numpy()
            Image.fromarray(pixels).save(folder / "train" / f"CLEVR_{shape}{colour}{size}_{number:06d}.png")
    (tmp_path / "labels.py").write_text(_examples()[1], encoding="utf-8")
    subprocess.run([sys.executable, "labels.py", folder.name], check=True, timeout=60)
    (command,) = re.findall(r"```\n(conceptlab run custom .*?)```", _page(), re.DOTALL)
    small = {
        "\\\n": " ", "--scale paper": "--scale tiny", "steps=7900": "steps=2", "sampler_steps=50": "sampler_steps=2",
    }  # fmt: skip
    for theirs, ours in small.items():
        assert theirs in command
        command = command.replace(theirs, ours)
    command += " --seeds 1 --set denoiser.features=16 --set batch=8 --out runs"
    assert main(shlex.split(command)[1:]) == 0
    (member,) = (tmp_path / "runs" / "members").iterdir()
    recipe = Member(member).recipe
    assert recipe.denoiser["name"] == "okawa2023"
    assert set(recipe.train) == {"000", "100", "010", "001"}
    assert Member(member).world.image_shape == (4, 28, 28)


def test_the_page_names_every_figure_and_claim() -> None:
    page = _page()
    for figure in STUDY.figures:
        number = figure.id.removeprefix("fig")
        assert figure.id in page or (number in {"14", "15"} and "fig13–15" in page)
        assert all(f"`{claim.id.rpartition('.')[2]}`" in page for claim in figure.claims), figure.id


def test_the_table_of_costs_is_what_a_plan_says() -> None:
    trained: dict[str, Recipe] = {}
    row = r"^\| ([\w ,–]+) \| \d \| (\d+) \| (\d+) \| ([\d,]+) \| (\d+) \|"
    rows = re.findall(row, _page(), re.MULTILINE)
    assert len(rows) == 12
    for names, members, new, steps, petaflop in rows:
        every = names.replace("fig13–15", "fig13, fig14, fig15").split(", ")
        figures = tuple(STUDY.figure(name) for name in every)
        needed = {recipe.hash: recipe for recipe in Order(STUDY, figures, "paper", None, {}).all_recipes()}
        added = {hash_: recipe for hash_, recipe in needed.items() if hash_ not in trained}
        trained |= added
        assert (len(needed), len(added)) == (int(members), int(new)), names
        assert f"{sum(recipe.steps for recipe in added.values()):,}" == steps, names
        assert f"{_flops(added) / 1e15:.0f}" == petaflop, names
    steps = sum(recipe.steps for recipe in trained.values())
    assert (
        f"| all | | {len(trained)} | {len(trained)} | {steps:,} | {_flops(trained) / 1e15:,.0f} |" in _page()
    )


def _flops(members: dict[str, Recipe]) -> int:
    return sum(training_flops(recipe) + evaluation_flops(recipe) for recipe in members.values())


def test_the_notebook_runs() -> None:
    names = run_notebook(DOCS / "notebooks" / "okawa2023.ipynb")
    assert len(names["graph"].edges) == 12
    assert set(names["capability"].columns) == {"shape", "size", "colour"}
    assert names["capability"].to_numpy().min() >= 0
    assert len(names["signatures"]) == 2
    assert {"new", "old", "unseen"} <= set(names["finals"].columns)
    assert names["toy_times"] == {1: 14, 2: 24, 3: 31, 4: 36}
    assert set(names["critical"]["teaches"]) == {"colour", "shape"}
    assert set(names["readings"]["reader"]) == {"judge", "analytic", "linear"}
    assert set(names["reached"].index) == {"base", "probability product", *names["switches"]["tiny"]}
    assert "mmlab" in names["photographs"]
    assert len(names["verdicts"]) == sum(len(made.verdicts) for made in names["made"].values())

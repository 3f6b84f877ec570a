"""park2024 at tiny scale: every figure from one shared sweep, the notebook on the same members, elicitation, docs."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from PIL import Image

from conceptlab.cli import main
from conceptlab.cli.settings import parse_settings
from conceptlab.errors import InputError
from conceptlab.executors import elicit
from conceptlab.recipe import flatten
from conceptlab.store import FigureRun, Store
from conceptlab.studies import Order, run
from conceptlab.studies.park2024 import STUDY
from conceptlab.studies.park2024.recipes import SIZES, sweep
from conceptlab.studies.park2024.twins import pairs
from conceptlab.studies.study import Results
from tests.examples import run_script
from tests.notebooks import run_notebook

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, FigureRun]:
    order = Order(STUDY, STUDY.figures, "tiny", SEEDS, {})
    store = Store(tmp_path_factory.mktemp("park2024") / "runs")
    return {
        r.manifest["figure"]: r for r in run(order, store, torch.device("cpu"), lambda members, steps: None)
    }


def test_every_figure_is_drawn_and_judged_from_shared_members(runs):
    assert set(runs) == {
        *(f"fig{i}" for i in range(1, 17)),
        "elicitation",
        "masking",
        "sampling",
        "twins",
        "width",
    }
    members = {member for r in runs.values() for member in r.manifest["members"]}
    assert len(members) == 12, (
        "four of the sweep, two masked, two to check the sampling, two trained once more, two with a wider condition"
    )
    for id_, figure_run in runs.items():
        assert [p.stem for p in figure_run.pictures] == [id_]
        assert len(figure_run.verdicts) == len(STUDY.figure(id_).claims)
        assert all(v.strength == "indicative" for v in figure_run.verdicts)
    every = set(runs["fig1"].metrics["measure"])
    assert {
        "prompt_capability",
        "best_prompt",
        "winner",
        "disentanglement",
        "weight_norm",
        "gradient_norm",
    } <= every


def test_every_way_of_asking_was_measured_and_patches_belong_to_kept_steps(runs):
    curves = runs["elicitation"].tables["curves"]
    capable = curves[curves["measure"] == "agreed_capability"]
    assert set(capable["variable"]) == {"over-prompting", "redraws", "search", "latent", "guidance", "patch"}
    kept = runs["elicitation"].members[0].recipe.keep
    assert set(capable.loc[capable["variable"] == "patch", "step"]) == set(kept)
    winners = runs["elicitation"].tables["winners"]
    assert (winners["prompt"] != "").all()


def test_twins_are_equal_on_a_cpu(runs):
    found = pairs(runs["twins"].tables["runs"], "accuracy")
    assert list(found["seed"]) == list(SEEDS)
    assert (found["once"] == found["again"]).all()
    once, again = (runs["twins"].members[i].metrics.query("measure == 'loss'")["value"] for i in (0, 2))
    assert list(once) == list(again)


def test_members_that_were_not_asked_in_other_ways_are_refused_in_words(runs):
    asked = runs["elicitation"].members
    plain = Results(asked, "tiny", (0, 1))
    plain.metrics.drop(plain.metrics.index[plain.metrics["measure"] == "agreed_capability"], inplace=True)
    with pytest.raises(InputError, match="were not asked in other ways"):
        STUDY.figure("elicitation").tables(plain)


def test_the_notebook_runs_on_the_same_members(runs, monkeypatch):
    monkeypatch.chdir(runs["fig1"].store.root.parent)
    names = run_notebook(DOCS / "notebooks" / "park2024.ipynb")
    assert names["turn"] == 800
    assert names["naive"] > names["held_out"] + 0.05
    assert names["signal"]["colour", "00"] == pytest.approx(0.0074, rel=0.1)
    assert names["signal"]["colour", "01"] == pytest.approx(0.00088, rel=0.1)
    assert names["signal"]["size", "00"] == pytest.approx(0.043, rel=0.1)
    assert len(names["verdicts"]) == 14


def test_elicit_answers_for_a_run_and_shows_images(runs, tmp_path, capsys):
    sheet = tmp_path / "elicit.png"
    assert main(["elicit", str(runs["fig2"].path), "--class", "11", "--n", "4", "--out", str(sheet)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "may be noise" in said, "a dozen steps draw no training class"
    assert "search" in said
    assert "its 95% interval over the images drawn" in said
    with Image.open(sheet) as picture:
        assert picture.width > 800  # large enough to see, whatever the resolution of the world
    assert main(["elicit", str(runs["fig2"].path), "--class", "31"]) == 2
    with pytest.raises(InputError, match="at least 4 images"):
        elicit(runs["fig2"].members[0], "11", images=2)


def test_an_answer_tells_can_from_does(runs):
    answer = elicit(runs["fig2"].members[0], "11", images=4)
    last = answer.ways["step"].max()

    def told(plain: float, latent: float, judged: float | None = None, images: int = 64) -> str:
        """`judged`: what the judge alone reads of the ordinary prompt, if not as both probes do."""
        ways = pd.DataFrame(
            [
                (last, "redraws", "draw 0", plain, plain if judged is None else judged, images),
                (last, "latent", "all × 2", latent, 1.0, images),
            ],
            columns=["step", "way", "prompt", "accuracy", "read", "scored"],
        )
        none, drawn = answer.trained.iloc[:0], answer.seen.assign(value=1.0)
        return replace(answer, ways=ways, trained=none, seen=drawn).sentence

    assert told(0.1, 0.9).startswith("It can, but does not")
    assert "latent (all × 2) in 90% (78 … 97%, widened for a choice among 2 ways)" in told(0.1, 0.9)
    assert told(0.8, 0.9).startswith("It can and does")
    assert told(0.2, 0.9, 0.95).startswith("It can and does"), "what it does is for the judge to say"
    assert "in 95% of images (86 … 99%; both probes say so of 20%), at step" in told(0.2, 0.9, 0.95)
    assert "both probes" not in told(0.8, 0.9)
    assert "both probes" not in told(0.28, 0.9, 0.25), "they cannot agree on more than one of them reads"
    assert told(0.1, 0.2).startswith("It cannot yet")
    # What the images drawn leave open is not told as if it were known.
    assert told(0.45, 0.9).startswith("It can; whether it does cannot be told")
    assert told(0.45, 0.9).endswith(
        "64 images do not tell on which side of 50% that lies; --n 256 draws more."
    )
    assert told(0.1, 0.55).startswith("It does not; whether it can cannot be told")
    assert told(0.45, 0.55).startswith("Whether it can, and does, cannot be told")
    for plain, latent in ((1.0, 1.0), (0.0, 1.0), (0.0, 0.0)):
        few = told(plain, latent, images=4)
        assert few.startswith("Whether it can, and does, cannot be told")
        assert few.endswith("4 images do not tell on which side of 50% that lies; --n 32 draws more.")


def test_a_model_that_draws_nothing_yet_is_credited_with_nothing(runs):
    answer = elicit(runs["fig2"].members[0], "11", images=4)
    steps = sorted(answer.seen["step"].unique())
    ways = pd.DataFrame(
        [(step, "redraws", "draw 0", 1.0, 1.0, 32) for step in steps],
        columns=["step", "way", "prompt", "accuracy", "read", "scored"],
    )

    def told(*accuracies: float) -> str:
        seen = pd.DataFrame({"step": steps, "class": "00", "value": accuracies})
        return replace(answer, ways=ways, trained=answer.trained.iloc[:0], seen=seen).sentence

    assert len(steps) == 3
    assert told(1.0, 1.0, 1.0).endswith(f"at step {steps[0]} already.")
    assert told(0.0, 0.0, 0.25).startswith("Nothing is credited to it: it does not draw")
    assert f"(class 00 in 25% of images at step {steps[2]})" in told(0.0, 0.0, 0.25)
    assert told(0.0, 0.0, 1.0).endswith(f"at step {steps[2]} already."), "what it drew before was noise"


def test_sampling_is_checked_before_during_and_after_emergence(runs):
    table = runs["sampling"].tables["sampling"]
    assert list(table["step"].unique()) == [4, 8, 12]
    assert len(table) == 2 * 3 * 4, "seeds, evaluations, classes"
    assert (table["full"] - table["few"]).to_numpy() == pytest.approx(table["difference"].to_numpy())
    recipe, *_ = STUDY.figure("sampling").recipes("paper", [0])
    (same,) = (r for r in sweep("paper", [0]) if r.world == recipe.world)
    # A shorter run is the beginning of the sweep's own, because nothing in training knows how long it is.
    assert same.optimiser == recipe.optimiser
    assert (same.optimiser.decay, recipe.steps) == ("constant", 6000)


def test_paper_scale_is_the_authors_setting():
    recipes = sweep("paper", range(5))
    first = recipes[0]
    assert len(recipes) == 5 * len(SIZES["paper"].separations)
    assert (first.steps, first.loss, first.data_noise, first.optimiser.clip) == (15_000, "bound", 1e-3, 0.01)
    assert len(first.evaluation_steps()) == 40
    assert set(first.keep) <= set(first.evaluation_steps()[:-1])
    shared = {
        "denoiser.channels": [32, 64, 128, 256],
        "denoiser.condition_mlp": "shared",
        "optimiser.clip": None,
    }
    changed = first.with_settings(shared)
    assert changed.hash != first.hash
    assert changed.optimiser.clip is None


def test_every_switch_in_the_docs_is_one():
    recipe = sweep("paper", [0])[0]
    rows = re.findall(r"^\|.*`(--set .*)`", (DOCS / "park2024.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 8
    for row in rows:
        settings = parse_settings(shlex.split(row)[1::2])
        changed = recipe.with_settings(settings)
        assert changed.hash != recipe.hash, row
        assert set(changed.keep) <= set(changed.evaluation_steps()[:-1]), row


def _example() -> str:
    (example,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "park2024.md").read_text(encoding="utf-8"), re.DOTALL
    )
    return example


def test_the_example_in_the_docs_is_the_papers_sweep():
    example = _example()
    assert len(example.strip().splitlines()) < 30
    names: dict = {}
    exec(compile(example, "park2024.md", "exec"), names)
    assert names["held_out"] == ["11"]
    assert len(names["sweep"]) == 30
    # It trains and draws as the study does; what else the study measures is left out.
    (ours,) = (r for r in sweep("paper", [0]) if r.world["colour_separation"] == 0.225)
    (theirs,) = (r for r in names["sweep"] if r.world["colour_separation"] == 0.225 and r.seed == 0)
    differing = {key for key, value in flatten(ours).items() if flatten(theirs).get(key) != value}
    assert differing == {"precision", "keep", "evaluation.final_images", "evaluation.measurements"}


def test_the_example_in_the_docs_trains(tmp_path):
    judge = 'images=2, probe={"name": "analytic"}, second_probe=None'
    quick = {
        "steps=15_000": "steps=2",
        '"count": 40': '"count": 1',
        '"sampler_steps": 50': '"sampler_steps": 2',
        ", 1740)": ", 20)",
        "Evaluation(": f"Evaluation({judge}, ",
        '{"name": "park2024"}': '{"name": "park2024", "channels": [16, 16]}',
        "(0.175, 0.2, 0.225, 0.25, 0.275, 0.3)": "(0.3,)",
        "range(5)]\nif": "range(1)]\nif",
    }
    (member,) = run_script(_example(), quick, tmp_path)
    assert member.status == "complete"
    assert member.recipe.world["colour_separation"] == 0.3
    assert set(member.metrics["measure"]) >= {"accuracy", "prompt_capability"}

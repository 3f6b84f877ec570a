"""Every signature of failure shows where there is one, and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from conceptlab.concepts import Class, Split
from conceptlab.recipe import Recipe
from conceptlab.store import FigureRun
from conceptlab.store.files import write_table
from conceptlab.studies import Results
from conceptlab.studies.okawa2023 import recipes
from conceptlab.studies.okawa2023.settings import base
from conceptlab.studies.okawa2023.signatures import signatures, summary
from tests.studies.okawa_members import Curve, write_members

SIGNS = ("at_chance", "no_gap", "no_delay", "same_for_all")
RESULTS = Path(__file__).parents[2] / "results"
Edit = Callable[[pd.DataFrame], pd.DataFrame]


def _sound(split: Split, cls: Class, variable: str, steps: np.ndarray) -> np.ndarray:
    """A learner with no fault: later by distance, and later where the value is rare."""
    value = cls[split.space.variable(variable)]
    start = 30 * 2.0 ** split.distance(cls) * (1.5 if value else 1.0)
    return 0.4 + 0.6 / (1 + (start / steps) ** 6)


def _signs(
    tmp_path: Path, curve: Curve = _sound, edit: Edit = lambda rows: rows, recipe: Recipe | None = None
) -> dict[str, Any]:
    """The row of one member, whose measurements may be edited."""
    recipe = recipe or base("small", [0])[0]
    member = write_members([recipe], tmp_path, curve=curve).member(recipe)
    write_table(member.path / "metrics.parquet", edit(pd.read_parquet(member.path / "metrics.parquet")))
    member = write_members([recipe], tmp_path).member(recipe)
    (row,) = signatures(Results([member], "small", (0,))).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_a_sound_learner_shows_none(tmp_path: Path) -> None:
    found = _signs(tmp_path)
    assert not any(found[name] for name in SIGNS)
    assert found["gap"] > 0.2
    assert found["rare_delay"] > 1.2
    table = {"signatures": pd.DataFrame([found])}
    assert [signature.share for signature in summary(table)] == ["0 of 1"] * 5
    assert summary(table)[0].seen == "none of 4 held-out classes"


# --- held-out classes at chance ---


def _drawn(rows: pd.DataFrame, own: float, others: float) -> pd.DataFrame:
    """110 is drawn in a share of its own images, and in a share of all others."""
    last = rows["step"] == rows["step"].max()
    rows.loc[last & (rows["class"] == "110") & (rows["measure"] == "accuracy"), "value"] = own
    to = last & (rows["measure"] == "drawn") & (rows["variable"] == "110")
    rows.loc[to, "value"] = np.where(rows[to]["class"] == "110", own, others)
    return rows


@pytest.mark.parametrize(
    ("own", "others", "lost"),
    [
        (0.05, 0.0, True),  # one class of four fails, and their mean is above 3/4
        (0.14, 0.0, True),  # not above 1/8 by more than 200 images can tell
        (0.25, 0.0, False),
        (0.40, 0.45, True),  # drawn as often when another class is asked for
    ],
)
def test_a_class_at_chance_is_found_among_those_that_are_not(
    tmp_path: Path, own: float, others: float, lost: bool
) -> None:
    found = _signs(tmp_path, edit=lambda rows: _drawn(rows, own, others))
    assert found["held_out"] > 0.7
    assert found["at_chance"] == lost
    assert found["classes_at_chance"] == ("110" if lost else "")


def test_the_classes_at_chance_are_named() -> None:
    row = {"held_out": 0.5, "held_out_classes": 4, "chance": 0.125, "at_chance": True, "gap": math.nan,
           "no_gap": False, "rare_delay": math.nan, "no_delay": False, "worst": "111", "worst_accuracy": 0.0,
           "drawn_instead": "", "drawn_share": 0.0}  # fmt: skip
    both = pd.DataFrame([row | {"classes_at_chance": "011 111"}, row | {"classes_at_chance": "111"}])
    chance, gap, *_ = summary({"signatures": both})
    assert (chance.share, chance.seen) == (
        "2 of 2",
        "1 … 2 of 4 held-out classes: 111 in 2, 011 in 1 of 2 members",
    )
    assert summary({"signatures": both[:1]})[0].seen == "2 of 4 held-out classes: 011, 111"
    assert (gap.share, gap.seen) == ("–", "nothing to compare")
    assert summary({"signatures": both})[3].share == "–", "a table that was kept before this was looked for"


# --- no additive/multiplicative gap ---


def _coupled(rows: pd.DataFrame, noise: float = 0.0) -> pd.DataFrame:
    """All variables of 111 are right in the same images, so that mean and product agree; before anything is drawn,
    noise is taken for some of them."""
    own = (rows["class"] == "111") & (rows["measure"] == "additive")
    joint = rows[(rows["class"] == "111") & (rows["measure"] == "accuracy") & (rows["variable"] == "")]
    rows.loc[own, "value"] = joint.set_index("step")["value"].loc[rows[own]["step"]].to_numpy()
    rows.loc[own & (rows["step"] < 20), "value"] += noise
    return rows


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_variables_that_come_together_leave_no_gap(tmp_path: Path, noise: float) -> None:
    found = _signs(tmp_path, edit=lambda rows: _coupled(rows, noise))
    assert found["no_gap"]
    assert found["gap"] == pytest.approx(0.0)


@pytest.mark.parametrize("level", [1.0, 0.0])
def test_a_class_that_does_not_emerge_has_no_gap_to_lack(tmp_path: Path, level: float) -> None:
    """Right from the first drawings on, or never drawn at all: mean and product agree by arithmetic."""

    def curve(split: Split, cls: Class, variable: str, steps: np.ndarray) -> np.ndarray:
        return np.full(len(steps), level) if cls == (1, 1, 1) else _sound(split, cls, variable, steps)

    found = _signs(tmp_path, curve)
    assert math.isnan(found["gap"])
    assert not found["no_gap"]


# --- no delay of rare values ---


def test_a_delay_by_distance_alone_is_none_of_rare_values(tmp_path: Path) -> None:
    def curve(split: Split, cls: Class, variable: str, steps: np.ndarray) -> np.ndarray:
        return 0.4 + 0.6 / (1 + (30 * 2.0 ** split.distance(cls) / steps) ** 6)

    found = _signs(tmp_path, curve)
    assert found["rare_delay"] == pytest.approx(1.0)
    assert found["no_delay"]


def test_a_rare_value_that_is_never_learnt_is_a_delay_without_end(tmp_path: Path) -> None:
    def curve(split: Split, cls: Class, variable: str, steps: np.ndarray) -> np.ndarray:
        wrong = variable == "colour" and cls[2] == 1
        return np.full(len(steps), 0.1) if wrong else _sound(split, cls, variable, steps)

    assert math.isinf(_signs(tmp_path, curve)["rare_delay"])


# --- the same whatever is asked for ---


def _drawing(shares: Callable[[str], dict[str, float]], images: int = 200) -> Edit:
    """At the last evaluation a class is drawn as these, images being drawn at random with these shares."""

    def edit(rows: pd.DataFrame) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        step = rows["step"].max()
        drawn = []
        for cls in sorted(set(rows["class"]) - {""}):
            if "-" not in cls:
                asked = shares(cls)
                counts = rng.multinomial(images, list(asked.values())) / images
                found = {"step": step, "weights": "raw", "class": cls, "measure": "drawn"}
                drawn += [found | {"variable": v, "value": x} for v, x in zip(asked, counts) if x]
        others = rows[(rows["step"] < step) | (rows["measure"] != "drawn")]
        return pd.concat([others, pd.DataFrame(drawn)], ignore_index=True)

    return edit


CODES = [f"{number:03b}" for number in range(8)]


@pytest.mark.parametrize(
    ("shares", "same"),
    [
        (lambda cls: {cls: 1.0}, False),  # an oracle
        (lambda cls: {cls: 0.5, "nothing": 0.5}, False),  # half of it is empty, the rest as asked
        (lambda cls: {f"{cls[:2]}0": 1.0}, False),  # one variable is ignored, others are not
        (lambda cls: {"000": 1.0}, True),  # one class for all
        (lambda cls: {"000": 0.4, "010": 0.3, "001": 0.3}, True),  # all of training, but not as asked
        (lambda cls: dict.fromkeys(CODES, 1 / 8), True),  # noise, which a judge takes for anything
        (lambda cls: {"nothing": 1.0}, True),
    ],
    ids=["oracle", "half empty", "no colour", "one class", "a mixture", "noise", "nothing"],
)
@pytest.mark.parametrize("images", [12, 200, 1000])
def test_a_network_that_ignores_its_prompt_is_told(
    tmp_path: Path, shares: Callable[[str], dict[str, float]], same: bool, images: int
) -> None:
    recipe = base("small", [0])[0].with_settings({"evaluation.final_images": images})
    found = _signs(tmp_path, edit=_drawing(shares, images), recipe=recipe)
    assert found["same_for_all"] == same
    sign = summary({"signatures": pd.DataFrame([found])})[3]
    assert (sign.shown, sign.of) == (int(same), 1)
    assert sign.seen.startswith("what is drawn differs between training classes by ")


def test_with_one_training_class_there_is_no_other_prompt(tmp_path: Path) -> None:
    recipe = base("small", [0])[0].with_settings({"train": {"000": 40}})
    found = _signs(tmp_path, recipe=recipe)
    assert math.isnan(found["prompt_variation"])
    assert not found["same_for_all"]


def test_no_member_that_is_kept_ignores_its_prompt() -> None:
    """Figure 8's come nearest: of a class of three samples nothing is learnt."""
    run = FigureRun(RESULTS / "okawa2023" / "paper" / "fig8")
    found = signatures(Results(run.members, "paper", tuple(run.manifest["seeds"])))
    assert len(found) == len(run.members)
    assert found["prompt_variation"].between(0.8, 1).all()
    assert not found["same_for_all"].any()


# --- fine-tuning ---


def test_a_fine_tuned_member_that_draws_everything_shows_none(tmp_path: Path) -> None:
    """What was trained before counts as trained, though only one class is trained now."""
    _, kept, alone, *_ = recipes.figure9("small", [0])
    for recipe in (kept, alone):
        found = _signs(tmp_path, lambda split, cls, v, steps: np.full(len(steps), 1.0), recipe=recipe)
        assert found["held_out_classes"] == 3
        assert not any(found[name] for name in SIGNS)
        assert math.isnan(found["gap"])
        assert math.isnan(found["rare_delay"])

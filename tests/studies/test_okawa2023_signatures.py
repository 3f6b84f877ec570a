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
from conceptlab.store.files import write_table
from conceptlab.studies import Results
from conceptlab.studies.okawa2023 import recipes
from conceptlab.studies.okawa2023.settings import base
from conceptlab.studies.okawa2023.signatures import signatures, summary
from tests.studies.okawa_members import Curve, write_members

SIGNS = ("at_chance", "no_gap", "no_delay")
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
    assert [signature.share for signature in summary(table)] == ["0 of 1"] * 4
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

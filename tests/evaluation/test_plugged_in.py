"""Measurements of one's own that ask for what cannot be drawn: told in one line, before anything is trained."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.evaluation import Measurement, Prompt, Row, evaluation_flops
from conceptlab.evaluation.measurement import _MEASUREMENTS
from conceptlab.recipe import Evaluation, Recipe
from tests.evaluation import small

FITTING = torch.zeros(4)


class Asking(Measurement):
    """Asks for what a test gives it, at first or after a look at the drawings."""

    def __init__(self, first: Any = (), second: Any = ()) -> None:
        self.first, self.second = first, second

    def prompts(self, context, images):
        return self.first

    def refinements(self, context, agreed):
        return self.second

    def rows(self, live):
        return [Row("", "", "mine", 0.0)]


def asking(monkeypatch: pytest.MonkeyPatch, *given: Any) -> Recipe:
    monkeypatch.setitem(_MEASUREMENTS._makers, "mine", lambda mark: Asking(*given))
    # What was counted is remembered by settings: each test has its own.
    part = {"name": "mine", "mark": repr(given)}
    return small.recipe(evaluation=Evaluation(count=2, probe={"name": "analytic"}, measurements=(part,)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([None], "prompts gives None; let it return a list of conceptlab.evaluation.Prompt, an empty one if"),
        ([Prompt("a", FITTING, 4, "a")], "prompts gives a Prompt; let it return a list"),
        ([["00"]], "prompts gives a list with a str; let it return a list"),
        ([[None]], "prompts gives a list with None; let"),
        ([[], None], "refinements gives None; let"),
        ([[Prompt(5, FITTING, 4, "a")]], "a prompt's name is 5; let it be a text"),  # type: ignore
        ([[Prompt("a", FITTING, 4, 7)]], "a prompt's stream is 7; let"),  # type: ignore
        ([[Prompt("a", FITTING, 0, "a")]], "prompt 'a' asks for 0 images; ask for 1 or more"),
        ([[Prompt("a", FITTING, 0.5, "a")]], "prompt 'a' asks for 0.5 images"),  # type: ignore
        (
            [[], [Prompt("b", torch.zeros(2), 4, "a")]],
            r"prompt 'b' has a condition of shape \(2,\); .* \(4,\): ",
        ),
        ([[Prompt("b", [0.0, 1.0], 4, "a")]], "prompt 'b' has no tensor as its condition"),  # type: ignore
    ],
)
def test_what_cannot_be_drawn_is_told_before_training(monkeypatch, given, message):
    with pytest.raises(InputError, match=f"^measurement 'mine': {message}"):
        evaluation_flops(asking(monkeypatch, *given))


def test_whatever_holds_prompts_is_counted(monkeypatch):
    prompts = [Prompt(name, FITTING, 4, name) for name in "ab"]
    counts = [
        evaluation_flops(asking(monkeypatch, *given))
        for given in ((prompts,), (tuple(prompts),), (prompts[:1], prompts[1:]))
    ]
    assert counts[0] == counts[1] == counts[2] > 0

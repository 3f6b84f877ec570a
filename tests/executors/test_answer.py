"""What is said of a model that was asked for a class in several ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest
import torch

from conceptlab.executors.answer import Elicitation, interval


def answer(shares: Mapping[str, Sequence[float]], images: int = 64) -> Elicitation:
    """`shares` of each way at steps 100, 200, …; all training classes are drawn all along."""
    ways = pd.DataFrame(
        [
            (100 * place, way, "as said", share, share, images)
            for way, own in shares.items()
            for place, share in enumerate(own, start=1)
        ],
        columns=["step", "way", "prompt", "accuracy", "read", "scored"],
    )
    steps = sorted(ways["step"].unique())
    seen = pd.DataFrame([(step, code, 1.0) for step in steps for code in ("00", "01")])
    seen.columns = ["step", "class", "value"]
    trained = pd.DataFrame(columns=["step", "way", "accuracy"])
    return Elicitation("11", ways, trained, seen, torch.empty(0), [])


def test_the_best_of_several_ways_must_lie_further_beyond_the_line_than_one_alone():
    best = 41 / 64
    assert interval(best, 64)[0] > 0.5 > interval(best, 64, 5)[0]
    others = {"search": [0.1], "guidance": [0.1], "over-prompting": [0.1]}
    told = answer({"redraws": [0.1], "latent": [best], **others}).sentence
    assert told.startswith("It does not; whether it can cannot be told: ")
    low, high = interval(best, 64, 5)
    share = f"reaches 64% ({100 * low:.0f} … {high:.0%}, widened for a choice among 5 ways)"
    assert share in told
    sure = answer({"redraws": [0.1], "latent": [0.75], **others}).sentence
    assert sure.startswith("It can, but does not: ")
    assert "widened for a choice among 5 ways), at step 100 already." in sure


def test_what_it_does_asked_plainly_is_one_question():
    best = 41 / 64
    told = answer({"redraws": [best], "latent": [best], "search": [best]}).sentence
    assert told.startswith("It can and does: ")
    assert "widened" not in told


@pytest.mark.parametrize(
    ("over_steps", "since"),
    [((0.2, 0.9, 0.9), 200), ((0.9, 0.9, 0.9), 100), ((0.9, 0.2, 0.9), 300)],
)
def test_a_lucky_checkpoint_among_many_dates_nothing(over_steps, since):
    found = answer({"redraws": [0.1] * 3, "latent": over_steps})
    assert found.since("latent") == f"at step {since} already"
    assert answer({"redraws": over_steps}).since("redraws") == f"at step {since} already"
    assert found.since("redraws") == "at no kept checkpoint"

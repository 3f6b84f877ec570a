"""Prompts of several measurements, drawn together."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.evaluation import Live, Measurement, Prompt, Row, all_rows
from conceptlab.evaluation.measurement import once_each
from conceptlab.recipe import Evaluation
from tests.evaluation import small


def test_of_prompts_with_one_name_the_one_with_most_images_is_drawn():
    few, many = (Prompt("class 11", torch.zeros(4), images, stream="11") for images in (4, 32))
    other = Prompt("class 00", torch.zeros(4), 1, stream="00")
    for asked in ([few, other, many], [many, other, few]):
        assert [(prompt.name, prompt.images) for prompt in once_each(asked)] == [
            ("class 11", 32),
            ("class 00", 1),
        ]


class Found(Measurement):
    def __init__(self, *found: Row) -> None:
        self.found = found

    def rows(self, live: Live) -> Iterable[Row]:
        return self.found


def test_two_numbers_under_one_name_are_refused():
    """As rows of one class and measure they would be averaged, and claims judged on both."""
    parts = ({"name": "accuracy"}, {"name": "mine"})
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}, measurements=parts))
    live = Live(small.context(made), 1, "raw", torch.nn.Identity(), torch.nn.Identity(), {}, {})  # type: ignore
    first, second = Row("00", "", "accuracy", 1.0), Row("00", "size", "accuracy", 0.5)
    assert all_rows([Found(first), Found(second, first._replace(step=0))], live) == [
        first,
        second,
        first._replace(step=0),
    ]
    with pytest.raises(
        InputError, match=r"'mine' finds 'accuracy' \(class 00\), which 'accuracy' found already"
    ):
        all_rows([Found(first), Found(second, first._replace(value=0.3))], live)

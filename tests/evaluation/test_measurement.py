"""Prompts of several measurements, drawn together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.evaluation import Guidance, Live, Measurement, Prompt, Row, all_rows
from conceptlab.evaluation.measurement import once_each, read, sights
from conceptlab.probes import AnalyticProbe
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


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"condition": torch.ones(4)}, "condition"),
        ({"stream": "other"}, "stream"),
        ({"guidance": Guidance(2.0, torch.zeros(4))}, "guidance"),
        ({"edit": lambda embed, condition: embed(condition)}, "edit"),
    ],
)
def test_prompts_that_ask_otherwise_need_another_name(changes, told):
    """Drawings are found by name: a measurement that asks with guidance for 'class 11' would read what is drawn without
    it, or have the accuracy of class 11 read from its own drawings."""
    plain = Prompt("class 11", torch.zeros(4), 8, stream="11")
    for images in (4, 8, 16):
        own = replace(plain, images=images, **changes)
        for asked in ([plain, own], [own, plain]):
            with pytest.raises(
                InputError, match=f"two prompts are called 'class 11' and differ in their {told}; "
            ):
                once_each(asked)
        assert once_each([own, replace(own)]) == [own]


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


def test_images_that_others_look_at_are_not_changed():
    """They are shown, and read by the measurements that come next: of views of one tensor, another's would change."""
    parts = ({"name": "mine"}, {"name": "accuracy"})
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}, measurements=parts))
    drawn = torch.ones(4, 3, 8, 8)
    images = dict(zip(("class 00", "class 11"), drawn.split(2)))
    live = Live(small.context(made), 1, "raw", torch.nn.Identity(), torch.nn.Identity(), images, {})  # type: ignore

    class Glow(Measurement):
        def rows(self, live: Live) -> Iterable[Row]:
            seen = live.images["class 00"].flatten(1)
            yield Row("00", "", "glow", (2 * seen - 1).mean().item())

    class Careless(Measurement):
        def rows(self, live: Live) -> Iterable[Row]:
            seen = live.images["class 00"].flatten(1)
            yield Row("00", "", "glow", seen.mul_(2).sub_(1).mean().item())

    assert all_rows([Glow(), Found()], live) == [Row("00", "", "glow", 1.0)]
    with pytest.raises(
        InputError, match=r"^measurement 'mine' changes images that were drawn, .* in place, e\.g\."
    ):
        all_rows([Careless(), Found()], live)


def test_what_is_no_number_is_told_with_its_measurement():
    """A forgotten .item() would end in a traceback when the table is written."""
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}, measurements=({"name": "mine"},)))
    live = Live(small.context(made), 1, "raw", torch.nn.Identity(), torch.nn.Identity(), {}, {})  # type: ignore
    told = Row("00", "", "glow", np.float32(0.5))  # type: ignore
    assert all_rows([Found(told)], live) == [told]
    with pytest.raises(
        InputError, match=r"^measurement 'mine' finds 'glow' \(class 00\) to be a Tensor; give"
    ):
        all_rows([Found(told._replace(value=torch.tensor(0.5)))], live)  # type: ignore
    with pytest.raises(InputError, match=r"^measurement 'mine' gives a tuple; let rows give .*Row$"):
        all_rows([Found(("00", "", "glow", 0.5))], live)  # type: ignore


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (Row((0, 0), "", "glow", 0.5), r"gives a Row whose cls is a tuple; give a word, .*\.code\(cls\)$"),  # type: ignore
        (Row("00", None, "glow", 0.5), "gives a Row whose variable is a NoneType; give a word"),  # type: ignore
        (Row("00", "", 5, 0.5), "gives a Row whose measure is a int; give a word"),  # type: ignore
        (Row("00", "", "glow", 0.5, "x"), r"finds 'glow' \(class 00\) at step 'x'; give a whole number"),  # type: ignore
    ],
)
def test_what_a_table_cannot_hold_is_told_with_its_measurement(row, told):
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}, measurements=({"name": "mine"},)))
    live = Live(small.context(made), 1, "raw", torch.nn.Identity(), torch.nn.Identity(), {}, {})  # type: ignore
    with pytest.raises(InputError, match=f"^measurement 'mine' {told}"):
        all_rows([Found(row)], live)


def test_rows_that_are_not_returned_are_told_with_their_measurement():
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}, measurements=({"name": "mine"},)))
    live = Live(small.context(made), 1, "raw", torch.nn.Identity(), torch.nn.Identity(), {}, {})  # type: ignore
    forgotten = Found()
    forgotten.found = None  # type: ignore
    with pytest.raises(InputError, match=r"^measurement 'mine' gives None; let rows give .*Row$"):
        all_rows([forgotten], live)


class Counting(AnalyticProbe):
    passes = 0

    def probabilities(self, images):
        self.passes += 1
        return super().probabilities(images)


def test_members_that_share_a_probe_are_read_together_and_as_if_alone():
    made = small.recipe(evaluation=Evaluation(probe={"name": "analytic"}))
    alone = small.context(made)
    shared, own = Counting(alone.world), Counting(alone.world)
    contexts = [replace(alone, judge=judge, second=None) for judge in (shared, own, shared)]
    contexts[2] = replace(contexts[2], second=own)
    draw = torch.Generator().manual_seed(0)
    sizes = [{"class 00": 2, "class 11": 1500}, {"class 00": 3}, {"other": 4}]
    drawn = [
        {name: torch.rand(n, *alone.world.image_shape, generator=draw) for name, n in of_member.items()}
        for of_member in sizes
    ]
    drawn[0]["class 11"][7, 0, 0, 0] = torch.nan
    found = sights(contexts, drawn)
    assert (shared.passes, own.passes) == (1, 2)
    for context, pictures, (judged, both, second) in zip(contexts, drawn, found):
        expected = read(context.judge, pictures)
        assert list(judged) == list(both) == list(pictures)
        for prompt, tables in expected.items():
            for variable, table in tables.items():
                np.testing.assert_allclose(judged[prompt][variable], table, rtol=1e-4, atol=1e-5)
        assert list(second) == (list(pictures) if context.second else [])
    assert not any(table[7].any() for table in found[0][0]["class 11"].values()), "nothing is read in it"
    assert sights(contexts, [{}, {}, {}]) == [({}, {}, {})] * 3

"""Prompts as a user writes them."""

from __future__ import annotations

import pytest

from conceptlab.errors import InputError
from conceptlab.executors import parse_prompt
from conceptlab.worlds import build


def test_entries_of_the_condition_are_replaced_as_the_network_sees_them():
    world = build("shapes")
    prompt = parse_prompt(world, "000;colour=1,2,-3", 4)
    assert prompt.condition[world.condition_parts["colour"]].tolist() == [1, 2, -3]
    assert len(prompt.condition) == len(world.condition((0, 0, 0)))


@pytest.mark.parametrize(("variable", "count"), [("size", 1), ("colour", 3)])
def test_words_in_place_of_numbers_are_answered_with_as_many_as_there_are(variable, count):
    world = build("shapes")
    with pytest.raises(InputError, match=rf"write numbers, e\.g\. {variable}=[^ ]+ as in 000") as caught:
        parse_prompt(world, f"000;{variable}=red", 1)
    example = str(caught.value).split("e.g. ")[1].split(" ")[0]
    assert example.count(",") == count - 1
    parse_prompt(world, f"000;{example}", 1)


def test_entries_are_replaced_once():
    """Of two lists of numbers neither can be meant more than the other."""
    with pytest.raises(InputError, match=r"^prompt '000;size=1; size=2' gives size twice; leave one of them"):
        parse_prompt(build("shapes"), "000;size=1; size=2", 1)

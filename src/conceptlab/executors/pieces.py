"""A study in pieces, for machines that are lent for minutes: each trains its share of the members to the end."""

from __future__ import annotations

from collections.abc import Sequence

from conceptlab.errors import InputError
from conceptlab.evaluation import evaluation_flops
from conceptlab.recipe import Recipe
from conceptlab.training import cohort_key
from conceptlab.training.cost import training_flops


def parse_piece(text: str) -> tuple[int, int]:
    """`2/5`: the second of five."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise InputError(f"--piece {text}: say which of how many, for example --piece 2/5")
    return int(number), int(count)


def piece(recipes: Sequence[Recipe], number: int, count: int) -> list[Recipe]:
    """The `number`-th of `count` shares of about equal cost.

    It depends on the recipes alone, not on what is done. Those that can train together stay together, since every new
    form of network is compiled anew.
    """
    order = sorted(recipes, key=lambda recipe: (cohort_key(recipe), recipe.hash))
    costs = [training_flops(recipe) + evaluation_flops(recipe) for recipe in order]
    whole, before, found = sum(costs), 0.0, []
    for recipe, cost in zip(order, costs):
        # A recipe belongs to the share in which its middle lies.
        if int((before + cost / 2) / whole * count) == number - 1:
            found.append(recipe)
        before += cost
    return found

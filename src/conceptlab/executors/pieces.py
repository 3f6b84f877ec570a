"""A study in pieces, for machines that are lent for minutes: each trains its share of the members to the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conceptlab.errors import InputError
from conceptlab.evaluation import evaluation_flops
from conceptlab.recipe import Recipe
from conceptlab.training import cohort_key
from conceptlab.training.cost import training_flops


def parse_piece(text: str) -> tuple[int, int]:
    """`2/5`: the second of five."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    number, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= count:
        raise InputError(f"--piece {text}: say which of how many, for example --piece 2/5")
    return number, count


def piece(recipes: Sequence[Recipe], number: int, count: int) -> list[Recipe]:
    """The `number`-th of `count` shares of about equal cost, each of which can be trained from nothing.

    It depends on the recipes alone, not on what is done. What a member is fine-tuned from comes in the same share: the
    machine that trains another may never see its checkpoint. Those that can train together stay together, since every
    new form of network is compiled anew.
    """
    families = sorted(_families(recipes), key=lambda family: (cohort_key(family[0]), family[0].hash))
    costs = [sum(training_flops(r) + evaluation_flops(r) for r in family) for family in families]
    whole, before, found = sum(costs), 0.0, []
    for family, cost in zip(families, costs):
        # A family belongs to the share in which its middle lies.
        if int((before + cost / 2) / whole * count) == number - 1:
            found += family
        before += cost
    return found


def _families(recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Recipes by what they descend from, which leads its family whether or not it was asked for."""
    families: dict[str, dict[str, Recipe]] = {}
    for recipe in recipes:
        line = [recipe]
        while line[0].before is not None:
            line.insert(0, line[0].before)
        families.setdefault(line[0].hash, {}).update({each.hash: each for each in line})
    # Whatever the order they were given in; generations are told apart when they are trained.
    return [
        [family.pop(root), *(family[name] for name in sorted(family))] for root, family in families.items()
    ]

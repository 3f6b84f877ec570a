"""Members of a sweep are told apart in few words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd

from conceptlab.report.setting_labels import setting_labels


def labels(*rows: dict[str, Any]) -> list[str]:
    """Of members with these settings."""
    named = [{"member": str(i), "seed": 0, **row} for i, row in enumerate(rows)]
    members = [SimpleNamespace(id=row["member"]) for row in named]
    found = setting_labels(pd.DataFrame(named, dtype=object), members)  # pyright: ignore[reportArgumentType]
    return [found[member.id] for member in members]


def test_settings_are_told_in_words_and_keep_apart_what_differs():
    found = labels(
        {"train.00": 4, "train.01": None, "start.steps": None, "start.batch": None},
        {"train.00": 4, "train.01": 2, "start.steps": 3, "start.batch": 8,
         "evaluation.measurements": [{"name": "norms"}]},  # what is measured is no setting of the model
        {"train.00": 4, "train.01": 2, "start.steps": 6, "start.batch": 8},
    )  # fmt: skip
    assert found == [
        "train 00: 4",
        "train 00: 4, 01: 2; fine-tuned; start.steps = 3",
        "train 00: 4, 01: 2; fine-tuned; start.steps = 6",
    ]


def test_what_is_hidden_is_told_in_words():
    hidden = {"variable": "colour", "classes": ["00", "01"], "share": 0.25, "value": 0.0}
    assert labels({"masking": []}, {"masking": [hidden]}) == [
        "nothing hidden",
        "colour hidden in 0.25 of 00, 01",
    ]


def test_where_only_seeds_differ_there_is_nothing_to_tell():
    assert labels({}, {"seed": 1}) == ["", ""]


def test_of_one_switch_after_the_other_only_what_is_switched_is_told():
    base = {"batch": 64, "embedding": "frozen", "decay": 0.0, "steps": 500, "told": None}
    switched = [
        {"batch": 32},
        {"embedding": "trained"},
        {"decay": 1e-5, "steps": 400},
        {"told": "class"},
        {"batch": None},
    ]
    found = labels(base, *({**base, **change} for change in switched), {**base, "seed": 1})
    whole = "batch = 64; embedding = frozen; decay = 0; steps = 500"
    assert found == [
        whole,
        "batch = 32",
        "embedding = trained",
        "decay = 1e-05; steps = 400",
        "told = class",
        "batch = default",
        whole,
    ]


def test_a_class_that_one_training_set_lacks_has_no_images_in_it():
    base = {"train.1": 10, "train.2": 10, "network": "unet", "labelled": "one", "rate": 0.1}
    found = labels(base, {**base, "network": "cells"}, {**base, "train.1": 20, "train.2": None})
    assert found[1:] == ["network = cells", "train 1: 20, 2: none"]


def test_two_settings_of_many_keys_are_told_in_full():
    one = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    other = {key: value + 1 for key, value in one.items()}
    assert labels(one, other) == [
        "a = 1; b = 2; c = 3; d = 4; e = 5",
        "a = 2; b = 3; c = 4; d = 5; e = 6",
    ]


def test_members_of_several_worlds_are_told_by_it_and_by_what_differs_within_it():
    circles = {"world.name": "circles", "denoiser.name": "park2024", "batch": 32, "separation": 0.1}
    shapes = {"world.name": "shapes", "denoiser.name": "okawa2023", "batch": 64, "sizes": [0.5, 0.3]}
    found = labels(circles, {**circles, "separation": 0.2}, shapes, {**shapes, "told": "class"})
    assert found == [
        "world.name = circles; separation = 0.1",
        "world.name = circles; separation = 0.2",
        "world.name = shapes",
        "world.name = shapes; told = class",
    ]


def test_long_numbers_are_rounded_unless_that_makes_two_settings_one():
    third = 0.33166666666666667
    assert labels({"shares.00": third, "shares.01": 0.005}, {"shares.00": None, "shares.01": 0.3}) == [
        "shares 00: 0.332, 01: 0.005",
        "shares 01: 0.3",
    ]
    assert labels({"rate": 0.33161}, {"rate": 0.33162}) == ["rate = 0.33161", "rate = 0.33162"]

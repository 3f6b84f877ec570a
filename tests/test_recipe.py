from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conceptlab.cli.settings import parse_settings
from conceptlab.errors import InputError
from conceptlab.recipe import Evaluation, Optimiser, Recipe, flatten

BASE = Recipe(
    train={"000": 10, "100": 10}, world={"name": "shapes", "size": 16}, optimiser=Optimiser(clip=0.01)
)


def test_a_recipe_survives_json():
    again = Recipe.from_dict(json.loads(json.dumps(BASE.to_dict())))
    assert again == BASE or again.to_dict() == BASE.to_dict()
    assert again.hash == BASE.hash


def test_the_hash_covers_differences_only():
    assert BASE.differences() == {
        "train": {"000": 10, "100": 10},
        "world": {"name": "shapes", "size": 16},
        "optimiser": {"clip": 0.01},
    }
    assert BASE.hash == BASE.with_settings({"steps": 1000}).hash
    assert BASE.hash != BASE.with_settings({"steps": 1001}).hash
    assert BASE.hash != BASE.with_settings({"seed": 1}).hash


def test_hashes_never_change():
    """Run folders bear them: another hash would train everything again."""
    assert BASE.hash == "d76dae957a21ba08"
    assert BASE.with_settings({"seed": 7}).hash == "b6101c93fa7c3cda"
    start = BASE.with_settings({"seed": 7}).to_dict()
    tuned = BASE.with_settings({"train": {"011": 3}, "start": start, "data_seed": 0, "keep": [83]})
    assert tuned.hash == "4cbbf95ee2bd195d"


@pytest.mark.parametrize("first", [0, 3])
def test_another_seed_is_the_same_as_written_out(first):
    base = replace(BASE, seed=first)
    for seed in (0, 1, 10_000):
        assert base.with_seed(seed) == replace(BASE, seed=seed)
        assert base.with_seed(seed).hash == replace(BASE, seed=seed).hash
        assert base.with_seed(seed).seedless == replace(BASE, seed=seed).seedless
    assert BASE.seedless != replace(BASE, data_seed=1).seedless
    with pytest.raises(InputError, match="seed is -1"):
        BASE.with_seed(-1)


def test_settings_reach_every_level():
    changed = BASE.with_settings(
        parse_settings(
            [
                "optimiser.learning_rate=0.01",
                "world.size=28",
                "prediction=v",
                "evaluation.ema=true",
                "ema=0.99",
            ]
        )
    )
    assert changed.optimiser.learning_rate == 0.01
    assert changed.world["size"] == 28
    assert changed.prediction == "v"
    assert changed.evaluation.ema is True
    assert changed.ema == 0.99
    assert flatten(changed)["optimiser.clip"] == 0.01


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("stepz=3", "did you mean 'steps'"),
        ("optimiser.rate=3", "learning_rate"),
        ("steps=many", "expected int"),
        ("steps=2.5", "expected int"),
        ("prediction=z", "eps"),
        ("steps", "key=value"),
        ("steps=0", "at least 1"),
        ("evaluation.sampler_steps=0", "at least 1"),
        ("evaluation.shown=-1", "at least 0"),
        ("optimiser.learning_rate=-1", "at least 0"),
        ("optimiser.betas=[0.9, 1.5]", "must be in"),
        ("ema=1.0", "must be in"),
        ("evaluation.ema=true", "needs a moving average; set ema"),
        ("data_noise=0", "at least 1e-06"),
        ("data_noise=1e300", "at most 1000000.0"),
        ("evaluation.images=9223372036854775807", "at most 1099511627776"),
        ("evaluation.final_images=9223372036854775807", "at most 1099511627776"),
        ("optimiser.learning_rate=NaN", "finite"),
        ('shares={"000": "a"}', "expected float"),
        ('train={"000": 1.5}', "expected int"),
        ("evaluation.probe={}", "needs a name"),
        ("world={}", "needs a name"),
        ('masking=[{"variable": "shape", "classes": ["000"], "share": 5}]', "must be in"),
        ('shares={"000": [1e400]}', "finite"),
        ("nothing.here=1", "unknown setting"),
        ("optimiser.betas=[0.9]", r"expected a list: \[float, float\]"),
        ("keep=5", "expected a list, each int"),
        ("evaluation.measurements=accuracy", "expected a list, each a table of settings"),
        ("world=shapes", "expected a table of settings"),
        ("keep=[77]", "the nearest is 83"),
        ("condition_dropout=1.5", "must be in"),
        ("shares.000=-1", "0 or more"),
        ("masking=[{}]", "masking lacks variable, classes, share"),
        (f"optimiser.learning_rate=1{'0' * 400}", "below 2"),
        (f"steps=1{'0' * 5000}", "expected int"),
    ],
)
def test_bad_settings_get_one_line(text, word):
    with pytest.raises(InputError, match=word) as failure:
        BASE.with_settings(parse_settings([text]))
    assert "\n" not in str(failure.value)


def test_of_two_values_for_one_setting_neither_is_meant_more():
    with pytest.raises(InputError, match="steps is given twice"):
        parse_settings(["steps=3", "batch=2", "steps=4"])
    assert parse_settings(["steps=3", "steps=3"]) == {"steps": 3}


def test_evaluation_steps_end_at_the_end():
    even = BASE.with_settings({"steps": 1200})
    assert even.evaluation_steps() == tuple(range(100, 1300, 100))
    square = even.with_settings({"evaluation.spacing": "square", "evaluation.count": 10})
    assert square.evaluation_steps()[0] == 12
    assert square.evaluation_steps()[-1] == 1200
    assert BASE.with_settings({"steps": 3}).evaluation_steps() == (1, 2, 3)


@pytest.mark.parametrize("spacing", ["linear", "square"])
@pytest.mark.parametrize("steps", [1, 2, 7, 30])
def test_more_evaluations_than_steps_are_one_at_every_step(steps, spacing):
    every = tuple(range(1, steps + 1))
    power = 2 if spacing == "square" else 1
    for count in (power * steps, 2 * power * steps + 1):
        spelt_out = {max(1, round(steps * (i / count) ** power)) for i in range(1, count + 1)}
        assert tuple(sorted(spelt_out)) == every
        evaluation = Evaluation(count=count, spacing=spacing)
        assert replace(BASE, steps=steps, evaluation=evaluation).evaluation_steps() == every
    assert (
        replace(BASE, evaluation=Evaluation(count=10**12, spacing=spacing)).evaluation_steps()[-1]
        == BASE.steps
    )

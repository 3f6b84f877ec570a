"""Settings of which nothing sensible can be trained: one line, before a folder is claimed."""

from __future__ import annotations

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.store import Store
from conceptlab.studies import Order, Study, run
from tests.tiny import blank_figure, tiny_recipe

FIGURE = blank_figure(lambda scale, seeds: [tiny_recipe(seed=seed) for seed in seeds])
STUDY = Study("s", "title", "paper", (FIGURE,))


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        (
            {"evaluation.measurements": [{"name": "accuracy"}, {"name": "length", "most": 3}]},
            "needs a world of objects, not 'shapes'",
        ),
        ({"process.gamma": 3}, "unknown setting 'gamma' in process"),
        ({"evaluation.probe.name": "oracle"}, "unknown probe 'oracle'"),
        ({"evaluation.second_probe": {"name": "linear", "steps": -1}}, "setting 'steps' of the probe is -1"),
        ({"denoiser.channels": [4]}, "must be two numbers"),
        ({"data_seed": 2**63}, "seed 9223372036854775808 is out of range"),
        ({"shares": {"000": 1, "110": 1}}, "shares names class 110, which has no training images"),
        ({"masking": [{"variable": "x", "classes": ["000"], "share": 0.5}]}, "'x' in masking"),
        ({"ema": None}, "needs a moving average; set ema"),
        (
            {"process": {"name": "discrete"}, "evaluation.sampler_steps": 1001},
            "1001 sampling steps from a process of 1000",
        ),
        (
            {"process": {"name": "discrete"}, "loss": "bound"},
            "loss 'bound' needs a process in continuous time",
        ),
    ],
)
def test_a_setting_of_which_nothing_can_be_built_is_refused_before_a_folder_is_claimed(
    setting, word, tmp_path
):
    order = Order(STUDY, (FIGURE,), "tiny", (0,), setting)
    with pytest.raises(InputError, match=word):
        run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("others", [[], [{"name": "edges"}]])
def test_a_figure_keeps_the_measurements_that_it_draws(others, tmp_path):
    order = Order(STUDY, (FIGURE,), "tiny", (0,), {"evaluation.measurements": others})
    with pytest.raises(
        InputError, match=r"s\.f needs the measurement 'accuracy', .* add {\"name\": \"accuracy\"}"
    ):
        run(order, Store(tmp_path), torch.device("cpu"), lambda *_: None)
    assert not list(tmp_path.iterdir())
    more = Order(STUDY, (FIGURE,), "tiny", (0,), {"evaluation.measurements": [*others, {"name": "accuracy"}]})
    assert len(more.all_recipes()[0].evaluation.measurements) == len(others) + 1

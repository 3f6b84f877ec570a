"""A member that starts from another needs one with a network like its own."""

from __future__ import annotations

import json

import pytest
import torch

from conceptlab import executors
from conceptlab.cli import main
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.training.cost import check_start
from tests.tiny import tiny_recipe

LEARNED = {"process": {"name": "continuous", "learned": True}, "loss": "bound"}
GROUP = {"denoiser": {"name": "film", "channels": [16, 16], "norm": "group"}}
PLAIN = {"denoiser": {"name": "film", "channels": [16, 16]}}


def tuned(before: Recipe, **changes) -> Recipe:
    return tiny_recipe(start=before.to_dict(), train={"111": 20}, **changes)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (
            tuned(tiny_recipe(denoiser={"name": "film", "channels": [4, 16]})),
            r"shape \(8, .*has one of shape \(4, ",
        ),
        (tuned(tiny_recipe(**PLAIN), **GROUP), "what it starts from has none"),
        (tuned(tiny_recipe(), **LEARNED), r"its 'process\.start' has the shape .* has none"),
        (tuned(tuned(tiny_recipe(**PLAIN), **GROUP), **GROUP), "what it starts from has none"),
    ],
)
def test_another_network_is_refused_before_anything_is_trained(tmp_path, after, said):
    for refuse in (
        lambda: check_start(after),
        lambda: executors.run([after], Store(tmp_path), torch.device("cpu"), lambda members, steps: None),
    ):
        with pytest.raises(InputError, match=said) as caught:
            refuse()
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "members").exists()


def test_a_network_that_has_all_and_more_will_do():
    check_start(tuned(tiny_recipe()))
    check_start(tuned(tiny_recipe(**LEARNED)))


@pytest.mark.parametrize("how", [[], ["--plan"]])
def test_the_command_claims_no_folder_for_it(tmp_path, capsys, how):
    start = json.dumps({"train": {"000": 20}, "denoiser": {"name": "film", "channels": [4, 8]}, "steps": 2})
    out = tmp_path / "runs"
    assert (
        main(["run", "quickstart", "--scale", "tiny", "--set", f"start={start}", "--out", str(out), *how])
        == 2
    )
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert "start: a member cannot be fine-tuned from another network" in told[0]
    assert not out.exists()

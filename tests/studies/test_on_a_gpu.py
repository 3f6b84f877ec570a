"""Whole studies on a GPU: what tests on a CPU cannot see are tensors that meet on two devices."""

from __future__ import annotations

import pytest
import torch

from conceptlab.store import Store
from conceptlab.studies import Order, find, run


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["quickstart", "okawa2023", "park2024", "yang2025", "bradley2025"])
def test_every_figure_with_members_is_made_on_a_gpu(name, tmp_path):
    """In bfloat16, as at `paper` scale; before a study of hours, this takes minutes."""
    study, figures = find(name)
    trained = tuple(figure for figure in figures if figure.recipes("tiny", (0,)))
    order = Order(study, trained, "tiny", (0,), {"precision": "bfloat16"})
    store = Store(tmp_path)
    made = run(order, store, torch.device("cuda"), lambda members, steps: None)
    assert [r.manifest["figure"] for r in made] == [figure.id for figure in trained]
    assert all(r.pictures for r in made)
    assert {store.member(recipe).status for recipe in order.all_recipes()} == {"complete"}

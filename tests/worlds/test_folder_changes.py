"""Data that change while runs rest on them."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.worlds.labelled import _load
from tests.image_folder import everything, opened, write_folder, write_table


def test_changed_data_are_noticed(tmp_path):
    folder = write_folder(tmp_path / "data", everything(4))
    world = opened(folder)
    world.check()
    Image.new("RGB", (16, 16)).save(folder / "pictures" / "000-000.png")
    with pytest.raises(InputError, match="have changed since"):
        world.check()


def test_a_number_is_not_asked_for_by_the_mean_of_other_data(tmp_path):
    """`sample` and `elicit` would ask a model for something else than it was trained with, and so would a machine of a
    cluster with another copy of the data train one."""
    folder = write_folder(tmp_path / "data", everything(4))
    world = opened(folder, "shape", "radius/2", continuous=("radius",))
    table = pd.read_csv(folder / "labels.csv")
    before = world.condition((0, 1))
    write_table(
        folder / "labels.csv", table.assign(radius=table["radius"].replace(table["radius"].max(), 9.0))
    )
    _load.cache_clear()  # another process
    for ask in (lambda: world.condition((0, 1)), lambda: world.sample((0, 1), 1, 0), world.stored):
        with pytest.raises(InputError, match=r"have changed since this run was made; put them back, or"):
            ask()
    write_table(folder / "labels.csv", table)
    _load.cache_clear()
    assert torch.equal(world.condition((0, 1)), before)


def test_data_are_opened_as_they_are_now(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 4, "100": 4})
    before = opened(folder, "shape")
    table = pd.read_csv(folder / "labels.csv")
    write_table(folder / "labels.csv", table[1:])
    after = opened(folder, "shape")
    assert after.fingerprint != before.fingerprint
    assert sum(after.counts().values()) == 7

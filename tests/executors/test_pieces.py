from __future__ import annotations

import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.executors import parse_piece, piece, run
from conceptlab.store import Store
from conceptlab.training import cohort_key
from tests.tiny import tiny_recipe

RECIPES = [tiny_recipe(seed=seed, batch=batch) for seed in range(6) for batch in (8, 16)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12, 20])
def test_pieces_are_a_partition_whatever_the_order(count):
    shares = [piece(RECIPES, number, count) for number in range(1, count + 1)]
    assert sorted(r.hash for share in shares for r in share) == sorted(r.hash for r in RECIPES)
    backwards = [piece(RECIPES[::-1], number, count) for number in range(1, count + 1)]
    assert backwards == shares


def test_costly_members_are_shared_out_and_like_stays_with_like():
    shares = [piece(RECIPES, number, 3) for number in (1, 2, 3)]
    assert max(map(len, shares)) > min(map(len, shares)), "a batch of 16 costs more than one of 8"
    assert sum(len({cohort_key(recipe) for recipe in share}) for share in shares) <= 4


TUNED = [
    tiny_recipe(seed=seed, train={"111": number}, start=before.to_dict(), steps=2)
    for seed in range(4)
    for before in [tiny_recipe(seed=seed)]
    for number in (4, 5, 6)
]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_member_and_what_it_is_fine_tuned_from_share_a_piece(count):
    shares = [piece(TUNED, number, count) for number in range(1, count + 1)]
    hashes = [recipe.hash for share in shares for recipe in share]
    # Four beginnings that nobody asked for, and three that start from each.
    assert len(hashes) == len(set(hashes)) == 16
    for share in shares:
        own = {recipe.hash for recipe in share}
        assert all(recipe.before.hash in own for recipe in share if recipe.before is not None)
    assert [piece(TUNED[::-1], number, count) for number in range(1, count + 1)] == shares


def test_a_piece_with_fine_tuning_trains_from_nothing(tmp_path):
    store, share = Store(tmp_path), piece(TUNED[:1], 1, 1)
    run(share, store, torch.device("cpu"), lambda members, steps: None)
    assert len(share) == 2
    assert {path.name for path in (tmp_path / "members").iterdir()} == {recipe.hash for recipe in share}
    assert all(store.is_done(recipe) for recipe in share)


def test_a_piece_is_named_as_it_is_meant():
    assert parse_piece("2/5") == (2, 5)
    for text in ("0/5", "6/5", "2", "a/b", "2/", "-1/5", "", "1/²", f"1/{'9' * 5000}"):
        with pytest.raises(InputError, match="2/5"):
            parse_piece(text)

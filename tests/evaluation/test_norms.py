"""Norms of members that take turns in one network: what is kept for one must not speak for another."""

from __future__ import annotations

import pytest
import torch

from conceptlab.evaluation import Live, build
from conceptlab.training import Cohort
from tests.evaluation.small import NETWORKS, context, recipe


def rows(cohort: Cohort, index: int, measurement) -> dict[tuple[str, str], float]:
    setting = context(cohort.recipes[index])
    live = Live(setting, 1, "raw", *cohort.member(index), {}, {}, {})
    return {(row.variable, row.measure): row.value for row in measurement.rows(live)}


def fresh():
    return build([{"name": "norms", "batch": 6}])[0]


@pytest.mark.parametrize("network", NETWORKS)
def test_members_in_turn_have_each_their_own_norms(network):
    _in_turn("cpu", network)


@pytest.mark.gpu
@pytest.mark.parametrize("network", NETWORKS)
def test_recorded_norms_are_those_of_each_member(network):
    _in_turn("cuda", network)
    kept, on_cpu = fresh(), fresh()
    cohort, same = (
        Cohort([recipe(denoiser=NETWORKS[network], seed=seed) for seed in (0, 1)], d) for d in ("cuda", "cpu")
    )
    _stir(cohort)
    _stir(same)
    for index in (0, 1, 0):
        assert rows(cohort, index, kept) == pytest.approx(rows(same, index, on_cpu), rel=2e-3)


def _in_turn(device: str, network: str) -> None:
    cohort, kept = Cohort([recipe(denoiser=NETWORKS[network], seed=seed) for seed in (0, 1)], device), fresh()
    _stir(cohort)
    first = [rows(cohort, index, kept) for index in (0, 1)]
    assert all(first[0][name] != first[1][name] for name in first[0])
    # Again, after the other: neither the weights nor the batch of the other may be left.
    assert rows(cohort, 0, kept) == pytest.approx(first[0], rel=1e-6)
    assert rows(cohort, 1, fresh()) == pytest.approx(first[1], rel=1e-6)
    with torch.no_grad():
        cohort.weights[0] *= 2
    doubled = rows(cohort, 0, kept)
    assert doubled["convolutions", "weight_norm"] == pytest.approx(
        2 * first[0]["convolutions", "weight_norm"]
    )
    assert doubled == pytest.approx(rows(cohort, 0, fresh()), rel=1e-6)


def _stir(cohort: Cohort) -> None:
    """At the start the last layer lets no gradient through."""
    noise = torch.randn(cohort.weights.shape, generator=torch.Generator().manual_seed(0))
    cohort.weights += 0.02 * noise.to(cohort.device)

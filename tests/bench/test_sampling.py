from __future__ import annotations

import pytest
import torch

from conceptlab.bench import bench_sample, bench_table, bench_train, case_line, sampling
from conceptlab.errors import InputError


def test_it_compares_in_one_run_and_names_its_ratio(monkeypatch):
    monkeypatch.setattr(sampling, "IMAGES", 1)
    monkeypatch.setitem(sampling.STEPS, "cpu", 1)
    monkeypatch.setitem(sampling.BATCH, "cpu", 9)
    told = []
    found = bench_sample(["quickstart"], [2], torch.device("cpu"), told.append)
    assert [
        vars(case).items() <= known.items() for case, known in zip(told, found["cases"], strict=True)
    ] == [True] * 2
    assert case_line(told[1]).startswith("quickstart, members together, 2 members: ")
    assert [(case["name"], case["members"]) for case in found["cases"]] == [
        ("eager loop", 1),
        ("members together", 2),
    ]
    assert all(case["images_per_s"] > 0 for case in found["cases"])
    assert found["ratio_quickstart_sample_over_eager"] > 0
    assert found["ratio_quickstart_evaluations_over_training"] > 0
    bench_table(found)


def test_an_unknown_network_is_bad_input():
    with pytest.raises(InputError, match="quickstart"):
        bench_sample(["quickstrat"], [1], torch.device("cpu"))


@pytest.mark.parametrize("measure", [bench_sample, bench_train])
def test_no_members_are_bad_input(measure):
    with pytest.raises(InputError, match="--members 0"):
        measure(["quickstart"], [2, 0], torch.device("cpu"))

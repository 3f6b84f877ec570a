"""What cannot fit into memory is refused in one line, before anything is trained; what might is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from conceptlab.errors import InputError, is_out_of_memory, out_of_memory
from conceptlab.executors import check_room, check_seeds, local, room
from conceptlab.executors.room import free_bytes, least_bytes
from conceptlab.training.cost import member_bytes
from tests.tiny import tiny_recipe

CPU, GPU = torch.device("cpu"), torch.device("cuda")
HUGE = 10**12


def evaluated(**changes):
    return replace(tiny_recipe().evaluation, **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"batch": HUGE}, r"for a batch of 1000000000000 images, .* lower batch or world.resolution"),
        ({"train": {"000": HUGE}}, r"for 1000000000000 training images, .* lower train"),
        ({"evaluation": evaluated(images=HUGE)}, r"images of an evaluation, .* lower evaluation.images"),
        ({"evaluation": evaluated(final_images=HUGE)}, r"lower evaluation.final_images"),
        ({"world": {**tiny_recipe().world, "resolution": 10**8}}, r"or world.resolution"),
        ({"denoiser": {"name": "film", "channels": [10**7, 10**7]}}, "the network does not fit .* widths"),
    ],
)
def test_what_cannot_fit_is_refused_with_the_setting_to_lower(changes, said):
    with pytest.raises(InputError, match=said) as refused:
        check_room([tiny_recipe(), tiny_recipe(**changes)], CPU)
    assert "\n" not in str(refused.value)
    assert "GiB are free" in str(refused.value)


def test_what_the_network_takes_is_counted_with_its_batch(monkeypatch):
    recipe = tiny_recipe(batch=10_000)
    least = least_bytes(recipe, CPU)
    assert least < member_bytes(recipe), "an estimate of all that is taken is larger than what is certain"
    monkeypatch.setattr(room, "free_bytes", lambda: least - 1)
    with pytest.raises(
        InputError, match=r"for what the layers give for a batch of 10000 images.*lower batch"
    ):
        check_room([recipe], CPU)
    monkeypatch.setattr(room, "free_bytes", lambda: least)
    check_room([recipe], CPU)


def test_a_gpu_has_memory_of_its_own_for_batches_and_networks(monkeypatch):
    check_room([tiny_recipe(batch=HUGE)], GPU)
    with pytest.raises(InputError, match="training images"):
        check_room([tiny_recipe(train={"000": HUGE})], GPU)


def test_images_that_are_never_drawn_are_not_counted():
    check_room([tiny_recipe(evaluation=evaluated(images=HUGE, final_images=4, count=1))], CPU)
    check_room([tiny_recipe(evaluation=evaluated(images=HUGE, measurements=()))], CPU)


def test_as_many_members_train_at_once_as_there_is_memory_for(monkeypatch):
    recipes = [tiny_recipe(seed=seed) for seed in range(4)]
    least = least_bytes(recipes[0], CPU)
    monkeypatch.setattr(local, "cores", lambda: 3)
    for free, workers in ((HUGE, 3), (2.5 * least, 2), (0.5 * least, 1)):
        monkeypatch.setattr(room, "free_bytes", lambda free=free: free)
        assert local._at_once(recipes) == workers


def test_seeds_without_number_are_refused_before_they_are_counted_out():
    check_seeds(1000)
    with pytest.raises(InputError, match=r"--seeds 1000000000000: .* GiB are free; take fewer"):
        check_seeds(HUGE)


def test_free_memory_is_within_the_limits_of_the_process(monkeypatch, tmp_path):
    assert 0 < free_bytes() < 2**50
    monkeypatch.setattr(room.resource, "getrlimit", lambda _: (12345, 12345))
    assert free_bytes() == 12345
    (tmp_path / "memory.max").write_text("1234\n")
    monkeypatch.setattr(room, "_CONTAINER", tmp_path / "memory.max")
    assert free_bytes() == 1234
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes() == 12345
    monkeypatch.setattr(room, "_MEMINFO", tmp_path / "none")
    assert free_bytes() == 12345


@pytest.mark.parametrize(
    ("error", "amount"),
    [
        (RuntimeError("…: can't allocate memory: you tried to allocate 6000000000 bytes. Error 12"), "5.6 GiB"),
        (MemoryError("Unable to allocate 14.9 GiB for an array with shape (1000000000, 2)"), "14.9 GiB"),
        (torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has …"), "2.00 MiB"),
        (MemoryError(), ""),
    ],
)  # fmt: skip
def test_memory_that_runs_out_is_told_in_one_line(error, amount):
    assert is_out_of_memory(error)
    told = str(out_of_memory(error))
    assert told.startswith(f"memory ran out when {amount} more were" if amount else "memory ran out; ")
    assert "\n" not in told
    assert not is_out_of_memory(RuntimeError("shapes differ"))
    assert not is_out_of_memory(ValueError("out of memory"))

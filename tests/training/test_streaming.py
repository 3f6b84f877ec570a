"""Images that stay on disk train the same model as images in memory."""

from __future__ import annotations

import pytest
import torch

from conceptlab import random
from conceptlab.recipe import Masking
from conceptlab.training import Cohort, TrainingData
from conceptlab.training.data import training_set
from conceptlab.training.streaming import StreamedData
from conceptlab.worlds import DataOptions, open_data
from tests.image_folder import everything, write_folder
from tests.tiny import distance, tiny_recipe

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCEPTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        folder = write_folder(tmp_path_factory.mktemp("own") / "data", everything(20))
        world = open_data(folder, DataOptions(variables=("shape", "size", "colour")))
        yield {"name": world.name, **world.settings}


def recipes(part):
    train = {"000": 8, "001": 6, "110": 12}
    return [
        tiny_recipe(world=part, train=train),
        tiny_recipe(world=part, train=train, seed=1, shares={"000": 3, "110": 1}),
        tiny_recipe(world=part, train={"011": 4}, masking=(Masking("shape", ("011",), 0.5),)),
    ]


def test_mapped_batches_are_those_of_the_data_set(part):
    chosen = recipes(part)
    data = TrainingData.of(chosen, CPU)
    assert data.rows is not None
    assert data.images.dtype == torch.uint8
    keys = torch.stack([random.key(r.seed, "batch") for r in chosen])
    images, conditions = data.batch(random.uniform(keys, (50,)))
    for recipe, own, known, reach in zip(chosen, images, conditions, data.reach):
        samples = training_set(recipe)
        rows = torch.searchsorted(reach, random.uniform(random.key(recipe.seed, "batch"), (50,)), right=True)
        assert torch.equal(own.float() / 255, samples.images[rows])
        assert torch.equal(known, samples.conditions[rows])


def test_streamed_batches_are_the_same_in_any_order_of_steps(part):
    chosen = recipes(part)
    data = TrainingData.of(chosen, CPU)
    keys = torch.stack([random.key(r.seed, "batch") for r in chosen])
    streamed = StreamedData(data, keys, 5, CPU)
    for step in (0, 1, 2, 7, 8, 3):
        streamed.prepare(step)
        uniforms = random.uniform(random.fold(keys, step), (5,))
        for mine, theirs in zip(streamed.batch(uniforms), data.batch(uniforms)):
            assert torch.equal(mine, theirs)


def test_a_streamed_cohort_is_the_plain_one(part):
    chosen = recipes(part)[:2]
    plain, streamed = Cohort(chosen), Cohort(chosen)
    assert isinstance(streamed.data, TrainingData)
    streamed.data = StreamedData(streamed.data, streamed.draws.keys["batch"], streamed.recipe.batch, CPU)
    plain.advance(4)
    for steps in (1, 3):
        streamed.advance(steps)
    assert torch.equal(plain.weights, streamed.weights)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::UserWarning")  # the compiler's advice
def test_on_a_gpu_streamed_and_resident_images_train_the_same_model(part, monkeypatch):
    from conceptlab.training import data

    chosen = recipes(part)[:2]
    resident = Cohort(chosen, "cuda")
    monkeypatch.setattr(data, "room", lambda device: 0)
    streamed = Cohort(chosen, "cuda")
    assert isinstance(streamed.data, StreamedData)
    for cohort in (resident, streamed):
        cohort.advance(5)
    streamed.data.prepare(5)
    for ours, theirs in zip(streamed._draw(), resident._draw()):
        assert torch.equal(ours, theirs)
    # Sums on a GPU are not always taken in the same order.
    assert distance(streamed.weights, resident.weights) <= 1e-4

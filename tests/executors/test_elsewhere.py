"""Training and evaluation keep every tensor on the device they were given, so that they run on a GPU, too."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

from conceptlab.executors import run
from conceptlab.probes import AnalyticProbe, Detector, Fitting, LearnedProbe, Probe
from conceptlab.store import Store
from conceptlab.studies import Order, find
from conceptlab.worlds import build
from tests.elsewhere import Meeting, pretended
from tests.tiny import tiny_recipe

DISCS, CIRCLES = build(name="discs"), build(name="circles")


def test_the_pretended_device_refuses_what_a_gpu_refuses(monkeypatch):
    here = torch.arange(6.0).reshape(2, 3)
    with pretended(monkeypatch) as device:
        there = here.to(device)
        assert there.device == device
        assert (there + 1).cpu().tolist() == (here + 1).tolist()
        assert there[torch.tensor([1])].tolist() == [[3, 4, 5]]
        assert (there * torch.tensor(2.0)).sum() == 30
        there.add_(1)
        assert torch.tensor([1.0], device=device).device == device
        assert there[0, 0].item() == 1, "changed in place"
        assert torch.zeros(2, 3).copy_(there).device == here.device
        for meet in (lambda: there + here, lambda: torch.cat((there, here)), lambda: here[there.long()[0]]):
            with pytest.raises(Meeting):
                meet()
        with pytest.raises(RuntimeError):
            there.numpy()


@pytest.mark.parametrize(
    ("world", "probe"),
    [
        (DISCS, Detector("detector", DISCS.space, DISCS.image_shape, Fitting(), seed=0)),
        (CIRCLES, LearnedProbe("cnn", CIRCLES.space, CIRCLES.image_shape, Fitting(blank=0.1), seed=0)),
        (CIRCLES, AnalyticProbe(CIRCLES)),
    ],
)
def test_probes_read_the_same_elsewhere(world, probe: Probe, monkeypatch):
    images = world.sample(next(iter(world.space)), 5, 0).images
    expected = probe.probabilities(images)
    with pretended(monkeypatch) as device:
        probe.to(device)
        for given in (images, images.to(device)):
            found = probe.probabilities(given)
            assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_member_learns_the_same_elsewhere(tmp_path, monkeypatch):
    recipe = tiny_recipe()
    run([recipe], here := Store(tmp_path / "here"), torch.device("cpu"), lambda members, steps: None)
    with pretended(monkeypatch) as device:
        run([recipe], there := Store(tmp_path / "there"), device, lambda members, steps: None)
    losses = [losses_of(store.member(recipe).metrics) for store in (here, there)]
    assert len(losses[0]) == recipe.evaluation.count
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def losses_of(metrics: pd.DataFrame) -> list[float]:
    return metrics[metrics["measure"] == "loss"]["value"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quickstart", "okawa2023", "park2024", "bradley2025"])
def test_whole_studies_stay_elsewhere(name, tmp_path, monkeypatch):
    """All networks, worlds, probes and measurements of the papers (yang2025's members are park2024's)."""
    study, figures = find(name)
    recipes = Order(study, figures, "tiny", (0,), {}).all_recipes()
    store = Store(tmp_path)
    with pretended(monkeypatch) as device:
        run(recipes, store, device, lambda members, steps: None)
    assert {store.member(recipe).status for recipe in recipes} == {"complete"}

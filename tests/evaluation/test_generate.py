"""Drawing: a member draws what it draws alone, edits and guidance do what they say and nothing else."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from conceptlab.denoisers import Denoiser, register
from conceptlab.evaluation import Guidance, Prompt, class_prompt, draw_one, generate
from conceptlab.evaluation.generate import _batches
from conceptlab.training import Cohort
from tests.evaluation.small import NETWORKS, context, recipe


def cohort(**changes) -> Cohort:
    made = Cohort([recipe(seed=s, **changes) for s in (0, 1)])
    made.advance(3)
    return made


def prompt(name: str, code: str, **changes) -> Prompt:
    """A prompt for a class with the noise of class 11, so that prompts compare image by image."""
    world = context(recipe()).world
    return Prompt(name, world.condition(world.space.parse(code)), 3, stream="11", **changes)


@register("test: layer norm")
class WithLayerNorm(Denoiser):
    """A network with a layer that cannot be stacked: its members run one after another."""

    def __init__(self, image_shape: tuple[int, ...], condition_shape: tuple[int, ...]) -> None:
        super().__init__(image_shape, condition_shape)
        self.condition_embedding = Named(nn.Linear(condition_shape[0], 3))
        self.norm = nn.LayerNorm(3)

    def denoise(self, x: Tensor, time: Tensor, embedding: dict[str, Tensor]) -> Tensor:
        return x * (1 + self.norm(embedding["only"]))[:, :, None, None] + time[:, None, None, None]


class Named(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, condition: Tensor) -> dict[str, Tensor]:
        return {"only": self.layer(condition)}


def test_members_may_ask_for_different_numbers_of_prompts():
    """Those trained on other classes do; each still draws what it draws alone."""
    made = cohort()
    many = [prompt("red", "01"), prompt("away", "11", guidance=Guidance(1.0, torch.zeros(4)))]
    many += [prompt("blue", "11"), replace(prompt("one", "10"), images=1)]
    for asked in ([many, [many[1], many[0]]], [[many[2]], many], [many, []]):
        drawn = generate(made, "raw", asked)
        assert [list(found) for found in drawn] == [[p.name for p in prompts] for prompts in asked]
        for index, prompts in enumerate(asked):
            alone = draw_one(*made.member(index), made.recipes[index], prompts) if prompts else {}
            for name, images in alone.items():
                torch.testing.assert_close(drawn[index][name], images, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("denoiser", [*NETWORKS.values(), {"name": "test: layer norm"}])
@pytest.mark.parametrize("sampler", ["ddim", "ancestral"])
def test_a_member_draws_what_it_draws_alone(denoiser, sampler):
    both = cohort(denoiser=denoiser).recipes
    both = [r.with_settings({"evaluation.sampler": sampler}) for r in both]
    together = Cohort(both)
    together.advance(3)
    asked = [prompt("red", "01"), prompt("blue", "11", guidance=Guidance(1.0, torch.zeros(4)))]
    drawn = generate(together, "raw", [asked, asked])
    for index, made in enumerate(both):
        alone = draw_one(*together.member(index), made, asked)
        assert list(alone) == ["red", "blue"]
        for name, images in alone.items():
            assert images.shape == (3, 3, 16, 16)
            torch.testing.assert_close(drawn[index][name], images, atol=2e-5, rtol=0)
    assert not torch.equal(drawn[0]["red"], drawn[1]["red"])


def test_the_two_halves_make_the_whole_network():
    both = cohort()
    x, time = torch.randn(2, 4, 3, 16, 16), torch.rand(2, 4)
    conditions = torch.rand(2, 4, 4)

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.denoiser, self.process = both.denoiser, both.process

        def forward(self) -> Tensor:
            return self.denoiser(x, time, conditions)

    whole = both.each("raw", Whole())
    for index in (0, 1):
        plain, _ = both.member(index)
        with torch.no_grad():
            halves = plain.denoise(x[index], time[index], plain.embed(conditions[index]))
        torch.testing.assert_close(whole[index], halves, atol=1e-5, rtol=1e-4)


def test_an_edit_replaces_the_embedding_and_nothing_else():
    both = cohort()
    other = prompt("", "00").condition[None]
    asked = [
        prompt("11", "11"),
        prompt("00", "00"),
        prompt("untouched", "11", edit=lambda embed, condition: embed(condition)),
        prompt("swapped", "11", edit=lambda embed, condition: embed(other)),
    ]
    for found in generate(both, "raw", [asked, asked]):
        torch.testing.assert_close(found["untouched"], found["11"])
        torch.testing.assert_close(found["swapped"], found["00"])
        assert (found["11"] - found["00"]).abs().max() > 1e-4


def test_guidance_against_the_same_condition_or_of_no_weight_changes_nothing():
    both = cohort()
    blue = prompt("", "11").condition
    asked = [
        prompt("11", "11"),
        prompt("same", "11", guidance=Guidance(3.0, blue)),
        prompt("none", "11", guidance=Guidance(0.0, prompt("", "00").condition)),
        prompt("real", "11", guidance=Guidance(3.0, prompt("", "00").condition)),
    ]
    for found in generate(both, "raw", [asked, asked]):
        torch.testing.assert_close(found["same"], found["11"], atol=1e-5, rtol=0)
        torch.testing.assert_close(found["none"], found["11"], atol=1e-5, rtol=0)
        assert (found["real"] - found["11"]).abs().max() > 1e-4


def test_noise_follows_the_stream_and_the_number_of_the_image():
    both, setting = cohort(), context(recipe())
    cls = setting.world.space.parse("11")
    few, many = class_prompt(setting, cls, 2), class_prompt(setting, cls, 5)
    short, long = (generate(both, "raw", [[p], [p]])[0]["class 11"] for p in (few, many))
    torch.testing.assert_close(long[:2], short, atol=1e-5, rtol=0)


def test_the_noise_of_a_step_is_not_the_noise_it_starts_from(monkeypatch):
    drawn = []

    def spy(predict, process, prediction, noise, steps, method, draw):
        drawn.extend([noise, *(draw(i) for i in range(steps - 1))])
        return noise

    # By its module: the room exports a function of the same name.
    monkeypatch.setattr(sys.modules["conceptlab.evaluation.generate"], "sample", spy)
    generate(cohort(), "raw", [[prompt("any", "11")]] * 2)
    images = torch.cat(drawn).flatten(2)
    assert len(drawn) == 3
    distinct = {tuple(image.tolist()) for step in images for image in step}
    assert len(distinct) == images.shape[0] * images.shape[1]


def test_batches_hold_every_image_once_and_keep_their_size():
    guided = torch.arange(448) % 7 == 0  # 64 of them
    sizes: dict[bool, int] = {}
    found = list(_batches(guided, 192, sizes))
    assert torch.equal(torch.cat([part for part, _ in found]).sort().values, torch.arange(448))
    assert [(len(part), chunk) for part, chunk in found] == [(192, 192), (192, 192), (64, 64)]
    assert all(len(guided[part].unique()) == 1 for part, _ in found)
    assert {chunk for _, chunk in _batches(torch.zeros(450, dtype=torch.bool), 400, {})} == {225}
    # Later drawings are cut to the size that was recorded; one that does not fill it has its own.
    assert {chunk for _, chunk in _batches(torch.zeros(4320, dtype=torch.bool), 400, sizes)} == {192}
    assert [chunk for _, chunk in _batches(torch.zeros(100, dtype=torch.bool), 400, sizes)] == [100]

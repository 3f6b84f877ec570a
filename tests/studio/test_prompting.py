"""Prompts by hand give the images that the command line gives, and sliders mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from conceptlab import executors
from conceptlab.recipe import Recipe
from conceptlab.store import FigureRun, Member
from conceptlab.studio import prompting
from conceptlab.studio.worker import Cancelled
from conceptlab.worlds import QUICKSTART
from conceptlab.worlds import build as build_world


def silent(done: int, total: int) -> None:
    pass


class Stub(Member):
    """A member that has a recipe and nothing else."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe


def quickstart() -> Stub:
    return Stub(
        Recipe(world={"name": "shapes", **QUICKSTART}, train={"000": 5, "100": 5, "010": 5, "001": 5})
    )


@pytest.mark.parametrize("weights", ["raw", "ema"])
def test_images_are_those_of_the_command_line(run: FigureRun, weights: str) -> None:
    member = run.members[0]
    cls, world, step = (1, 0, 1), member.world, member.checkpoint_steps[0]
    condition = world.condition(cls) * 1.7
    text = prompting.prompt_text(world, cls, condition)
    drawn = prompting.draw(member, step, weights, cls, condition, 3, silent)
    wanted = executors.draw(
        member, [executors.parse_prompt(world, t, 3) for t in ("101", text)], step, weights
    )
    for mine, theirs in zip((drawn.plain, drawn.asked), wanted):
        theirs = (theirs * 255).round().permute(0, 2, 3, 1).numpy()
        # One level: batches of different sizes may add up in another order.
        assert np.abs(mine.astype(int) - theirs).max() <= 1
    assert (drawn.plain != drawn.asked).any()


def test_images_are_read_by_the_probe_that_judged_the_run(run: FigureRun) -> None:
    member = run.members[0]
    cls = (0, 0, 0)
    drawn = prompting.draw(member, 12, "raw", cls, member.world.condition(cls), 4, silent)
    assert drawn.plain_read is not None
    assert drawn.plain_read.images == 4
    assert sum(drawn.plain_read.drawn.values()) == pytest.approx(1)
    # The same prompt from the same noise; the last bits of an image may depend on its place in a batch.
    assert drawn.asked_read is not None
    assert drawn.plain_read.drawn == drawn.asked_read.drawn
    assert drawn.plain_read.coordinates == pytest.approx(drawn.asked_read.coordinates, abs=1e-5)
    assert 0 <= drawn.plain_read.coordinates["size"] <= 1


def test_every_step_is_told_and_can_be_the_last(run: FigureRun) -> None:
    member = run.members[0]
    told: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        prompting.draw(member, 12, "raw", (0, 0, 0), member.world.condition((0, 0, 0)), 2, stop)
    assert told == [(0, 2), (1, 2)]


def test_axes_are_in_the_units_of_the_world() -> None:
    axes = {axis.variable: axis for axis in prompting.axes_of(quickstart())}
    assert axes["colour"].anchors == ((0.6, 0.1, 0.1), (0.1, 0.1, 0.6))
    assert axes["size"].anchors == ((0.6,), (0.38,))
    assert [entry.name for entry in axes["shape"].entries] == ["circle", "triangle"]
    red = axes["colour"].entries[0]
    assert red.trained == pytest.approx((0.0, 0.75), abs=0.03)  # jitter of .15, cut off at 0
    assert red.reach[0] < red.trained[0]
    assert red.reach[1] > red.trained[1]
    assert red.value(red.condition(0.3)) == pytest.approx(0.3)


def test_places_on_an_axis() -> None:
    axes = {axis.variable: axis for axis in prompting.axes_of(quickstart())}
    assert prompting.numbers_at(axes["colour"], 0, 0.0) == [0.6, 0.1, 0.1]
    assert prompting.numbers_at(axes["colour"], 0, 1.0) == [0.1, 0.1, 0.6]
    assert prompting.numbers_at(axes["colour"], 0, 2.0) == [-0.4, 0.1, 1.1]
    three = prompting.Axis("shape", ("a", "b", "c"), (), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    assert prompting.numbers_at(three, 1, 0.0) == [0.5, 0, 0.5]
    assert prompting.numbers_at(three, 1, 2.0) == [-0.5, 2, -0.5]


def test_a_prompt_is_written_as_the_command_line_reads_it() -> None:
    member = quickstart()
    world, axes = member.world, prompting.axes_of(member)
    cls = (1, 1, 0)
    assert prompting.prompt_text(world, cls, world.condition(cls)) == "110"
    colour = next(axis for axis in axes if axis.variable == "colour")
    values = {entry.place: number for entry, number in zip(colour.entries, (0.0, 0.2, 1.2))}
    condition = prompting.condition_from(world, cls, axes, values)
    text = prompting.prompt_text(world, cls, condition)
    assert text.startswith("110;colour=")
    assert torch.allclose(executors.parse_prompt(world, text, 1).condition, condition, atol=1e-3)


def test_the_over_prompts_of_park2024_can_be_reached() -> None:
    world = {"name": "circles", "colour_separation": 0.2, "resolution": 16}
    member = Stub(Recipe(world=world, train={"00": 5, "01": 5, "10": 5}))
    colour = prompting.axes_of(member)[0]
    for entry, wanted in zip(colour.entries, (0.0, 0.0, 1.0)):
        assert entry.reach[0] <= wanted <= entry.reach[1]
    assert build_world(**world).condition_parts["colour"] == slice(0, 3)

"""What every rendered world must keep, and the registry."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.worlds import (
    OKAWA2023,
    OKAWA2023_BACKGROUND,
    QUICKSTART,
    RenderedWorld,
    Samples,
    Shapes,
    World,
    build,
    class_index,
    names,
    register,
)
from conceptlab.worlds.base import check_promises
from conceptlab.worlds.registry import _WORLDS

WORLDS = {
    "quickstart": ("shapes", QUICKSTART),
    "okawa": ("shapes", OKAWA2023),
    "okawa-4": ("shapes", OKAWA2023_BACKGROUND),
    "free-shape": ("shapes", {"variables": ["colour", "size"], "free": ["shape", "background"]}),
    "circles": ("circles", {}),
}


def rendered(name: str, **settings: object) -> RenderedWorld:
    world = build(name, **settings)
    assert isinstance(world, RenderedWorld)
    return world


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> RenderedWorld:
    name, settings = WORLDS[request.param]
    return rendered(name, **settings)


def test_samples_have_the_promised_shapes(world: RenderedWorld) -> None:
    last = world.space.classes[-1]
    samples = world.sample(last, 5, seed=1)
    assert samples.images.shape == (5, *world.image_shape)
    assert samples.images.dtype == samples.conditions.dtype == torch.float32
    assert samples.conditions.shape == (5, *world.condition_shape)
    assert samples.labels.tolist() == [list(last)] * 5
    assert samples.images.min() >= 0
    assert samples.images.max() <= 1
    assert all(len(values) == 5 for values in samples.factors.values())


def test_same_seed_same_draws_and_fewer_are_the_first_of_more(world: RenderedWorld) -> None:
    cls = world.space.classes[1]
    many, few, other = world.sample(cls, 7, 3), world.sample(cls, 4, 3), world.sample(cls, 7, 4)
    assert torch.equal(many.images[:4], few.images)
    assert torch.equal(many.conditions[:4], few.conditions)
    assert not torch.equal(many.images, other.images)


def test_one_seed_changes_only_what_the_class_sets(world: RenderedWorld) -> None:
    base = world.space.classes[0]
    before = world.draw(base, 6, seed=2)
    for place, variable in enumerate(world.space.names):
        flipped = tuple(1 if i == place else value for i, value in enumerate(base))
        after = world.draw(flipped, 6, seed=2)
        changed = {name for name in before if not torch.equal(before[name], after[name])}
        assert changed == {variable}


def test_condition_parts_cover_the_condition_and_carry_the_class(world: RenderedWorld) -> None:
    parts = list(world.condition_parts.values())
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert world.condition_shape == (parts[-1].stop,)
    base = world.space.classes[0]
    for place, variable in enumerate(world.space.names):
        flipped = tuple(1 if i == place else value for i, value in enumerate(base))
        changed = (world.condition(base) != world.condition(flipped)).nonzero()[:, 0].tolist()
        part = world.condition_parts[variable]
        assert changed
        assert all(part.start <= entry < part.stop for entry in changed)


def test_class_condition_is_the_mean_of_the_true_conditions(world: RenderedWorld) -> None:
    for cls in (world.space.classes[0], world.space.classes[-1]):
        conditions = world.sample(cls, 2000, seed=5).conditions
        error = (conditions.mean(0) - world.condition(cls)).abs()
        # Four standard errors, plus what clipping colours at 0 moves: (.05²/2)/.3 = .0042, scaled by 2.8.
        assert (error <= 4 * conditions.std(0) / 2000**0.5 + 0.012).all()


def test_data_set_follows_the_split(world: RenderedWorld) -> None:
    first, last = world.space.classes[0], world.space.classes[-1]
    data = world.dataset(Split(world.space, {first: 3, last: 5}), seed=1)
    index = class_index(world.space, data.labels)
    assert index.tolist() == [0] * 3 + [len(world.space) - 1] * 5
    # Classes share no draws, and a class keeps its images whatever the others.
    assert not torch.equal(data.factors["x"][:3], data.factors["x"][3:6])
    alone = world.dataset(Split(world.space, {last: 4}), seed=1)
    assert torch.equal(alone.images, data.images[3:7])


def test_settings_survive_json(world: RenderedWorld) -> None:
    again = build(world.name, **json.loads(json.dumps(world.settings)))
    assert again == world
    assert hash(again) == hash(world)
    cls = world.space.classes[-1]
    assert torch.equal(again.sample(cls, 2, 0).images, world.sample(cls, 2, 0).images)


def test_rendering_is_a_function_of_each_image_alone(world: RenderedWorld) -> None:
    factors = world.draw(world.space.classes[-1], 6, seed=0)
    whole = world.render(factors)
    one = world.render({name: values[4:5] for name, values in factors.items()})
    assert ((whole[4:5] - one).abs() * 255).max() < 1


def test_split_of_another_space_is_refused() -> None:
    with pytest.raises(InputError, match="the split is over"):
        build("circles").dataset(Split(build("shapes").space, {"000": 1}), 0)


def test_unknown_names_are_one_line_with_a_guess() -> None:
    with pytest.raises(InputError, match="unknown world 'shape'; did you mean 'shapes'"):
        build("shape")
    with pytest.raises(InputError, match="unknown setting 'resolutions' in world 'circles'; did you mean"):
        build("circles", resolutions=3)


def test_a_world_without_a_renderer_plugs_in() -> None:
    @register("test-constant")
    @dataclasses.dataclass(frozen=True)
    class Constant(World):
        level: float = 0.5

        @property
        def space(self):
            return build("circles").space

        @property
        def image_shape(self) -> tuple[int, int, int]:
            return 1, 2, 2

        @property
        def condition_parts(self) -> dict[str, slice]:
            return {"colour": slice(0, 1)}

        def condition(self, cls: tuple[int, ...]) -> torch.Tensor:
            return torch.zeros(1)

        def sample(self, cls: tuple[int, ...], n: int, seed: int) -> Samples:
            images = torch.full((n, 1, 2, 2), self.level)
            return Samples(images, torch.zeros(n, 1), torch.tensor(cls).repeat(n, 1), {})

    try:
        world = build("test-constant", level=0.25)
        assert "test-constant" in names()
        data = world.dataset(Split(world.space, {"00": 2, "11": 1}), 0)
        assert data.images.shape == (3, 1, 2, 2)
        assert data.images.unique().tolist() == [0.25]
        assert world.settings == {"level": 0.25}
    finally:
        del _WORLDS._makers["test-constant"]
    assert Shapes.name == "shapes"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            {"images": lambda images: images[:, :, 1:]},
            "the image has the shape .*, not .* as it says",
        ),
        (
            {"images": lambda images: 255 * images},
            "images go from .*; let render or sample give 0 to 1",
        ),
        ({"images": lambda images: images * float("nan")}, "images go from nan to nan"),
        ({"conditions": lambda conditions: conditions[:, 1:]}, "the condition of an image has the shape"),
        ({"images": lambda images: images.numpy()}, "the image is a ndarray; give a torch tensor of float32"),
        ({"images": lambda images: images.double()}, "the image is a float64 tensor; give a torch tensor"),
        (
            {"conditions": lambda conditions: conditions.numpy()},
            "the condition of an image is a ndarray; give",
        ),
        ({"images": lambda images: images[:1]}, "it gives 1 images where 2 are asked for"),
        ({"conditions": lambda conditions: conditions[:1]}, "it gives 1 conditions where 2 are asked for"),
        (
            {"conditions": lambda conditions: conditions / 0},
            "the condition of an image holds NaN or infinity",
        ),
        (
            {"labels": lambda labels: 1 - labels},
            r"the labels of 2 images of class 00 are \[\[1, 1\], \[1, 1\]\]; give",
        ),
        ({"images": lambda images: images.requires_grad_()}, "the image has a gradient; compute it under"),
    ],
)
def test_a_world_that_breaks_its_promises_is_told_which(monkeypatch, broken, message):
    world = rendered("circles")
    check_promises(world)
    samples = world.sample(world.space.classes[0], 2, seed=0)
    changed = {name: change(getattr(samples, name)) for name, change in broken.items()}
    monkeypatch.setattr(type(world), "sample", lambda *_, **__: dataclasses.replace(samples, **changed))
    with pytest.raises(InputError, match=message):
        check_promises(world)


def test_a_class_that_cannot_be_asked_for_is_named(monkeypatch):
    """Its models would train, draw what is no image, and be judged by that."""
    world = rendered("circles")
    condition = type(world).condition
    last = world.space.classes[-1]
    monkeypatch.setattr(
        type(world),
        "condition",
        lambda self, cls: condition(self, cls) * (float("nan") if cls == last else 1),
    )
    with pytest.raises(
        InputError, match=r"^world 'circles': the condition of class 11 holds NaN or infinity"
    ):
        check_promises(world)


def test_promises_are_kept_by_every_class_and_seed(monkeypatch):
    world = rendered("circles")
    sample = type(world).sample

    def with_noise(self: World, cls: tuple[int, ...], n: int, seed: int) -> Samples:
        drawn = sample(self, cls, n, seed)
        return dataclasses.replace(drawn, images=(drawn.images + 0.1 * torch.rand(1)).clamp(0, 1))

    def with_a_bad_class(self: World, cls: tuple[int, ...], n: int, seed: int) -> Samples:
        drawn = sample(self, cls, n, seed)
        return dataclasses.replace(
            drawn, images=drawn.images * (255 if cls == world.space.classes[-1] else 1)
        )

    def of_which_there_is_one(self: World, cls: tuple[int, ...], n: int, seed: int) -> Samples:
        assert n == 1 or cls == world.space.classes[0]
        return sample(self, cls, n, seed)

    monkeypatch.setattr(type(world), "sample", of_which_there_is_one)
    check_promises(world)
    for broken, message in ((with_noise, "one seed gives two images"), (with_a_bad_class, "images go from")):
        monkeypatch.setattr(type(world), "sample", broken)
        with pytest.raises(InputError, match=message):
            check_promises(world)

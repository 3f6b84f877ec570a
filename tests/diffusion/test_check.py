"""A noise process is tried before anything is trained with it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from conceptlab.diffusion import Continuous, Cosine, Discrete, Process, check_process
from conceptlab.errors import InputError


class Good(Process):
    """As in the book, with gamma from -6 to 8."""

    def gamma(self, t: Tensor) -> Tensor:
        return -6 + 14 * t

    def times(self, uniforms: Tensor) -> Tensor:
        return uniforms

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return 1 - torch.arange(steps, device=device) / steps


class Empty(Process):
    pass


class NoGamma(Process):
    times, sampling_times = Good.times, Good.sampling_times


class Backwards(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return 8 - 14 * t


class Constant(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return 0 * t


class Bent(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return 8 - 40 * (t - 0.8).square()


class Chance(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return -6 + 14 * t + 0.01 * torch.rand(())


class NotANumber(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return torch.log(t - 0.5)


class OneMore(Good):
    """torch.linspace(1, 0, steps + 1), as many samplers have it, would be cut off without a word."""

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return torch.linspace(1, 0, steps + 1, device=device)


class Rising(Good):
    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return (torch.arange(steps, device=device) + 1) / steps


class Counted(Good):
    def times(self, uniforms: Tensor) -> Tensor:
        return (uniforms * 1000).floor()


class Forgotten(Good):
    def network_time(self, t: Tensor) -> Tensor:
        return None  # type: ignore


class Summed(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return super().gamma(t).mean()


class InPlace(Good):
    def gamma(self, t: Tensor) -> Tensor:
        return t.mul_(14).sub_(6)


class Many(Good):
    """Members of a cohort lie along the first axis of its parameters: to sum over a row's knots would be to sum over
    members."""

    def __init__(self) -> None:
        super().__init__()
        self.knots = nn.Parameter(torch.zeros(3))

    def gamma(self, t: Tensor) -> Tensor:
        return super().gamma(t) + self.knots.sum()


class Learned(Good):
    def __init__(self) -> None:
        super().__init__()
        self.width = nn.Parameter(torch.tensor(14.0))

    def gamma(self, t: Tensor) -> Tensor:
        return -6 + self.width.abs() * t


class Sloping(Good):
    """It has kinks, as a schedule between knots does."""

    def gamma(self, t: Tensor) -> Tensor:
        return -6 + 4 * t + 6 * torch.relu(t - 0.5)

    def slope(self, t: Tensor) -> Tensor:
        return 4 + 6 * (t > 0.5)


class Differentiating(Good):
    """It takes the derivative instead of writing it down."""

    def slope(self, t: Tensor) -> Tensor:
        t = t.detach().requires_grad_()
        return torch.autograd.grad(self.gamma(t).sum(), t, create_graph=True)[0]


class Inheriting(Continuous):
    """Its gamma is its own, its slope that of a straight line."""

    def gamma(self, t: Tensor) -> Tensor:
        return -6 + 14 * t.square().square()


class Sinking(Good):
    def slope(self, t: Tensor) -> Tensor:
        return torch.full_like(t, -14.0)


class Lonely(Good):
    def slope(self, t: Tensor) -> Tensor:
        return torch.tensor(14.0)


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize(
    "process", [Good(), Learned(), Continuous(), Continuous(learned=True), Cosine(), Discrete()]
)
def test_what_can_be_trained_with_passes(process, steps):
    before = torch.get_rng_state()
    check_process(process, "mine", steps, "mse")
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("process", "told"),
    [
        (NoGamma(), r"^process 'mine' lacks gamma; define each"),
        (Empty(), r"lacks gamma, times, sampling_times"),
        (Backwards(), r"gamma goes from 8 at time 0 to -6 at 1 and does not grow throughout"),
        (Constant(), r"gamma goes from 0 at time 0 to 0 at 1 and"),
        (Bent(), r"gamma goes from -17\.6 at time 0 to 6\.4 at 1 and"),
        (Chance(), r"draws random numbers that no seed repeats"),
        (NotANumber(), r"gamma gives what is no number \(NaN\)"),
        (OneMore(), r"sampling_times gives the shape \(11,\), not a tensor of shape \(10,\)"),
        (Rising(), r"sampling_times must fall"),
        (Counted(), r"times gives times from 0 to 999; let them lie in 0 to 1"),
        (Forgotten(), r"network_time gives a NoneType, not a tensor of shape"),
        (Summed(), r"gamma gives the shape \(\), not a tensor of shape"),
        (InPlace(), r"changes the times that it is given"),
        (Many(), r"its parameter 'knots' has the shape \(3,\); make it one number"),
    ],
)
def test_what_would_train_something_else_is_refused(process, told):
    with pytest.raises(InputError, match=told):
        check_process(process, "mine", 10, "mse")


def test_what_the_built_in_ones_cannot_is_refused_beforehand():
    """Not by the first step or evaluation, after probes were trained."""
    with pytest.raises(InputError, match=r"11 sampling steps from a process of 10; use at most 10"):
        check_process(Discrete(10, 0.1, 0.9), "discrete", 11, "mse")
    with pytest.raises(InputError, match=r"loss 'bound' needs a process in continuous time"):
        check_process(Discrete(10, 0.1, 0.9), "discrete", 10, "bound")
    check_process(Continuous(), "continuous", 10**12, "bound")


@pytest.mark.parametrize(
    "process", [Sloping(), Differentiating(), Continuous(), Continuous(learned=True), Cosine()]
)
def test_a_slope_that_is_that_of_gamma_passes(process):
    check_process(process, "mine", 10, "bound")


@pytest.mark.parametrize(
    ("process", "told"),
    [
        (
            Inheriting(),
            r"^process 'mine': slope gives 14 at time 0\.5, where gamma grows by 7\.\d+; let slope be",
        ),
        (Sinking(), r"slope gives -14 at time 0\.5, where gamma grows by 14"),
        (Lonely(), r"slope gives the shape \(\), not a tensor of shape \(1, 17\)"),
    ],
)
def test_a_slope_of_another_gamma_is_refused_where_it_weighs(process, told):
    """The bound would be that of neither."""
    check_process(process, "mine", 10, "mse")
    with pytest.raises(InputError, match=told):
        check_process(process, "mine", 10, "bound")

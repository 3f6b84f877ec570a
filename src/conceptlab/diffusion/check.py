"""Whether one can train with a noise process, and draw with it: found out before anything is trained.

Of a process from elsewhere nothing later would tell. One that runs backwards, or that no seed fixes, trains to the end
all the same, and what is drawn with it is judged.
"""

from __future__ import annotations

import torch
from torch import Tensor

from conceptlab.diffusion.process import Process
from conceptlab.errors import InputError

_NEEDED = ("gamma", "times", "sampling_times")
# More steps than a table has noise levels, in little memory. The meta device needs none, but loads torch's compiler.
_MANY = 10**6
# Rounding may take so much from a noise level.
_ROUNDING = 1e-3
# A slope is compared with that between two times so far from each, and may differ by so much of it.
_APART, _SLOPE_ERROR = 0.01, 0.05


def check_process(process: Process, name: str, steps: int, loss: str) -> None:
    """Refuse a process that cannot be trained with by a loss, or drawn with in so many steps."""
    if type(process).__module__.startswith("conceptlab."):
        process.sampling_times(min(steps, _MANY), torch.device("cpu"))
    else:
        _check_own(process, name, steps)
    if loss == "bound":
        _check_slope(process, name)


def _check_own(process: Process, name: str, steps: int) -> None:
    if lacking := [
        method for method in _NEEDED if getattr(type(process), method) is getattr(Process, method)
    ]:
        raise InputError(f"process '{name}' lacks {', '.join(lacking)}; define each in its class")
    for parameter, held in process.named_parameters():
        if held.ndim:  # the first axis is that of a cohort's members, and each would see the others' numbers
            raise InputError(
                f"process '{name}': its parameter '{parameter}' has the shape {tuple(held.shape)}; make it one number, "
                "or several of them, e.g. nn.Parameter(torch.tensor(1.0))"
            )
    uniforms = torch.linspace(0, 1 - 2**-24, 65)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        before = torch.get_rng_state()
        trained = _times(name, "times", process.times(uniforms[None]), (1, len(uniforms)))[0]
        drawn = _times(name, "sampling_times", process.sampling_times(steps, torch.device("cpu")), (steps,))
        levels = torch.cat((trained, drawn)).unique()
        gamma = _numbers(name, "gamma", process.gamma(levels[None]), (1, len(levels)))[0]
        _numbers(name, "network_time", process.network_time(levels[None]), (1, len(levels)))
        if not torch.equal(before, torch.get_rng_state()):
            raise InputError(
                f"process '{name}' draws random numbers that no seed repeats; let it compute from what it is given"
            )
    if uniforms._version or levels._version:  # the network would be told another time than that of its noise
        raise InputError(
            f"process '{name}' changes the times that it is given; compute without changing them in place, e.g. "
            "t = 2 * t instead of t *= 2"
        )
    if not (drawn[1:] < drawn[:-1]).all():
        raise InputError(f"process '{name}': sampling_times must fall, from noise (1) towards the image (0)")
    if not (gamma[1:] >= gamma[:-1] - _ROUNDING).all() or not gamma[-1] > gamma[0]:
        raise InputError(
            f"process '{name}': gamma goes from {gamma[0]:g} at time {levels[0]:g} to {gamma[-1]:g} at {levels[-1]:g} "
            "and does not grow throughout; it is -log of signal over noise, and time runs from the image to noise"
        )


def _check_slope(process: Process, name: str) -> None:
    """The bound weighs every time by the slope: where it is that of another gamma, as an inherited one may be, another
    loss is trained and told."""
    times = torch.linspace(0.1, 0.9, 17)[None]
    # Gradients are on: a slope may be computed by them.
    slope = _numbers(name, "slope", process.slope(times.clone()), tuple(times.shape)).detach()
    rise = ((process.gamma(times + _APART) - process.gamma(times - _APART)) / (2 * _APART)).detach()
    # At most places, not at all: gamma may have kinks.
    if not ((slope - rise).abs() <= _SLOPE_ERROR * rise.abs()).float().mean() > 0.5:
        middle = times.shape[1] // 2
        raise InputError(
            f"process '{name}': slope gives {slope[0, middle]:g} at time 0.5, where gamma grows by "
            f"{rise[0, middle]:g}; let slope be the derivative of gamma, by which loss 'bound' weighs the times"
        )


def _numbers(name: str, method: str, given: object, shape: tuple[int, ...]) -> Tensor:
    """What a method gives for each time."""
    found = (
        f"a {type(given).__name__}" if not isinstance(given, Tensor) else f"the shape {tuple(given.shape)}"
    )
    if not isinstance(given, Tensor) or tuple(given.shape) != shape:
        raise InputError(f"process '{name}': {method} gives {found}, not a tensor of shape {shape}")
    if given.isnan().any():
        raise InputError(f"process '{name}': {method} gives what is no number (NaN)")
    return given


def _times(name: str, method: str, given: object, shape: tuple[int, ...]) -> Tensor:
    times = _numbers(name, method, given, shape)
    if not ((times >= 0) & (times <= 1)).all():
        raise InputError(
            f"process '{name}': {method} gives times from {times.min():g} to {times.max():g}; let them lie in 0 to 1"
        )
    return times

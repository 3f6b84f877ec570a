"""Noise processes: how much of the image is left at each time.

All are variance-preserving: z = alpha x + sigma eps with alpha² + sigma² = 1, described by one number per
time, gamma = -log SNR = log(sigma² / alpha²). Time runs from 0 (data) to 1 (noise).

Kingma, Salimans, Poole, Ho, "Variational diffusion models" (2021): VDM below. Ho, Jain, Abbeel, "Denoising
diffusion probabilistic models" (2020): DDPM below. Nichol, Dhariwal, "Improved denoising diffusion probabilistic
models" (2021): IDDPM below.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from conceptlab.errors import InputError, unknown

# More signal power than this at time 1 and sampling from pure noise starts off the training distribution.
LARGEST_FINAL_SIGNAL = 0.01


class Process(nn.Module):
    """Base class. A subclass says what gamma is, which times are trained on and which are sampled at."""

    def gamma(self, t: Tensor) -> Tensor:
        """-log SNR at times in [0, 1], increasing."""
        raise NotImplementedError

    def slope(self, t: Tensor) -> Tensor:
        """d gamma / dt, the weight of the variational bound."""
        raise InputError(
            "loss 'bound' needs a process in continuous time; use process 'continuous' or loss 'mse'"
        )

    def times(self, uniforms: Tensor) -> Tensor:
        """Training times from numbers in [0, 1)."""
        raise NotImplementedError

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        """The `steps` times at which a sampler evaluates the network, from 1 downwards."""
        raise NotImplementedError

    def network_time(self, t: Tensor) -> Tensor:
        """The time as the network sees it."""
        return t

    def alpha_sigma(self, t: Tensor) -> tuple[Tensor, Tensor]:
        return alpha_sigma(self.gamma(t))


class Continuous(Process):
    """gamma linear in time (VDM Eq. 3–4 with a linear schedule). With `learned`, both ends are parameters.

    A learned schedule is trained by the bound. The network then sees its time on the scale of the first
    schedule, so that the same noise level always looks the same to it.
    """

    def __init__(
        self,
        gamma_min: float = -6.0,
        gamma_max: float = 8.0,
        learned: bool = False,
        allow_signal_at_end: bool = False,
    ) -> None:
        super().__init__()
        if gamma_min >= gamma_max:
            raise InputError(
                f"process 'continuous': gamma_min {gamma_min} must be below gamma_max {gamma_max}"
            )
        _check_end(1 / (1 + math.exp(gamma_max)), allow_signal_at_end, "raise gamma_max")
        self.gamma_min, self.gamma_max = float(gamma_min), float(gamma_max)
        start, width = torch.tensor(self.gamma_min), torch.tensor(self.gamma_max - self.gamma_min)
        if learned:
            self.start, self.width = nn.Parameter(start), nn.Parameter(width)
        else:
            self.register_buffer("start", start, persistent=False)
            self.register_buffer("width", width, persistent=False)

    def gamma(self, t: Tensor) -> Tensor:
        # The absolute value keeps a learned schedule monotone.
        return self.start + self.width.abs() * t

    def slope(self, t: Tensor) -> Tensor:
        return self.width.abs().expand(t.shape)

    def times(self, uniforms: Tensor) -> Tensor:
        return uniforms

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return 1 - torch.arange(steps, device=device) / steps

    def network_time(self, t: Tensor) -> Tensor:
        return (self.gamma(t) - self.gamma_min) / (self.gamma_max - self.gamma_min)


class Cosine(Process):
    """alpha = cos(π u / 2), sigma = sin(π u / 2) (IDDPM Eq. 17), u linear in time between two noise levels.

    Against gamma linear in time it trains and samples more at noise levels near 0, where the image is decided, and
    less where nothing but noise, or nothing but the image, is seen.
    """

    def __init__(
        self, gamma_min: float = -8.0, gamma_max: float = 9.0, allow_signal_at_end: bool = False
    ) -> None:
        super().__init__()
        if gamma_min >= gamma_max:
            raise InputError(f"process 'cosine': gamma_min {gamma_min} must be below gamma_max {gamma_max}")
        _check_end(1 / (1 + math.exp(gamma_max)), allow_signal_at_end, "raise gamma_max")
        self.first, last = (2 / math.pi * math.atan(math.exp(end / 2)) for end in (gamma_min, gamma_max))
        self.width = last - self.first

    def gamma(self, t: Tensor) -> Tensor:
        return 2 * torch.log(torch.tan(math.pi / 2 * (self.first + self.width * t)))

    def slope(self, t: Tensor) -> Tensor:
        return 2 * math.pi * self.width / torch.sin(math.pi * (self.first + self.width * t))

    def times(self, uniforms: Tensor) -> Tensor:
        return uniforms

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        return 1 - torch.arange(steps, device=device) / steps


class Discrete(Process):
    """A table of T noise levels from linearly growing betas (DDPM §4); time is i / T for i = 1…T, 0 is clean."""

    table: Tensor

    def __init__(
        self,
        steps: int = 1000,
        beta_min: float = 1e-4,
        beta_max: float = 0.02,
        allow_signal_at_end: bool = False,
    ) -> None:
        super().__init__()
        if steps < 2 or not 0 < beta_min <= beta_max < 1:
            raise InputError(
                f"process 'discrete': needs steps ≥ 2 and 0 < beta_min ≤ beta_max < 1, "
                f"not steps {steps}, beta_min {beta_min}, beta_max {beta_max}"
            )
        betas = torch.linspace(beta_min, beta_max, steps, dtype=torch.float64)
        log_signal = torch.log1p(-betas).cumsum(0)  # log alpha-bar, DDPM Eq. 4
        _check_end(log_signal[-1].exp().item(), allow_signal_at_end, "raise steps or beta_max")
        noise = torch.log(-torch.expm1(log_signal))
        table = torch.cat((torch.tensor([-math.inf], dtype=torch.float64), noise - log_signal))
        self.steps = steps
        self.register_buffer("table", table.float(), persistent=False)

    def gamma(self, t: Tensor) -> Tensor:
        return self.table[(t * self.steps).round().long()]

    def times(self, uniforms: Tensor) -> Tensor:
        return ((uniforms * self.steps).floor() + 1) / self.steps

    def sampling_times(self, steps: int, device: torch.device) -> Tensor:
        """With fewer steps than the table has, an evenly spaced part of it that includes the last."""
        if steps > self.steps:
            raise InputError(
                f"{steps} sampling steps from a process of {self.steps}; use at most {self.steps}"
            )
        left = steps - torch.arange(steps, device=device)
        return -torch.div(-self.steps * left, steps, rounding_mode="floor") / self.steps


def alpha_sigma(gamma: Tensor) -> tuple[Tensor, Tensor]:
    """VDM Eq. 4: the factors of signal and noise at -log SNR gamma."""
    return torch.sigmoid(-gamma).sqrt(), torch.sigmoid(gamma).sqrt()


def spread(kind: str, uniforms: Tensor) -> Tensor:
    """Independent uniforms (..., B) to B numbers in [0, 1) that cover the interval as `kind` says.

    uniform: as they are; stratified: one in each of B equal parts, independently; antithetic: a comb of B
    equally spaced times with one random offset (VDM App. I.1).
    """
    batch = uniforms.shape[-1]
    index = torch.arange(batch, device=uniforms.device)
    if kind == "uniform":
        return uniforms
    if kind == "stratified":
        spread = (index + uniforms) / batch
    elif kind == "antithetic":
        spread = (uniforms[..., :1] + index / batch) % 1
    else:
        raise unknown("times", kind, ("uniform", "stratified", "antithetic"))
    # Rounding may reach 1, where a table of noise levels would be left.
    return spread.clamp(max=1 - 2**-24)


def _check_end(signal: float, allowed: bool, remedy: str) -> None:
    if signal > LARGEST_FINAL_SIGNAL and not allowed:
        raise InputError(
            f"the process does not end in noise: alpha-bar is {signal:.2g} at time 1, more than "
            f"{LARGEST_FINAL_SIGNAL}; {remedy}, or set allow_signal_at_end=true to keep it"
        )

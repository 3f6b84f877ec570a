"""How local is a learned score? (bradley2025, Sections 3 and 6)

Plain functions of any denoiser at one noise level. They look at its estimate of the clean image, x̂ = E[x | z, c]: the
score is (alpha x̂ - z) / sigma², so off the diagonal its Jacobian is that of x̂ up to a factor, and what is left out is
the same for every model. Distances between pixels are the larger of the two differences, as for convolutions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from conceptlab import random
from conceptlab.denoisers import Denoiser
from conceptlab.diffusion import Process, alpha_sigma, noisy, split

Estimate = Callable[[Tensor, Tensor], Tensor]
"""From noisy images (B, C, H, W) and conditions (B, …) to the clean images a model expects, at one noise level."""


class Level:
    """A denoiser at one noise level, gamma = -log SNR: high above 0, low below."""

    def __init__(self, denoiser: Denoiser, process: Process, prediction: str, gamma: float) -> None:
        self.denoiser, self.prediction = denoiser, prediction
        device = next(denoiser.parameters()).device
        with torch.no_grad():
            self.time = time_at(process, gamma, device)
            self.network_time = process.network_time(self.time)
            self.alpha, self.sigma = alpha_sigma(process.gamma(self.time))

    def noisy(self, images: Tensor, noise: Tensor) -> Tensor:
        """z = alpha x + sigma eps, of images as the network sees them."""
        return noisy(images, noise, self.alpha, self.sigma)

    def __call__(self, z: Tensor, condition: Tensor) -> Tensor:
        output = self.denoiser(z, self.network_time.expand(len(z)), condition).float()
        return split(self.prediction, output, z, self.alpha, self.sigma)[0]


def time_at(process: Process, gamma: float, device: torch.device) -> Tensor:
    """The time whose noise level is nearest; a level beyond the process's own ends is that end."""
    times = torch.linspace(0, 1, 4001, device=device)
    return times[(process.gamma(times) - gamma).abs().nan_to_num(posinf=1e9).argmin()]


# --- which pixels a pixel's score depends on ---


def drawn_places(key: Tensor, n: int, height: int, width: int) -> Tensor:
    """n random pixels (n, 2) as (row, column)."""
    rows, columns = (
        random.integers(random.fold(key, i), (n,), high) for i, high in enumerate((height, width))
    )
    return torch.stack((rows, columns), dim=1)


def pixel_response(estimate: Estimate, z: Tensor, condition: Tensor, places: Tensor) -> Tensor:
    """Σ over channels of (∂ x̂_place / ∂ z_pixel)², (B, H, W), for one place (row, column) in every image.

    It is the variance of x̂ at the place under white noise of unit variance on each pixel."""
    z = z.detach().requires_grad_()
    with torch.enable_grad():
        # One image's estimate depends on that image alone, so a sum over images has all their gradients.
        seen = estimate(z, condition)[torch.arange(len(z)), :, places[:, 0], places[:, 1]].sum(0)
        squares = [torch.autograd.grad(channel, z, retain_graph=True)[0].square().sum(1) for channel in seen]
    return torch.stack(squares).sum(0)


def distance_from(places: Tensor, height: int, width: int) -> Tensor:
    """The distance (n, H, W) of every pixel from each place (n, 2)."""
    rows = (torch.arange(height, device=places.device)[None, :, None] - places[:, 0, None, None]).abs()
    columns = (torch.arange(width, device=places.device)[None, None] - places[:, 1, None, None]).abs()
    return torch.maximum(rows, columns)


def mass_within(response: Tensor, places: Tensor, radii: Sequence[float]) -> list[float]:
    """The share of all response (n, H, W) that lies within each radius of its place."""
    return share_within(response, distance_from(places, *response.shape[1:]), radii)


def share_within(values: Tensor, distance: Tensor, radii: Sequence[float]) -> list[float]:
    """The share of all values whose distance, a tensor of the same shape, is at most each radius; NaN of nothing."""
    whole = values.sum()
    return [float(values[distance <= radius].sum() / whole) for radius in radii]


def pixel_reach(response: Tensor, places: Tensor) -> float:
    """The mean distance of the response from its place, over that of a response equal everywhere: 0 for a network that
    looks at single pixels, 1 for one that averages the image."""
    distance = distance_from(places, *response.shape[1:]).to(response.dtype)
    mean = (response * distance).sum() / response.sum()
    return float(mean / distance.mean())


def offset_map(values: Tensor, places: Tensor, radius: int, shown: Tensor | None = None) -> Tensor:
    """Values (n, H, W) as seen from their places (n, 2), averaged: (2·radius+1, 2·radius+1), row and column offset
    from -radius; NaN where every image ends. `shown` (n, H, W) leaves out all other pixels."""
    height, width = values.shape[1:]
    offsets = torch.arange(-radius, radius + 1, device=values.device)
    rows, columns = places[:, 0, None] + offsets, places[:, 1, None] + offsets
    inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None]
    number = torch.arange(len(values), device=values.device)[:, None, None]
    at = number, rows.clamp(0, height - 1)[:, :, None], columns.clamp(0, width - 1)[:, None]
    inside = inside if shown is None else inside & shown[at]
    seen = values[at]
    return (seen * inside).sum(0) / inside.sum(0)


# --- which conditions it depends on ---


def condition_share(estimate: Estimate, z: Tensor, condition: Tensor) -> float:
    """How much of x̂ the condition decides, and not the noisy image: V_c / (V_c + V_z), the mean squared changes of x̂
    when the condition, or the noisy image, is another image's."""
    with torch.no_grad():
        own = estimate(z, condition)
        other_condition = (own - estimate(z, condition.roll(1, 0))).square().mean()
        other_image = (own - estimate(z.roll(1, 0), condition)).square().mean()
    return float(other_condition / (other_condition + other_image))


def condition_change(estimate: Estimate, z: Tensor, before: Tensor, *after: Tensor) -> Tensor:
    """Mean over channels of |x̂(z, after) - x̂(z, before)|, (B, H, W); of several conditions after one another.

    Each is a batch by itself, as large as that before: batches of other sizes are rounded otherwise, and what a network
    cannot see would seem to change."""
    with torch.no_grad():
        own = estimate(z, before)
        return torch.cat([(estimate(z, other) - own).abs().mean(1) for other in after])


def from_centres(centres: Tensor, height: int, width: int) -> Tensor:
    """The distance (B, H, W) of every pixel's middle from the nearest of an image's centres (B, M, 2), given as (x, y)
    in pixels."""
    across = torch.arange(width, device=centres.device)[None, None] + 0.5 - centres[..., 0, None]
    down = torch.arange(height, device=centres.device)[None, None] + 0.5 - centres[..., 1, None]
    return torch.maximum(down.abs()[..., :, None], across.abs()[..., None, :]).amin(1)


def cells_between(cells: Tensor, count: int, pixels: int) -> Tensor:
    """How many cells (B, H, W) lie between the cell of every pixel and the nearest of an image's cells (B, M, 2), given
    as (x, y) in a grid of `count` each way, of `pixels` each; 0 is the same cell."""
    apart = from_centres(cells.floor() + 0.5, count, count)
    return apart.repeat_interleave(pixels, 1).repeat_interleave(pixels, 2)


def map_from_nearest(values: Tensor, centres: Tensor, radius: int) -> Tensor:
    """An `offset_map` of values (B, H, W) in which every pixel is seen from the nearest of its image's centres
    (B, M, 2) alone, so that what happens at one centre is not shown as far from another."""
    height, width = values.shape[1:]
    end = torch.tensor([height - 1, width - 1], device=values.device)
    pixels = centres.floor().long().flip(2).minimum(end).unbind(1)
    nearest = from_centres(centres, height, width)
    shown = [from_centres(centre, height, width) == nearest for centre in centres.split(1, dim=1)]
    return offset_map(values.repeat(len(pixels), 1, 1), torch.cat(pixels), radius, torch.cat(shown))


def mean_by_distance(values: Tensor, distance: Tensor, edges: Sequence[float]) -> list[float]:
    """The mean of values (B, H, W) over pixels whose distance lies between consecutive edges; NaN where none does."""
    found = []
    for low, high in itertools.pairwise(edges):
        chosen = values[(distance >= low) & (distance < high)]
        found.append(float(chosen.mean()) if len(chosen) else float("nan"))
    return found

"""Conditional projective composition (CPC) and local conditional scores (LCS), exactly (bradley2025, Sections 3–6).

CPC: with disjoint regions M_j of the pixels, one for each condition,

    p(x | c_J) = p(x outside all M_j | nothing) · Π_{j in J} p(x_{M_j} | c_j).

LCS: the score at a pixel of M_j depends on x_{M_j} and c_j alone. Lemma 1 says that CPC implies LCS at every noise
level. Here a CPC distribution is multiplied out into one joint mixture that knows nothing of its factors; that its
score is local is then found out, not put in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from conceptlab.errors import InputError
from conceptlab.theory.mixture import Mixture, product


@dataclass(frozen=True, eq=False)
class Cpc:
    """A background p(x | nothing) over all pixels, and for every condition a region and p(x_region | c_j)."""

    background: Mixture
    regions: tuple[tuple[int, ...], ...]
    parts: tuple[Mixture, ...]

    def __post_init__(self) -> None:
        inside = [pixel for region in self.regions for pixel in region]
        if len(set(inside)) != len(inside) or not set(inside) <= set(range(self.background.dimension)):
            raise InputError(
                f"regions {self.regions} must be disjoint sets of the pixels 0 … {self.background.dimension - 1}"
            )
        if len(self.parts) != len(self.regions):
            raise InputError(f"{len(self.regions)} regions but {len(self.parts)} conditional distributions")
        for region, part in zip(self.regions, self.parts):
            if part.dimension != len(region):
                raise InputError(
                    f"the region {region} has {len(region)} pixels, its distribution {part.dimension}"
                )

    def joint(self, given: Sequence[int]) -> Mixture:
        """p(x | c_J) as one mixture over all pixels; `given` are the numbers of the conditions, in any order."""
        return product(self._factors(given))

    def blocks(self, given: Sequence[int]) -> list[tuple[int, ...]]:
        """The sets of pixels that are independent of each other under these conditions."""
        return [tuple(where) for where, _ in self._factors(given)]

    def _factors(self, given: Sequence[int]) -> list[tuple[Sequence[int], Mixture]]:
        chosen = sorted(set(given))
        factors: list[tuple[Sequence[int], Mixture]] = [(self.regions[j], self.parts[j]) for j in chosen]
        covered = {pixel for region, _ in factors for pixel in region}
        rest = [pixel for pixel in range(self.background.dimension) if pixel not in covered]
        return [*factors, (rest, self.background.marginal(rest))] if rest else factors


def random_cpc(
    seed: int, conditions: int = 3, pixels: int = 3, beyond: int = 2, modes: int = 2, separation: float = 2.0
) -> Cpc:
    """A random CPC distribution: regions of `pixels` pixels and `beyond` pixels that belong to none.

    Modes are equally likely, `separation` apart, with random covariances. The background is independent between
    regions, as composing single-condition scores requires (see `composed_score`).
    """
    generator = torch.Generator().manual_seed(seed)
    regions = tuple(tuple(range(j * pixels, (j + 1) * pixels)) for j in range(conditions))
    sizes = [pixels] * conditions + ([beyond] if beyond else [])
    spread = [_random_mixture(size, 1, 0.0, generator) for size in sizes]
    places = [*regions, tuple(range(conditions * pixels, conditions * pixels + beyond))]
    background = product([(place, part) for place, part in zip(places, spread)])
    parts = tuple(_random_mixture(pixels, modes, separation, generator) for _ in regions)
    return Cpc(background, regions, parts)


def _random_mixture(d: int, modes: int, separation: float, generator: torch.Generator) -> Mixture:
    """Equally likely modes evenly along a random line; covariances of trace .1 d around a random shape."""
    line = torch.randn(d, generator=generator, dtype=torch.float64)
    line = line / line.norm()
    centre = 0.5 * torch.randn(d, generator=generator, dtype=torch.float64)
    offsets = separation * (torch.arange(modes, dtype=torch.float64) - (modes - 1) / 2)
    factor = torch.randn(modes, d, d, generator=generator, dtype=torch.float64)
    shape = factor @ factor.mT / d + torch.eye(d, dtype=torch.float64)
    trace = shape.diagonal(dim1=1, dim2=2).sum(1)
    covariances = 0.1 * d * shape / trace[:, None, None]
    return Mixture(
        torch.full((modes,), 1 / modes, dtype=torch.float64), centre + offsets[:, None] * line, covariances
    )


# --- approximately CPC ---


def couple_modes(cpc: Cpc, given: Sequence[int], epsilon: float) -> Mixture:
    """p(x | c_J) whose conditions agree on their mode with probability epsilon and are independent otherwise.

    Every region by itself keeps its distribution. Modes must be equally likely, and as many for every condition.
    """
    _check_coupling(epsilon)
    chosen = sorted(set(given))
    counts = {len(cpc.parts[j].weights) for j in chosen}
    if len(counts) != 1 or any(cpc.parts[j].weights.std(correction=0) > 1e-12 for j in chosen):
        raise InputError("coupling modes needs conditions with as many modes each, all equally likely")
    joint, modes = cpc.joint(chosen), counts.pop()
    table = joint.weights.reshape([modes] * len(chosen) + [-1])
    rest = table.sum(dim=tuple(range(len(chosen))))
    aligned = torch.zeros_like(table)
    for mode in range(modes):
        aligned[(mode,) * len(chosen)] = rest / modes
    return Mixture(((1 - epsilon) * table + epsilon * aligned).flatten(), joint.means, joint.covariances)


def couple_pixels(cpc: Cpc, given: Sequence[int], epsilon: float) -> Mixture:
    """p(x | c_J) with a Gaussian coupling: whitened, pixel p of one region has the correlation epsilon / (n - 1) with
    pixel p of each of the n - 1 others. Every region by itself keeps its distribution."""
    _check_coupling(epsilon)
    chosen = sorted(set(given))
    joint = cpc.joint(chosen)
    correlation = torch.eye(joint.dimension, dtype=torch.float64)
    for first in chosen:
        for second in chosen:
            if first != second:
                for one, other in zip(cpc.regions[first], cpc.regions[second]):
                    correlation[one, other] = epsilon / (len(chosen) - 1)
    # The factors of a block-diagonal matrix are block-diagonal: blocks stay as they are, only what is between changes.
    factors = torch.linalg.cholesky(joint.covariances)
    return Mixture(joint.weights, joint.means, factors @ correlation @ factors.mT)


def _check_coupling(epsilon: float) -> None:
    if not 0 <= epsilon < 1:
        raise InputError(f"the coupling is {epsilon}; it must be in [0, 1)")


# --- how local a score is ---


def lemma_error(joint: Mixture, blocks: Sequence[Sequence[int]], sigma: float, x: Tensor) -> float:
    """The largest ∂ score_i / ∂ x_j between pixels of different blocks, relative to the largest of all: 0 if LCS."""
    jacobian = joint.score_jacobian(x, sigma).abs()
    return float((jacobian * ~_same_block(joint.dimension, blocks)).max() / jacobian.max())


def _same_block(d: int, blocks: Sequence[Sequence[int]]) -> Tensor:
    number = torch.full((d,), -1)
    for place, block in enumerate(blocks):
        number[list(block)] = place
    return number[:, None] == number


def condition_error(cpc: Cpc, given: Sequence[int], sigma: float, x: Tensor) -> float:
    """The largest change of the score inside a region when another condition is taken away, relative to the largest
    score: the other half of LCS."""
    chosen = sorted(set(given))
    whole = cpc.joint(chosen).score(x, sigma)
    changes = [0.0]
    for removed in chosen:
        fewer = cpc.joint([j for j in chosen if j != removed]).score(x, sigma)
        inside = [pixel for j in chosen if j != removed for pixel in cpc.regions[j]]
        if inside:
            changes.append(float((whole - fewer)[:, inside].abs().max()))
    return max(changes) / float(whole.abs().max())


class LcsError(NamedTuple):
    """Root mean squares over p_sigma and pixels."""

    absolute: float  # of the score: how far it is from the best local one
    relative: float  # to the score itself
    eps: float  # as a network that predicts the noise sees it: sigma times the first


def lcs_error(
    joint: Mixture, blocks: Sequence[Sequence[int]], sigma: float, draws: int = 2000, seed: int = 0
) -> LcsError:
    """The distance of a score from the nearest one in which every block depends on itself alone.

    The nearest in mean square is E[score_i | x_block], and that is the score of the block's own marginal:
    E[∂_i log p(x) | x_block] = ∂_i log p(x_block) for i in the block. So there is nothing to fit.
    """
    x = joint.draw(draws, sigma, seed)
    score = joint.score(x, sigma)
    local = torch.zeros_like(score)
    for block in blocks:
        pixels = list(block)
        local[:, pixels] = joint.marginal(pixels).score(x[:, pixels], sigma)
    error = math.sqrt(float((score - local).square().mean()))
    return LcsError(error, error / math.sqrt(float(score.square().mean())), sigma * error)

"""What a network predicts: the noise (eps), the clean image (x0), or v; and how they turn into each other.

v = alpha eps - sigma x0 (Salimans and Ho, "Progressive distillation", 2022, App. D). With z = alpha x0 +
sigma eps it is a rotation of (x0, eps), so all three carry the same information.

`alpha` and `sigma` have the leading dimensions of the images (one per image) or none (one for all).
"""

from __future__ import annotations

from torch import Tensor

from conceptlab.errors import unknown

KINDS = ("eps", "x0", "v")


def noisy(x0: Tensor, eps: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
    """z = alpha x0 + sigma eps."""
    return per_image(alpha, x0) * x0 + per_image(sigma, x0) * eps


def target(kind: str, x0: Tensor, eps: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
    """What a network of this kind should put out for z = alpha x0 + sigma eps."""
    if kind == "eps":
        return eps
    if kind == "x0":
        return x0
    if kind == "v":
        return per_image(alpha, x0) * eps - per_image(sigma, x0) * x0
    raise unknown("prediction", kind, KINDS)


def split(kind: str, output: Tensor, z: Tensor, alpha: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    """(x0, eps) from a network's output at z, consistent with each other: alpha x0 + sigma eps = z."""
    alpha, sigma = per_image(alpha, z), per_image(sigma, z)
    if kind == "eps":
        return (z - sigma * output) / alpha, output
    if kind == "x0":
        return output, (z - alpha * output) / sigma
    if kind == "v":
        return alpha * z - sigma * output, sigma * z + alpha * output
    raise unknown("prediction", kind, KINDS)


def per_image(factor: Tensor, images: Tensor) -> Tensor:
    """A factor per image, shaped to multiply the images."""
    return factor.reshape(factor.shape + (1,) * (images.ndim - factor.ndim)) if factor.ndim else factor

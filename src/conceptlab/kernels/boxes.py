"""Boxes of images × rows × columns, as the tensor memory accelerator of newer NVIDIA GPUs (Hopper on) fetches them.

Sides of a box are powers of 2. It may stand out over an image's border or a member's last image: the accelerator reads
zeros there and writes nothing, but what stands out is multiplied all the same. So boxes are cut to stand out as little
as can be: 28×28 pixels are 7×7 boxes of 4×4, each of several images.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from conceptlab.kernels.blocks import ceil

descriptor: Any
try:
    from triton.tools.tensor_descriptor import TensorDescriptor as descriptor  # pyright: ignore[reportMissingImports]
except ImportError:  # a CPU build of torch comes without Triton, an old one without descriptors
    descriptor = None

# Steps between rows of what the accelerator reads are whole units of 16 bytes; a side of a box is at most 256.
UNIT, LONGEST = 16, 256


class Box(NamedTuple):
    images: int
    rows: int
    width: int

    def cover(self, images: int, height: int, width: int) -> int:
        """How many boxes cover a member's images."""
        return ceil(images, self.images) * ceil(height, self.rows) * ceil(width, self.width)

    def even(self, images: int, height: int, width: int) -> bool:
        """Does none stand out?"""
        return images % self.images == height % self.rows == width % self.width == 0


def box_of(images: int, height: int, width: int, pixels: int) -> Box | None:
    """A box of so many pixels: of those that stand out least over a member's images the widest, then the highest. None
    where all are too deep for the accelerator."""
    sides = [1 << power for power in range(min(pixels, LONGEST).bit_length())]
    boxes = [
        Box(pixels // (rows * across), rows, across)
        for across in sides
        for rows in sides
        if rows * across <= pixels and across < 2 * width and rows < 2 * height
    ]
    boxes = [box for box in boxes if box.images <= LONGEST]
    return min(boxes, key=lambda box: (box.cover(images, height, width), -box.width, -box.rows), default=None)


def readable(*tensors: Tensor) -> bool:
    """Can the accelerator read them: is there one, and does every row begin at a whole unit?"""
    device = tensors[0].device
    if descriptor is None or device.type != "cuda" or torch.cuda.get_device_capability(device) < (9, 0):
        return False
    return all(
        tensor.data_ptr() % UNIT == 0
        and all(step * tensor.element_size() % UNIT == 0 for step in _steps(tensor))
        for tensor in tensors
    )


def described(images: Tensor, members: int, box: Box, channels: int) -> Any:
    """Images (E·B, C, H, W), channels last, to be read in boxes of so many channels."""
    own = images.unflatten(0, (members, -1)).permute(0, 1, 3, 4, 2)
    return descriptor(own, list(own.shape), list(own.stride()), [1, *box, channels])


def described_taps(taps: Tensor, channels: int, outputs: int) -> Any:
    """Taps (E, 9, C, O), to be read in blocks of one member's and tap's channels × outputs."""
    return descriptor(taps, list(taps.shape), list(taps.stride()), [1, 1, channels, outputs])


def _steps(tensor: Tensor) -> list[int]:
    return [step for step in tensor.stride() if step != 1]

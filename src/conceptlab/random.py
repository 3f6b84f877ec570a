"""Random numbers as a pure function of a key: Threefry-2x32 with 20 rounds, in torch integer operations.

An ordinary generator has a state, so what it draws depends on everything drawn before. Here every number is
computed from (seed, purpose, step, index) alone. A resumed run repeats nothing, a model draws the same noise
alone as among many, and nothing of it needs to be stored in a checkpoint.

A key is a pair of 32-bit words, an int32 tensor of shape (..., 2). Leading dimensions are independent
streams: keys of shape (E, 2) give results of shape (E, *shape), row by row equal to the results of each key
alone. A shorter draw is the beginning of a longer one. Integers agree bit for bit on every device; normals
agree to the last digits of the device's logarithm and cosine.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from conceptlab.errors import InputError

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
# The second counter word keeps derived keys apart from drawn words.
_DRAW, _FOLD = 0, 1


def threefry(key: tuple[Tensor, Tensor], counter: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The block function: two int32 counter words to two random int32 words under a key."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    left, right = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            left = left + right
            right = _rotate_left(right, distance) ^ left
        left = left + keys[(group + 1) % 3]
        right = right + (keys[(group + 2) % 3] + (group + 1))
    return left, right


def key(seed: int, purpose: str) -> Tensor:
    """The key of one purpose ("noise", "times", "batch", …) under a seed."""
    check_seed(seed)
    digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
    words = [seed & 0xFFFFFFFF, seed >> 32, int.from_bytes(digest[:4]), int.from_bytes(digest[4:])]
    low, high, name_low, name_high = torch.tensor([_signed(word) for word in words], dtype=torch.int32)
    return torch.stack(threefry((low, high), (name_low, name_high)))


def check_seed(seed: int) -> None:
    if not 0 <= seed < 2**63:
        raise InputError(f"seed {seed} is out of range; give a whole number from 0 to 2^63 - 1")


def fold(key: Tensor, data: Tensor | int) -> Tensor:
    """A new key from a key and a whole number, for example the step, the layer or the image.

    `data` is an int or an integer tensor that broadcasts with the key's leading dimensions; it may live on
    the device, so that a captured step can count without the host. Only its low 32 bits count. One number
    costs as much as a thousand: a loop folds its steps all at once, `fold(key, torch.arange(steps))`.
    """
    if isinstance(data, int):
        data = torch.full((), _signed(data & 0xFFFFFFFF), dtype=torch.int32, device=key.device)
    domain = torch.full((), _FOLD, dtype=torch.int32, device=key.device)
    return torch.stack(threefry((key[..., 0], key[..., 1]), (data.to(torch.int32), domain)), dim=-1)


def bits(key: Tensor, n: int) -> Tensor:
    """`n` random int32 words per key, all 2^32 values alike: (..., 2) → (..., n)."""
    return _interleave(*_blocks(key, n), n)


def uniform(key: Tensor, shape: Sequence[int]) -> Tensor:
    """float32 in [0, 1), multiples of 2^-24: (..., 2) → (..., *shape), on the key's device."""
    return _shaped(_unit(bits(key, math.prod(shape))), shape)


def normal(key: Tensor, shape: Sequence[int]) -> Tensor:
    """Standard normal float32 by Box and Muller: (..., 2) → (..., *shape), on the key's device."""
    n = math.prod(shape)
    left, right = _blocks(key, n)
    # 1 - u lies in (0, 1], so the logarithm is finite; the largest value is sqrt(48 log 2) = 5.77.
    radius = _unit(left).neg_().log1p_().mul_(-2.0).sqrt_()
    angle = _unit(right).mul_(2 * math.pi)
    return _shaped(_interleave(angle.cos().mul_(radius), angle.sin().mul_(radius), n), shape)


def integers(key: Tensor, shape: Sequence[int], high: int | Tensor) -> Tensor:
    """int64 from 0 to high - 1 (bias below high / 2^32): (..., 2) → (..., *shape).

    `high` may be a tensor with the key's leading dimensions: members with data sets of different sizes.
    """
    words = bits(key, math.prod(shape)).to(torch.int64) & 0xFFFFFFFF
    scale = high[..., None].to(torch.int64) if isinstance(high, Tensor) and high.ndim else high
    return _shaped((words * scale) >> 32, shape)


def _blocks(key: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Enough blocks of two words for `n` words."""
    index = torch.arange((n + 1) // 2, dtype=torch.int32, device=key.device)
    domain = torch.full_like(index, _DRAW)
    return threefry((key[..., 0:1], key[..., 1:2]), (index, domain))


def _interleave(left: Tensor, right: Tensor, n: int) -> Tensor:
    """Words in the order of their blocks, so that a shorter draw begins a longer one."""
    return torch.stack((left, right), dim=-1).flatten(-2)[..., :n]


def _shaped(draws: Tensor, shape: Sequence[int]) -> Tensor:
    return draws.reshape((*draws.shape[:-1], *shape))


def _rotate_left(word: Tensor, distance: int) -> Tensor:
    # `>>` on int32 copies the sign bit, hence the mask. The sum is a left shift and an "or" in one operation.
    carried = (word >> (32 - distance)).bitwise_and_((1 << distance) - 1)
    return torch.add(carried, word, alpha=1 << distance)


def _unit(words: Tensor) -> Tensor:
    # The top 24 bits: every one of these values is exact in float32.
    return ((words >> 8) & 0xFFFFFF).to(torch.float32).mul_(2.0**-24)


def _signed(word: int) -> int:
    """A 32-bit word as the int32 with the same bits."""
    return word - 2**32 if word >= 2**31 else word

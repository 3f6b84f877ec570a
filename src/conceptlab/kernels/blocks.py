"""Sizes of the blocks that programs on a GPU work on."""

from __future__ import annotations


def at_least(size: int) -> int:
    """The smallest power of 2 that is not below a size: what a block's side must be."""
    return 1 << (size - 1).bit_length()


def ceil(size: int, block: int) -> int:
    """How many blocks cover a size."""
    return -(-size // block)

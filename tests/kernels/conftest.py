"""Triton's interpreter knows no machine instructions: there GELU takes its tanh from exponentials."""

from __future__ import annotations

from tests.kernels.agreement import INTERPRETED

if INTERPRETED:
    import triton
    import triton.language as tl

    from conceptlab.kernels import gelu_triton

    @triton.jit
    def tanh(u):
        small = tl.exp(-2.0 * tl.abs(u))
        size = (1.0 - small) / (1.0 + small)
        return tl.where(u < 0, -size, size)

    gelu_triton._tanh = tanh

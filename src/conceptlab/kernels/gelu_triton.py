"""GELU inside other kernels; importing this needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gelu(v, SLOPE: tl.constexpr):
    """GELU, or its slope. The normal distribution as ½(1 + tanh u), u a polynomial fitted to 3e-5; the chip's tanh is
    good to 5e-4, a fraction of what bfloat16 keeps."""
    square = tl.minimum(v * v, 36.0)
    u = v * (0.797507884 + square * (0.0370056461 - 0.000351516799 * square))
    tanh = _tanh(u)
    if SLOPE:
        steep = 0.797507884 + square * (0.1110169383 - 0.001757583995 * square)
        return 0.5 + 0.5 * (tanh + v * steep * (1.0 - tanh * tanh))
    else:
        return 0.5 * v * (1.0 + tanh)


@triton.jit
def _tanh(u):
    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [u], dtype=tl.float32, is_pure=True, pack=1
    )

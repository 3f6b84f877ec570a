"""What torch is kept from on a GPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from conceptlab.training.accelerate import safe_attention


@pytest.fixture(autouse=True)
def as_it_was():
    before = torch.backends.cuda.cudnn_sdp_enabled()
    yield
    torch.backends.cuda.enable_cudnn_sdp(before)


@pytest.mark.parametrize(("device", "left"), [("cpu", True), ("cuda", False)])
def test_attention_of_cudnn_is_left_out_on_a_gpu(device, left):
    torch.backends.cuda.enable_cudnn_sdp(True)
    safe_attention(torch.device(device))
    assert torch.backends.cuda.cudnn_sdp_enabled() is left


@pytest.mark.gpu
@pytest.mark.parametrize("score", [0.0, -60.0, -120.0, -400.0])
def test_gradients_of_attention_are_right_however_low_the_scores(score):
    """Scores that are lower for all keys alike leave the result as it is."""
    safe_attention(torch.device("cuda"))
    generator = torch.Generator().manual_seed(0)
    shape = (2, 4, 64, 64)  # as in park2024: 8×8 positions, four heads of 64
    query, key, value, to_result = (0.1 * torch.randn(shape, generator=generator) for _ in range(4))
    query[..., 0], key[..., 0] = 1.0, score * shape[-1] ** 0.5

    def gradients(device: str, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        leaves = [part.to(device, dtype).requires_grad_() for part in (query, key, value)]
        q, k, v = leaves
        result = F.scaled_dot_product_attention(q, k, v)
        return torch.autograd.grad(result, leaves, to_result.to(device, dtype))

    for found, exact in zip(gradients("cuda", torch.bfloat16), gradients("cpu", torch.float64)):
        assert torch.isfinite(found).all()
        if score == 0.0:  # in bfloat16 scores of hundreds are known to one or two
            assert (found.cpu().double() - exact).norm() < 0.02 * exact.norm()

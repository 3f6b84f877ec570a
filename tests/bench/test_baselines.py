"""The loops that the engine is compared with do what they say for as long as they are called."""

from __future__ import annotations

import gc

import pytest
import torch

from conceptlab.bench.measure import baselines
from conceptlab.bench.training import NETWORKS


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::UserWarning")  # the compiler's advice
def test_a_captured_loop_keeps_what_it_reads():
    """Between two cases of a benchmark everything that nobody holds is given back to the device."""
    step = baselines().careful_loop(NETWORKS["quickstart"])
    gc.collect()
    torch.compiler.reset()
    torch.cuda.empty_cache()
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    model, *_ = step.reads
    assert all(torch.isfinite(weights).all() for weights in model.parameters())

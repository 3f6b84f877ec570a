"""Do the kernels that the papers' networks launch compile for the GPU they are written for?

Triton's interpreter says what kernels compute, but accepts what the compiler refuses. The compiler needs no GPU: here
networks go forth and back on the CPU, every kernel they would launch is compiled for Hopper instead of run, and the
machine code is asked what it takes of a multiprocessor.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from conceptlab.denoisers import build
from conceptlab.kernels import batchnorm, conv3x3, groupnorm
from conceptlab.training import CohortDenoiser
from tests.kernels.agreement import INTERPRETED

if INTERPRETED:
    pytest.skip("an interpreter compiles nothing", allow_module_level=True)
compiler: Any = pytest.importorskip("triton.backends.compiler")
runtime: Any = pytest.importorskip("triton.runtime")

# Of one multiprocessor: bytes of shared memory that a block may have, and registers of all its threads.
SHARED, REGISTERS = 227 * 1024, 64 * 1024

MEMBERS, IMAGES = 2, 16
# The papers' networks, and the shapes of their images and conditions.
NETWORKS: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = {
    "park2024": ({}, (3, 32, 32), (4,)),
    "okawa2023": ({"features": 128}, (3, 28, 28), (6,)),
    "grid_unet": ({}, (3, 64, 64), (1, 16, 16)),
}


class Hopper:
    """What Triton asks of a driver in order to compile."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> Any:
        return compiler.GPUTarget("cuda", 90, 32)


class Code(NamedTuple):
    """A kernel's machine code: its threads, what each keeps in registers and spills, bytes of shared memory."""

    name: str
    threads: int
    registers: int
    spilled: int
    shared: int


@pytest.fixture
def compiled(monkeypatch) -> dict[str, Any]:
    """Kernels that would have been launched, by the hash of their machine code."""
    found: dict[str, Any] = {}
    run = runtime.JITFunction.run

    def compile_only(self: Any, *args: Any, grid: Any, warmup: bool, **form: Any) -> None:
        kernel = run(self, *args, grid=grid, warmup=True, **form)
        found[kernel.hash] = kernel

    monkeypatch.setattr(runtime.JITFunction, "run", compile_only)
    for module in (batchnorm, conv3x3, groupnorm):
        monkeypatch.setattr(module, "available", lambda *_: True)
    monkeypatch.setattr(conv3x3, "readable", lambda *tensors: all(map(_aligned, tensors)))
    monkeypatch.setattr(runtime.driver, "_active", Hopper())
    return found


def _aligned(tensor: Tensor) -> bool:
    return all(step == 1 or step * tensor.element_size() % 16 == 0 for step in tensor.stride())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NETWORKS)
def test_every_kernel_of_a_network_compiles_and_fits(name, compiled, tmp_path):
    launch_all(name, *NETWORKS[name])
    codes = [code_of(kernel, tmp_path) for kernel in compiled.values()]
    assert {"forward_kernel", "weight_kernel", "backward_kernel"} <= {c.name for c in codes}
    assert [c for c in codes if c.shared > SHARED or c.threads * c.registers > REGISTERS] == []
    # More than a few bytes that a thread keeps in memory for want of registers would be fetched in every loop.
    assert [c for c in codes if c.spilled > 16] == []


def launch_all(
    name: str, settings: dict[str, Any], image: tuple[int, ...], condition: tuple[int, ...]
) -> None:
    """Training, forth and back, and drawing."""
    network = build(name, image_shape=image, condition_shape=condition, seed=0, **settings)
    cohort = CohortDenoiser(network)
    state = {
        n: torch.zeros(MEMBERS, *p.shape, dtype=torch.bfloat16, requires_grad=True)
        for n, p in network.named_parameters()
    }
    given = [torch.zeros(MEMBERS, IMAGES, *part, dtype=torch.bfloat16) for part in (image, (), condition)]
    trained = [row for n, row in state.items() if not n.endswith((".mean", ".variance"))]
    y = functional_call(cohort.train(), state, tuple(given))
    torch.autograd.grad(y.sum(), trained, allow_unused=True)
    with torch.no_grad():
        functional_call(cohort.eval(), state, tuple(given))


def code_of(kernel: Any, folder: Path) -> Code:
    binary = folder / "kernel.cubin"
    binary.write_bytes(kernel.asm["cubin"])
    tool = Path(compiler.__file__).parent / "nvidia/bin/cuobjdump"
    command = [str(tool), "--dump-resource-usage", str(binary)]
    line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    used = dict(part.split(":") for part in line.split())
    return Code(
        kernel.metadata.name,
        kernel.metadata.num_warps * 32,
        int(used["REG"]),
        int(used["STACK"]),
        kernel.metadata.shared,
    )

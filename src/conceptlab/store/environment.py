"""On what a member was trained: enough to know whether two results may be compared."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import conceptlab

_PACKAGES = ("torch", "numpy", "scipy", "pandas", "pyarrow", "safetensors")


def environment(device: torch.device, **details: Any) -> dict[str, Any]:
    """Versions, device and commit; `details` adds what the engine knows (members at once, threads)."""
    return {
        "conceptlab": conceptlab.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in _PACKAGES},
        "device": _device_name(device),
        "system": f"{platform.system()} {platform.machine()}",
        **details,
    }


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return f"{device.type} ({platform.processor() or platform.machine()})"


@cache
def _commit() -> str | None:
    """The commit of a source checkout; an installed package has none."""
    here = Path(conceptlab.__file__).parent
    asked = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)
    except OSError:
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None

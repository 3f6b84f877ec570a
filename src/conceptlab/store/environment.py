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
        "commit": commit_of(Path(conceptlab.__file__).parent),
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
def commit_of(package: Path) -> str | None:
    """The commit of a package's source checkout, and whether the package differs from it; an installed one has none."""
    try:
        # An installed package may lie within somebody else's checkout.
        if _git(package, "ls-files", "--error-unmatch", "__init__.py").returncode:
            return None
        head = _git(package, "rev-parse", "--short=12", "HEAD").stdout.strip()
        # Of the package alone: results that are being made beside it are no other code.
        changed = _git(package, "diff", "--quiet", "HEAD", "--", ".").returncode
    except (OSError, subprocess.TimeoutExpired):
        return None
    return head + ("-dirty" if changed else "") if head else None


def _git(folder: Path, *asked: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(folder), *asked], capture_output=True, text=True, timeout=10, check=False
    )

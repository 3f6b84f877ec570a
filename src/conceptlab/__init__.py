"""conceptlab: the laboratory for compositional generalisation and concept learning in diffusion models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conceptlab.store import FigureRun

__version__ = "0.1.0"

__all__ = ["__version__", "load"]


def load(path: Path | str) -> FigureRun:
    """A finished figure: `load("runs/quickstart").members[0].curves()`."""
    # Imported here, so that `import conceptlab` and `conceptlab --help` do not wait for torch.
    from conceptlab.store import load

    return load(path)

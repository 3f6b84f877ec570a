"""How large bradley2025 is at each scale, and what its figures share."""

from __future__ import annotations

PAPER = "bradley2025"

SEEDS = {"tiny": 2, "small": 3, "paper": 5}

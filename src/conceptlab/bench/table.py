"""A benchmark for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table


def bench_table(result: dict[str, Any]) -> Group:
    machine = result["machine"]
    title = f"{machine['device']}, torch {machine['torch']}, {machine['threads']} threads"
    cases = Table(
        "network",
        "case",
        "members",
        result.get("unit", "ms per model-step"),
        "quartiles",
        "n",
        "TFLOP/s",
        "GiB",
        title=title,
    )
    for case in result["cases"]:
        spread = f"{case['low']:.3g} … {case['high']:.3g}"
        numbers = (
            _text(case["ms"]),
            spread,
            str(case["n"]),
            _text(case["tflops"]),
            _text(case["memory_gib"]),
        )
        cases.add_row(case["network"], case["name"], str(case["members"]), *numbers)
    ratios = Table("ratio", "")
    for name, value in result.items():
        if name.startswith("ratio"):
            ratios.add_row(name, f"{value:.3g}")
    return Group(cases, ratios)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"

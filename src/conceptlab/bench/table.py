"""A benchmark for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table

from conceptlab.bench.measure import Case


def case_line(case: Case) -> str:
    """What was just measured, while the rest is."""
    models = "1 member" if case.members == 1 else f"{case.members} members"
    return f"{case.network}, {case.name}, {models}: {case.ms:.3g} ms ({case.low:.3g} … {case.high:.3g}, n = {case.n})"


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

"""The table that `conceptlab elicit` prints: how well each way of asking works, at every kept checkpoint."""

from __future__ import annotations

import math

import pandas as pd
from rich.table import Table

from conceptlab.executors.answer import interval


def ways_table(ways: pd.DataFrame, title: str, *, probes: int = 2) -> Table:
    """A row for each way of asking, with the prompt that won at the last checkpoint."""
    steps = sorted(ways["step"].unique())
    # The judge alone can be told with less than both: another prompt may win by it, and do worse when held out.
    both = (
        "what both probes read as the class (what the judge alone does, where it differs;\n"
        "it chooses its own prompts; 'won by' names those of both)"
    )
    caption = f"held-out accuracy: {both if probes > 1 else 'what the probe reads as the class'}"
    caption += (
        "\nbelow it its 95% interval over the images drawn, each by itself: of this one model, "
        "and no verdict over seeds"
    )
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("way")
    for step in steps:
        table.add_column(f"step {step}", justify="right")
    table.add_column("won by")
    for way, rows in ways.groupby("way", sort=False):
        by_step = rows.set_index("step")
        cells = [_cell(by_step.loc[step]) if step in by_step.index else "" for step in steps]
        table.add_row(str(way), *cells, str(rows.sort_values("step")["prompt"].iloc[-1]))
    return table


def _cell(row: pd.Series) -> str:
    """A share with its interval below it."""
    both, read = f"{row['accuracy']:.2f}", f"{row['read']:.2f}"
    lines = [both, _between(row["accuracy"], row["scored"])]
    if not math.isnan(row["read"]) and read != both:
        lines = [f"{both} ({read})", lines[1], f"({_between(row['read'], row['scored'])})"]
    return "\n".join(lines)


def _between(share: float, images: int) -> str:
    low, high = interval(share, images)
    return f"{low:.2f}–{high:.2f}"

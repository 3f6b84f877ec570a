"""What `conceptlab inspect` prints: the findings in words, variables and combinations as tables."""

from __future__ import annotations

import math

from rich.console import Group
from rich.table import Table
from rich.text import Text

from conceptlab.report.inspection import sentences
from conceptlab.worlds.inspection import Inspection

_MOST_ROWS = 32


def inspection_table(found: Inspection) -> Group:
    """Sentences first; then a row for each value and a row for each combination."""
    told = [Text(f"• {text}") for text in sentences(found)]
    return Group(*told, _values(found), _classes(found))


def _values(found: Inspection) -> Table:
    table = Table(title="variables, in the order expected", title_justify="left")
    for name in ("variable", "signal", "value", "images", "share", "remark"):
        table.add_column(name, justify="right" if name in ("signal", "images", "share") else "left")
    for _, variable in found.variables.sort_values("rank").iterrows():
        signal = f"{variable['signal']:.2g}" if math.isfinite(variable["signal"]) else "–"
        shown = (variable["variable"], signal)
        for _, value in found.values[found.values["variable"] == variable["variable"]].iterrows():
            remark = (
                f"only with {value['tied']}" if value["tied"] else "" if value["alone"] else "never alone"
            )
            table.add_row(*shown, value["value"], str(value["count"]), f"{value['share']:.0%}", remark)
            shown = ("", "")
    return table


def _classes(found: Inspection) -> Table:
    rows = found.classes.sort_values(["distance", "effort", "class"])
    left = len(rows) - _MOST_ROWS
    caption = f"{left} more: --json has them all" if left > 0 else ""
    order = found.world.space.order
    table = Table(
        "class", order, title="combinations", title_justify="left", caption=caption, caption_justify="left"
    )
    for name in ("images", "share", "distance", "effort"):
        table.add_column(name, justify="right")
    for _, row in rows.head(_MOST_ROWS).iterrows():
        effort = "" if row["count"] else "–" if math.isinf(row["effort"]) else f"{row['effort']:.2f}"
        table.add_row(
            row["class"], row["words"], str(row["count"]), f"{row['share']:.1%}", str(row["distance"]), effort
        )
    return table

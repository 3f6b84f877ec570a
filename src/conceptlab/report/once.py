"""What the page carries once and refers to by number: charts and samples that several figures share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from conceptlab.report.charts import Chart
from conceptlab.report.embed import packed
from conceptlab.report.timeline import Timeline


class Once:
    """Collects while a page is written; equal texts get one number."""

    def __init__(self) -> None:
        self._charts: dict[str, int] = {}
        self._frames: dict[str, int] = {}

    def chart(self, chart: Chart) -> int:
        """The number of a chart."""
        text = json.dumps(chart, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return self._charts.setdefault(text, len(self._charts))

    def timelines(self, lines: Sequence[Timeline]) -> list[dict[str, Any]]:
        """Timelines whose frames have the numbers of their pictures."""
        return [
            asdict(line) | {"frames": [{**frame, "src": self._frame(frame["src"])} for frame in line.frames]}
            for line in lines
        ]

    def _frame(self, source: str) -> int:
        return self._frames.setdefault(source, len(self._frames))

    @property
    def charts(self) -> str:
        """All charts, packed together: their numbers and labels repeat from one to the next."""
        return packed("[" + ",".join(self._charts) + "]") if self._charts else ""

    @property
    def frames(self) -> list[str]:
        """The pictures of all timelines."""
        return list(self._frames)

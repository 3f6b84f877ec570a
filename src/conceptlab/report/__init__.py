"""One self-contained HTML page from one or many runs. It opens offline and asks no network for anything."""

from conceptlab.report.page import report

__all__ = ["report"]

"""Run folders: members, studies, tables. Writes are atomic, reads never write, and no pickle is ever loaded."""

from conceptlab.store.environment import environment
from conceptlab.store.member import METRIC_COLUMNS, Member, MemberWriter
from conceptlab.store.runs import FigureRun, Store, find_figures, find_members, gather, load

__all__ = [
    "METRIC_COLUMNS",
    "FigureRun",
    "Member",
    "MemberWriter",
    "Store",
    "environment",
    "find_figures",
    "find_members",
    "gather",
    "load",
]

"""Run folders: members, studies, tables. Writes are atomic, reads never write, and no pickle is ever loaded."""

from conceptlab.store.environment import environment
from conceptlab.store.export import Exported, export
from conceptlab.store.failures import how_it_failed
from conceptlab.store.finding import find_figures, find_members, load
from conceptlab.store.member import METRIC_COLUMNS, Member, MemberWriter, state_steps
from conceptlab.store.runs import FigureRun, Store, gather
from conceptlab.store.signatures import Signature
from conceptlab.store.timing import device_seconds, wall_seconds
from conceptlab.store.unfinished import go_on, has_ended, is_drawn, untrained

__all__ = [
    "METRIC_COLUMNS",
    "Exported",
    "FigureRun",
    "Member",
    "MemberWriter",
    "Signature",
    "Store",
    "device_seconds",
    "environment",
    "export",
    "find_figures",
    "find_members",
    "gather",
    "go_on",
    "has_ended",
    "how_it_failed",
    "is_drawn",
    "load",
    "state_steps",
    "untrained",
    "wall_seconds",
]

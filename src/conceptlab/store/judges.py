"""The probes that judged members, kept with them: members that come later are then judged by the same ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import partial

from conceptlab.store.files import write_atomically
from conceptlab.store.member import Member
from conceptlab.store.runs import Store

_LAST = "validation.json"  # a probe without it counts as not there


def copy_judges(members: Iterable[Member], source: Store, target: Store) -> None:
    """Copy the probes of members from one store to another. One that is there already stays as it is."""
    records = (record for member in members for record in member.probe.values())
    for name in dict.fromkeys(record["probe"] for record in records if "probe" in record):
        here, there = source.probe_path(name), target.probe_path(name)
        if (here / _LAST).exists() and not (there / _LAST).exists():
            for path in sorted(here.glob("[!.]*"), key=lambda path: path.name == _LAST):
                write_atomically(there / path.name, partial(shutil.copyfile, path))

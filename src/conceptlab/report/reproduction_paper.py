"""What REPRODUCTION.md is made from: one paper's figures, verdicts and members at paper scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from conceptlab.claims import Verdict
from conceptlab.store import FigureRun, Member, Store
from conceptlab.studies import Figure, Study


@dataclass
class Paper:
    """One study in a results folder. `earlier` are members that a study above it has accounted for."""

    study: Study
    store: Store
    earlier: set[str] = field(default_factory=set)

    @cached_property
    def runs(self) -> dict[str, FigureRun]:
        """The figures that were run at paper scale, in the study's order."""
        found = {f.id: self.store.figure(self.study.name, "paper", f.id) for f in self.study.figures}
        return {id_: run for id_, run in found.items() if run.is_there}

    @property
    def missing(self) -> list[Figure]:
        return [figure for figure in self.study.figures if figure.id not in self.runs]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return [verdict for run in self.runs.values() for verdict in run.verdicts]

    @cached_property
    def members(self) -> dict[str, dict[str, Member]]:
        """For each figure the members that no figure before it has, with those they started from."""
        known, found = set(self.earlier), dict[str, dict[str, Member]]()
        for id_, run in self.runs.items():
            mine: dict[str, Member] = {}
            for member in run.members:
                mine |= {one.id: one for one in self._with_starts(member) if one.id not in known}
            found[id_] = mine
            known |= set(mine)
        return found

    def _with_starts(self, member: Member) -> Iterable[Member]:
        yield member
        before = member.recipe.before
        if before is not None and self.store.is_done(before):
            yield from self._with_starts(self.store.member(before))

    @property
    def own(self) -> list[Member]:
        return [member for mine in self.members.values() for member in mine.values()]

    @property
    def shared(self) -> int:
        """Members that a study above accounts for."""
        return len({id_ for run in self.runs.values() for id_ in run.manifest["members"]} & self.earlier)

    @property
    def theory_seconds(self) -> float:
        """Figures without members: theory, computed on a CPU."""
        manifests = [run.manifest for run in self.runs.values()]
        return sum(manifest.get("seconds", 0.0) for manifest in manifests if not manifest["members"])


def devices(members: Iterable[Member]) -> list[str]:
    return sorted({str(member.environment.get("device", "an unknown device")) for member in members})

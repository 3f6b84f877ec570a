"""One figure of a report: what its run folder holds, and in sentences what it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conceptlab.claims import Verdict
from conceptlab.errors import InputError
from conceptlab.report.embed import read_picture
from conceptlab.report.training import Training
from conceptlab.store import FigureRun, Signature
from conceptlab.studies import makes_no_claim


class Picture(NamedTuple):
    name: str
    uri: str
    narrow: bool  # as wide as one column of a paper


@dataclass
class FigurePart:
    """One figure on the page. `problems` says what is missing, in sentences."""

    anchor: str
    name: str
    title: str = ""
    manifest: dict[str, Any] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    drawn: list[Path] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    describes: bool = False  # it makes no claim
    training: Training | None = None
    label: str = ""

    @property
    def study(self) -> str:
        return str(self.manifest.get("study", ""))

    @property
    def short(self) -> str:
        """The label under the heading of its study."""
        return self.label.removeprefix(f"{self.study}.")

    @property
    def seeds(self) -> int:
        """Those of its members; theory, also beside members, has what the manifest says."""
        known = {member["seed"] for member in self.training.members} if self.training else {"–"}
        return len(self.manifest.get("seeds", ())) if "–" in known else len(known)


def figure_part(run: FigureRun, anchor: str) -> FigurePart:
    part = FigurePart(anchor, "/".join(run.path.parts[-3:]))
    try:
        part.manifest = run.manifest
        part.name = f"{part.manifest.get('study')}.{part.manifest.get('figure')}"
        part.title = str(part.manifest.get("title") or "")
    except InputError as error:
        part.problems.append(f"This run folder cannot be read: {error}")
        return part
    try:
        part.verdicts = run.verdicts
    except InputError as error:
        part.problems.append(f"The claims cannot be read: {error}")
    else:
        part.describes = not part.verdicts and makes_no_claim(run, part.manifest)
        if not part.verdicts and not part.describes and not run.pictures:
            part.problems.append("No claim has been judged here yet.")
    try:
        part.signatures = run.signatures
    except InputError as error:
        part.problems.append(f"How members failed cannot be told: {error}")
    for picture in run.pictures:
        try:
            read_picture(picture)
            part.drawn.append(picture)
        except InputError as error:
            part.problems.append(f"A picture is missing: {error}.")
    if not run.pictures:
        part.problems.append("The picture has not been drawn yet; the command below continues the run.")
    return part


def label(parts: Sequence[FigurePart]) -> None:
    """A figure goes by its name; where it was run more than once, with its scale and, if need be, a number."""
    names = Counter(part.name for part in parts)
    scaled = Counter((part.name, part.manifest.get("scale")) for part in parts)
    seen: Counter[str] = Counter()
    for part in parts:
        seen[part.name] += 1
        part.label = part.name
        if names[part.name] > 1:
            scale = part.manifest.get("scale")
            part.label += (
                f" · {scale}" if scaled[part.name, scale] == 1 else f" · {scale} ({seen[part.name]})"
            )

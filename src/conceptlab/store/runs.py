"""Where results live: `members/<hash>/` shared by everything, and one folder for each figure that was run.

<out>/members/<hash>/                one trained member (see `member.py`)
<out>/probes/<hash>/                 one trained and validated probe
<out>/<study>/<scale>/<figure>/      manifest.json, claims.json, figures/*.png|.pdf|.csv, tables/*.parquet
<out>/<study>/<scale>/report.html
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from conceptlab.claims import Failures, Verdict, read_claims
from conceptlab.errors import InputError
from conceptlab.plain import flat
from conceptlab.recipe import Recipe, flatten
from conceptlab.store import files
from conceptlab.store.failures import read_failures
from conceptlab.store.manifest import read_manifest
from conceptlab.store.member import Member
from conceptlab.store.signatures import Signature, read_signatures

LOG = logging.getLogger(__name__)

# Hidden files are what a run was writing when it was killed: half a table, or half a picture.
_WHOLE = "[!.]*.{}"


class Store:
    """The folder given by `--out`."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def member_path(self, recipe: Recipe) -> Path:
        return self.root / "members" / recipe.hash

    def member(self, recipe: Recipe) -> Member:
        return Member(self.member_path(recipe))

    def is_done(self, recipe: Recipe) -> bool:
        return (self.member_path(recipe) / "done.json").exists()

    def probe_path(self, hash_: str) -> Path:
        return self.root / "probes" / hash_

    def figure(self, study: str, scale: str, figure: str) -> FigureRun:
        for name in (study, scale, figure):
            if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
                raise InputError(
                    f"{name!r} is no name of a study, scale or figure: letters, digits, '-', '_' and '.'"
                )
        return FigureRun(self.root / study / scale / figure)


@dataclass(frozen=True)
class FigureRun:
    """The folder of one figure: which members it used, its tables, pictures and verdicts."""

    path: Path

    @property
    def store(self) -> Store:
        # A manifest that lies too high for a figure's is no reason to fail.
        return Store(self.path.parents[2] if len(self.path.parents) > 2 else self.path.anchor)

    @property
    def name(self) -> str:
        return f"{self.manifest['study']}.{self.manifest['figure']}"

    @property
    def manifest(self) -> dict[str, Any]:
        return read_manifest(self.path / "manifest.json")

    @property
    def home(self) -> Path:
        """Where the figure of this manifest belongs, beside this one's members; elsewhere lie copies."""
        manifest = self.manifest
        return self.store.root / manifest["study"] / manifest["scale"] / manifest["figure"]

    @property
    def is_there(self) -> bool:
        """Whether this folder holds the figure that its name says, not nothing and not the copy of another."""
        if not (self.path / "manifest.json").exists():
            return False
        if self.home != self.path:
            LOG.warning("left out: %s", elsewhere(self.path, self.home))
        return self.home == self.path

    @contextlib.contextmanager
    def claimed(self, manifest: dict[str, Any]) -> Iterator[None]:
        """Claim the folder and keep it until the end of a run: another configuration is refused before it trains, while
        any number of runs of the same one share it."""
        with contextlib.ExitStack() as until_the_end:
            # Two that come at once look one after the other, and the second finds the first at work.
            with files.locked(self.path, wait=True):
                self.claim(manifest)
                until_the_end.enter_context(files.at_work(self.path))
            yield

    def claim(self, manifest: dict[str, Any]) -> None:
        """Write the manifest; a folder made by another configuration is never taken over. More seeds are the
        same configuration."""
        earlier = self.check(manifest)
        # Running with fewer seeds again looks at a part of what is there; it must not forget the rest.
        if len(earlier) > len(manifest["members"]):
            manifest = self._with_trained(manifest, earlier)
        files.write_json(self.path / "manifest.json", manifest)

    def check(self, manifest: dict[str, Any]) -> list[str]:
        """Refuse what another configuration made or is making; the members that this one had before."""
        if not (self.path / "manifest.json").exists():
            return []
        old, is_being_made = self.manifest, files.is_worked_for(self.path)
        if (
            self._is_bare(old) and not is_being_made
        ):  # a mistake found too late, or a run ended before it began
            return []
        self._refuse_other(old, manifest, is_being_made)
        return old["members"]

    def _with_trained(self, manifest: dict[str, Any], earlier: Sequence[str]) -> dict[str, Any]:
        """With the earlier members that were trained to the end, and their seeds: an abandoned run leaves others."""
        paths = (self.store.root / "members" / id_ for id_ in earlier if id_ not in manifest["members"])
        kept = [Member(path) for path in paths if (path / "done.json").exists()]
        return {
            **manifest,
            "members": [*manifest["members"], *(member.id for member in kept)],
            "seeds": sorted({*manifest["seeds"], *(member.recipe.seed for member in kept)}),
        }

    def finish(self, manifest: dict[str, Any]) -> None:
        """Say of what the figure was made in the end."""
        self._refuse_other(self.manifest, manifest)
        files.write_json(self.path / "manifest.json", manifest)

    def _refuse_other(self, old: dict[str, Any], new: dict[str, Any], is_being_made: bool = False) -> None:
        was, now = (
            {k: manifest.get(k) for k in ("study", "figure", "scale")} | flat(manifest.get("settings") or {})
            for manifest in (old, new)
        )
        if was != now:
            differing = [name for name in {**was, **now} if was.get(name, ...) != now.get(name, ...)]
            other = f"by another configuration ({', '.join(_told(name, was) for name in differing)})"
            if is_being_made:
                raise InputError(
                    f"{self.path} is being made {other} in another process; choose another --out, or end that one first"
                )
            raise InputError(
                f"{self.path} was made {other}, or is being made; choose another --out, or move that folder away if it "
                "was given up: its members stay"
            )

    def _is_bare(self, manifest: dict[str, Any]) -> bool:
        """Is there nothing but the claim: no figure, and no member of it whose training was begun? Another run may be
        training them now."""
        members = (self.store.root / "members" / id_ / "config.json" for id_ in manifest.get("members", []))
        made = [path for path in self.path.iterdir() if not path.name.startswith(".")]
        return [path.name for path in made] == ["manifest.json"] and not any(
            path.exists() for path in members
        )

    @cached_property
    def members(self) -> list[Member]:
        return [Member(self.store.root / "members" / id_) for id_ in self.manifest["members"]]

    @property
    def verdicts(self) -> list[Verdict]:
        """The judged claims of this figure; none before it is finished."""
        path = self.path / "claims.json"
        return read_claims(path) if path.exists() else []

    @property
    def signatures(self) -> list[Signature]:
        """How its members fail, if they do; empty where a study looks for nothing of the kind."""
        return read_signatures(self.manifest, self.path / "manifest.json")

    @property
    def failures(self) -> Failures:
        """Which of its seeds failed, and how."""
        return read_failures(self.store.root / "members", self.manifest)

    @property
    def pictures(self) -> list[Path]:
        return sorted((self.path / "figures").glob(_WHOLE.format("png")))

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables on which it rests; all that were made, or none at all."""
        whole = sorted((self.path / "tables").glob(_WHOLE.format("parquet")))
        paths = {path.stem: path for path in whole}
        if lost := [name for name in self.manifest.get("tables", ()) if name not in paths]:
            raise InputError(
                f"{self.path / 'tables' / lost[0]}.parquet is missing; "
                "the figure's command, with --ready, makes it anew without training"
            )
        return {name: files.read_table(path) for name, path in paths.items()}

    @property
    def metrics(self) -> pd.DataFrame:
        return gather(self.members)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        """In a notebook a figure shows itself as its picture, somewhat larger than in print (220 pixels an inch)."""
        if not self.pictures:
            return None
        try:
            with Image.open(self.pictures[0]) as picture:
                return self.pictures[0].read_bytes(), {"width": round(0.6 * picture.width)}
        except OSError:  # what this raised a notebook would show as a traceback, instead of the figure's name
            LOG.warning("%s is damaged; the figure's command, with --ready, draws it anew", self.pictures[0])
            return None


def elsewhere(path: Path, home: Path) -> str:
    """What is told of a folder that does not lie where it was made."""
    return f"{path} is a copy: by its manifest it belongs in {home}; move it away"


def _told(name: str, settings: dict[str, Any]) -> str:
    """A setting as it was; the hash of the data says nothing to anybody but that they were others."""
    if name == "world.fingerprint":
        return "other images or labels"
    return f"{name}={settings[name]}" if name in settings else f"{name} not set"


def gather(members: Sequence[Member]) -> pd.DataFrame:
    """The metrics of several members in one table, with `member`, `seed`, `distance` of the class from training,
    and a column for each setting in which the members differ."""
    settings_of = [flatten(member.recipe) for member in members]
    keys = sorted({key for settings in settings_of for key in settings})
    varying = [
        k for k in keys if k != "seed" and len({repr(settings.get(k)) for settings in settings_of}) > 1
    ]
    tables = []
    for member, settings in zip(members, settings_of):
        table = member.metrics
        table.insert(0, "member", member.id)
        table.insert(1, "seed", member.recipe.seed)
        space, split = member.world.space, member.split
        distance = {space.code(cls): split.distance(cls) for cls in space}
        table["distance"] = table["class"].map(distance)
        for key in varying:
            table[key] = [settings.get(key)] * len(table)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

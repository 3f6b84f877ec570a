"""A study is a paper made runnable: named figures, each with the members it needs, its tables, its drawing and its
claims. Figures are declarations; `run.py` is the only place where anything happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure as Picture

from conceptlab.claims import Claim
from conceptlab.errors import unknown
from conceptlab.recipe import Recipe
from conceptlab.store import Member, Signature, gather

Scale = Literal["tiny", "small", "paper"]
SCALES: tuple[Scale, ...] = ("tiny", "small", "paper")
Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Results:
    """What a figure draws from: its finished members and how it was run."""

    members: Sequence[Member]
    scale: Scale
    seeds: Sequence[int]

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """All metrics of all members, with `member`, `seed`, `distance` and every setting that differs."""
        return gather(self.members)


@dataclass(frozen=True)
class Figure:
    """One figure of a study.

    `recipes(scale, seeds)` is a pure function: figures that ask for equal recipes share the trained members.
    `tables` turns results into the tables behind the picture; claims are judged on these alone, so that verdicts
    and reports need no retraining.
    """

    id: str
    title: str
    shows: str
    tables: Callable[[Results], dict[str, pd.DataFrame]]
    draw: Callable[[Results, Tables], Picture]
    recipes: Callable[[Scale, Sequence[int]], list[Recipe]] = field(default=lambda scale, seeds: [])
    claims: tuple[Claim, ...] = ()
    # Settings that only the user can give, with how to: such a figure runs when it is named, not with its study.
    needs: Mapping[str, str] = field(default_factory=dict)
    # Measures that it draws and that members of an earlier version may lack: from those it cannot be made.
    measures: tuple[str, ...] = ()
    # Whether it reads what every member drew last: exported results keep samples of a few members only.
    samples: bool = False
    # How many seeds it takes at a scale unless told, where not as many as its study: large sweeps take fewer.
    seeds: Mapping[str, int] = field(default_factory=dict)

    def claims_at(self, scale: str) -> tuple[Claim, ...]:
        """The claims that are asked at a scale."""
        return tuple(claim for claim in self.claims if scale in claim.scales)


@dataclass(frozen=True)
class Study:
    """A paper: its figures, and how many seeds each scale takes by default."""

    name: str
    title: str
    paper: str
    figures: tuple[Figure, ...]
    seeds: Mapping[str, int] = field(default_factory=lambda: {"tiny": 2, "small": 4, "paper": 5})
    # Of a study made for one user's data: the words of its command, and what tells it from another such study.
    options: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    # What its user might not have thought of, told before anything is trained.
    notes: tuple[str, ...] = ()
    # How members failed, if they did, as the tables of a figure tell: printed and reported beside its claims.
    signatures: Callable[[Tables], list[Signature]] = lambda tables: []

    def figure(self, id_: str) -> Figure:
        for figure in self.figures:
            if figure.id == id_:
                return figure
        raise unknown("figure", id_, [figure.id for figure in self.figures], where=f"study {self.name}")

    def seeds_of(self, figure: Figure, scale: Scale) -> tuple[int, ...]:
        """The seeds of a figure unless told: 0, 1, 2, …, so that figures with fewer share theirs with the others."""
        return tuple(range(figure.seeds.get(scale, self.seeds[scale])))

    @property
    def claims(self) -> list[Claim]:
        return [claim for figure in self.figures for claim in figure.claims]

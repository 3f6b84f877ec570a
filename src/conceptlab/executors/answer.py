"""What was found by asking a model for a class in many ways, and what that says.

Every share is one of a few images that one model drew, so it has an interval over images: what lies on both sides of
`CAN` is not said to be on one of them. Whether models do so in general is for seeds to say, and for claims.

That a model can is said of the best of several ways of asking, and the best of several lies above the line by chance
more often than any one. So among k ways each must pass at a level of 5 %/k (Bonferroni: ways share their noise, and it
holds however they depend on each other). What a model does, asked plainly, is one question and needs no such care.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from conceptlab.claims import share_interval
from conceptlab.measures import drawing_since, emergence_time

CAN = 0.5
"""The held-out accuracy from which a model counts as capable (park2024, Fig. 3)."""
ORDINARY = "redraws"
_LEVEL = 0.05
_ENOUGH = 32


def interval(share: float, images: int, among: int = 1) -> tuple[float, float]:
    """The 95 % interval of a share of images, of which a few may be fractions: where prompts tie, it is their mean.
    `among` several shares, of which one is picked out, the intervals of all hold together."""
    return share_interval(min(share, 1.0) * images, images, _LEVEL / among)


def share_text(share: float, images: int, among: int = 1) -> str:
    low, high = interval(share, images, among)
    widened = f", widened for a choice among {among} ways" if among > 1 else ""
    return f"{share:.0%} ({100 * low:.0f} … {high:.0%}{widened})"


def _side(share: float, images: int, among: int = 1) -> bool | None:
    """Whether a share is at least `CAN`; None where its interval lies on both sides."""
    low, high = interval(share, images, among)
    return True if low >= CAN else False if high < CAN else None


@dataclass(frozen=True)
class Elicitation:
    """What was found: `ways` has a row for each kept checkpoint and way of asking, with its `accuracy` by both probes,
    what the judge alone `read`, and how many images were `scored`; `images` a row of pictures for each of `shown`, from
    the last checkpoint. `seen` is how well training classes were drawn while the model trained."""

    code: str
    ways: pd.DataFrame
    trained: pd.DataFrame
    seen: pd.DataFrame
    images: Tensor
    shown: list[str]

    @property
    def last(self) -> pd.DataFrame:
        """The ways of asking the last checkpoint, best first."""
        now = self.ways[self.ways["step"] == self.ways["step"].max()]
        return now.sort_values("accuracy", ascending=False)

    @property
    def sentence(self) -> str:
        if not self.draws_since <= self.ways["step"].max():
            return self._unready
        among = len(self.last)
        sides = [_side(*row, among) for row in zip(self.last["accuracy"], self.last["scored"])]
        asked = self.last[self.last["way"] == ORDINARY].iloc[0]
        does, plainly = _side(asked["read"], asked["scored"]), self._plainly(asked)
        if does:
            return f"It can and does: {plainly}, {self.since(ORDINARY)}."
        if True in sides:
            won = self.last.iloc[sides.index(True)]
            share = share_text(won["accuracy"], won["scored"], among)
            how = f"{plainly}, by {won['way']} ({won['prompt']}) in {share}, {self.since(str(won['way']))}."
            if does is False:
                return f"It can, but does not: {how}"
            return f"It can; whether it does cannot be told: {how}{self._more(asked)}"
        best = self.last.iloc[0]
        share = share_text(best["accuracy"], best["scored"], among)
        found = f"{plainly}; the best way found, {best['way']}, reaches {share}."
        if does is False and None not in sides:
            return f"It cannot yet: {found}"
        head = "It does not; whether it can" if does is False else "Whether it can, and does,"
        return f"{head} cannot be told: {found}{self._more(asked)}"

    def _plainly(self, asked: pd.Series) -> str:
        read, both = f"{asked['read']:.0%}", f"{asked['accuracy']:.0%}"
        low, high = interval(asked["read"], asked["scored"])
        # Each reading scores the redraw that it chose: by chance that of both may come out higher.
        less = asked["accuracy"] < asked["read"] and both != read
        agreed = f"; both probes say so of {both}" if less else ""
        draws = f"asked plainly it draws class {self.code} in {read} of images"
        return f"{draws} ({100 * low:.0f} … {high:.0%}{agreed})"

    def _more(self, asked: pd.Series) -> str:
        """What would tell more. Not how many images are enough: a share may lie at the very line."""
        images = int(asked["scored"])
        more = _ENOUGH if images < _ENOUGH else 4 * images
        return f" {images} images do not tell on which side of {CAN:.0%} that lies; --n {more} draws more."

    @property
    def draws_since(self) -> float:
        """The step from which what the model draws is credited to it, NaN if there is none. A model that draws all it
        was trained on at the last evaluation is asked then, however few evaluations there were before."""
        last = self.seen[self.seen["step"] == self.seen["step"].max()]
        since = drawing_since(self.seen, CAN)
        return float(last["step"].iloc[0]) if since != since and (last["value"] >= CAN).all() else since

    @property
    def _unready(self) -> str:
        """A probe takes noise for some class or other, and a search over prompts finds the noise that it does."""
        last = self.seen[self.seen["step"] == self.seen["step"].max()]
        least = last.sort_values("value").iloc[0]
        return (
            f"Nothing is credited to it: it does not draw what it was trained on (class {least['class']} in "
            f"{least['value']:.0%} of images at step {least['step']}); what reads as class {self.code} may be noise."
        )

    def since(self, way: str) -> str:
        """Since which step it can, from what was measured in training, or else from the kept checkpoints."""
        curve = self.trained[self.trained["way"] == way].sort_values("step")
        if len(curve) >= 3:
            time = emergence_time(curve["step"], curve["accuracy"], CAN)
            if time == time:
                return f"since step {time:.0f} at the latest"
        asked = self.ways[(self.ways["way"] == way) & (self.ways["step"] >= self.draws_since)]
        # From the last back to the first that leaves it open: so no luck among many checkpoints dates it too early.
        asked = asked.sort_values("step", ascending=False)
        right, among = ("read", 1) if way == ORDINARY else ("accuracy", len(self.last))
        rows = zip(asked["step"], asked[right], asked["scored"])
        kept = [step for step, *_ in itertools.takewhile(lambda row: _side(*row[1:], among), rows)]
        return f"at step {int(kept[-1])} already" if kept else "at no kept checkpoint"

    def label(self, shown: str) -> str:
        """The words beside a row of pictures: the way of asking, its prompt, in how many both probes see the class."""
        way, _, prompt = shown.partition(": ")
        row = self.last[self.last["way"] == way].iloc[0]
        return f"{way}\n{prompt}\n{share_text(row['accuracy'], row['scored'])}"

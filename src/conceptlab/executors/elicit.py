"""Can a trained model draw a class already, since when, and asked in which way?

Every kept checkpoint is asked in all the ways there are: the ordinary prompt (with as many redraws as a null), a search
over prompts, interventions on the embedding, guidance, and the embedding of the last checkpoint. What was measured
while the model trained is finer in time, and is used where it is there.

A way counts by what both probes read, since unusual prompts may make images unlike any that a probe has seen. Whether a
model *does* draw a class when it is asked plainly is for its judge alone to say, as in all studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.errors import InputError
from conceptlab.evaluation import Context, Family, Live, Measurement, Row, build, draw_one, observe
from conceptlab.evaluation.interventions import patched_rows
from conceptlab.executors.draw import load_process
from conceptlab.executors.probes import ready_probe
from conceptlab.measures import drawing_since, emergence_time
from conceptlab.store import Member, Store

CAN = 0.5
"""The held-out accuracy from which a model counts as capable (park2024, Fig. 3)."""
ORDINARY = "redraws"


@dataclass(frozen=True)
class Elicitation:
    """What was found: `ways` has a row for each kept checkpoint and way of asking, with its `accuracy` by both probes
    and what the judge alone `read`; `images` a row of pictures for each of `shown`, from the last checkpoint. `seen` is
    how well training classes were drawn while the model trained."""

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
        best, asked = self.last.iloc[0], self.last[self.last["way"] == ORDINARY].iloc[0]
        others = self.last[self.last["way"] != ORDINARY]
        read, both = f"{asked['read']:.0%}", f"{asked['accuracy']:.0%}"
        does = f"asked plainly it draws class {self.code} in {read} of images"
        # Each reading scores the redraw that it chose: by chance that of both may come out higher.
        if asked["accuracy"] < asked["read"] and both != read:
            does += f" (both probes say so of {both})"
        if asked["read"] >= CAN:
            return f"It can and does: {does}, {self.since(ORDINARY)}."
        if best["accuracy"] < CAN:
            return (
                f"It cannot yet: {does}; the best way found, {best['way']}, reaches {best['accuracy']:.0%}."
            )
        won = others.iloc[0]
        return (
            f"It can, but does not: {does}, by {won['way']} ({won['prompt']}) in {won['accuracy']:.0%}, "
            f"{self.since(str(won['way']))}."
        )

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
        drawn = self.ways[self.ways["step"] >= self.draws_since]
        right = drawn["read" if way == ORDINARY else "accuracy"]
        kept = drawn[(drawn["way"] == way) & (right >= CAN)]
        return f"at step {int(kept['step'].min())} already" if len(kept) else "at no kept checkpoint"


def elicit(member: Member, given: str, images: int = 32, weights: str = "raw") -> Elicitation:
    """Ask every kept checkpoint of a member for a class."""
    if images < 4:
        raise InputError(
            f"--n {images}: at least 4 images are needed, half of them to choose a way of asking"
        )
    cls = member.world.space.parse(given)
    code = member.world.space.code(cls)
    member.checkpoint()  # without any there is nobody to ask
    families = build(_families(member, code, images))
    context = _context(member)
    found, drawn, live = [], {}, None
    for step in member.checkpoint_steps:
        live = _observed(member, context, step, weights, families)
        rows = [row for family in families for row in family.rows(live)]
        found += [{"step": step, **way} for way in _ways(rows)]
        drawn = dict(live.images)
    assert live is not None
    donor = f"embedding of step {live.step}"
    for step in member.checkpoint_steps[:-1]:
        rows = patched_rows(live, step, member.weights(step), Family([code], images))
        found += [
            {"step": step, "way": "patch", "prompt": donor, "accuracy": row.value, "read": math.nan}
            for row in rows
        ]
    ways = pd.DataFrame(found)
    images_of, shown = _pictures(families, context, cls, ways[ways["step"] == live.step], drawn)
    seen = _seen(member, weights)
    return Elicitation(code, ways, _trained(member, code, weights, seen), seen, images_of, shown)


def _families(member: Member, code: str, images: int) -> list[dict[str, Any]]:
    """The ways of asking; over-prompting as the run itself does it, where it does."""
    declared = [dict(part) for part in member.recipe.evaluation.measurements]
    own = [part for part in declared if part["name"] == "over_prompting"]
    every = [{"name": "redraws"}, *own, {"name": "prompt_search"}, {"name": "latent"}, {"name": "guidance"}]
    return [{**part, "classes": [code], "images": images} for part in every]


def _context(member: Member) -> Context:
    recipe = member.recipe
    store, second = Store(member.path.parent.parent), recipe.evaluation.second_probe
    judge = ready_probe(store, recipe.world, recipe.evaluation.probe)
    other = ready_probe(store, recipe.world, second) if second else None
    return Context(recipe, member.world, member.split, judge, other)


def _observed(
    member: Member, context: Context, step: int, weights: str, families: Sequence[Measurement]
) -> Live:
    denoiser, process = member.model(step, weights), load_process(member, step, weights)
    (observed,) = observe(
        families, [context], 0, lambda prompts: [draw_one(denoiser, process, context.recipe, prompts[0])]
    )
    return Live(context, step, weights, denoiser, process, *observed)


def _ways(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Held-out accuracy and winning prompt of each family."""
    read = {row.variable: row.value for row in rows if row.measure == "prompt_capability"}
    winners = [(*row.variable.partition(": ")[::2], row.value) for row in rows if row.measure == "winner"]
    return [
        {"way": way, "prompt": prompt, "accuracy": value, "read": read[way]} for way, prompt, value in winners
    ]


def _seen(member: Member, weights: str) -> pd.DataFrame:
    """How well each training class was drawn, at every evaluation."""
    rows = member.metrics
    joint = rows[(rows["weights"] == weights) & (rows["measure"] == "accuracy") & (rows["variable"] == "")]
    learned = [member.world.space.code(cls) for cls in member.split.train]
    return joint[joint["class"].isin(learned)]


def _trained(member: Member, code: str, weights: str, seen: pd.DataFrame) -> pd.DataFrame:
    rows = member.metrics
    rows = rows[rows["weights"] == weights]
    since = drawing_since(seen, CAN)
    # What a model draws before its training classes is credited to no way of asking.
    rows = rows.assign(value=rows["value"].where(rows["step"] >= since, 0.0))
    rows = rows[rows["class"] == code]
    plain = rows["variable"] == ORDINARY
    found = rows[(rows["measure"] == "agreed_capability") & ~plain]
    asked = rows[(rows["measure"] == "prompt_capability") & plain]
    if asked.empty:
        asked = rows[(rows["measure"] == "accuracy") & (rows["variable"] == "")].assign(variable=ORDINARY)
    found = pd.concat([found, asked])
    return found.rename(columns={"variable": "way", "value": "accuracy"})[["step", "way", "accuracy"]]


def _pictures(
    families: Sequence[Measurement],
    context: Context,
    cls: Class,
    last: pd.DataFrame,
    drawn: dict[str, Tensor],
) -> tuple[Tensor, list[str]]:
    """A row of pictures for each way of asking, by its winning prompt."""
    named = {family.family: family for family in families if isinstance(family, Family)}
    chosen = {
        f"{way}: {prompt}": drawn[named[way].name(context, cls, prompt)]
        for way, prompt in zip(last["way"], last["prompt"])
        if way in named
    }
    count = min(8, *(len(images) for images in chosen.values()))
    return torch.stack([images[:count] for images in chosen.values()]), list(chosen)

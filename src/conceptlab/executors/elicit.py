"""Can a trained model draw a class already, since when, and asked in which way?

Every kept checkpoint is asked in all the ways there are: the ordinary prompt (with as many redraws as a null), a search
over prompts, interventions on the embedding, guidance, and the embedding of the last checkpoint. What was measured
while the model trained is finer in time, and is used where it is there.

A way counts by what both probes read, since unusual prompts may make images unlike any that a probe has seen. Whether a
model *does* draw a class when it is asked plainly is for its judge alone to say, as in all studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from conceptlab.concepts import Class
from conceptlab.errors import InputError
from conceptlab.evaluation import Context, Family, Live, Measurement, Row, build, draw_one, observe
from conceptlab.evaluation.interventions import patched_rows
from conceptlab.executors.answer import CAN, ORDINARY, Elicitation
from conceptlab.executors.draw import load_process
from conceptlab.executors.probes import probe_hash
from conceptlab.executors.room import check_drawn
from conceptlab.measures import drawing_since
from conceptlab.probes import Probe, load_probe
from conceptlab.recipe import Part
from conceptlab.store import Member, Store


def elicit(
    member: Member,
    given: str,
    images: int = 32,
    weights: str = "raw",
    tell: Callable[[str], object] = lambda doing: None,
) -> Elicitation:
    """Ask every kept checkpoint of a member for a class; `tell` hears what is being done, which may take a minute."""
    if images < 4:
        raise InputError(
            f"--n {images}: at least 4 images are needed, half of them to choose a way of asking"
        )
    cls = member.world.space.parse(given)
    code = member.world.space.code(cls)
    member.checkpoint()  # without any there is nobody to ask
    families = build(_families(member, code, images))
    context = _context(member)
    asked = sum(len(family.prompts(context, images)) for family in families)
    check_drawn(images, asked, member.world.image_shape)
    found, drawn, live = [], {}, None
    steps = member.checkpoint_steps
    for number, step in enumerate(steps, 1):
        tell(
            f"asking for {code} in {asked} prompts of {images} images: step {step}, {number} of {len(steps)}"
        )
        live = _observed(member, context, step, weights, families)
        rows = [row for family in families for row in family.rows(live)]
        found += [{"step": step, **way} for way in _ways(rows, families)]
        drawn = dict(live.images)
    assert live is not None
    donor = f"embedding of step {live.step}"
    for step in steps[:-1]:
        tell(f"asking step {step} with the {donor}")
        rows = patched_rows(live, step, member.weights(step), Family([code], images))
        found += [
            {
                "step": step,
                "way": "patch",
                "prompt": donor,
                "accuracy": row.value,
                "read": math.nan,
                "scored": images,
            }
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
    recipe, second = member.recipe, member.recipe.evaluation.second_probe
    judge = _probe(member, "judge", recipe.evaluation.probe)
    other = _probe(member, "second", second) if second else None
    return Context(recipe, member.world, member.split, judge, other)


def _probe(member: Member, role: str, part: Part) -> Probe:
    """The probe that judged the member, by its record: how probes are named has changed since some were trained."""
    store = Store(member.path.parent.parent)
    name = member.probe.get(role, {}).get("probe") or probe_hash(member.recipe.world, part)
    return load_probe(store.probe_path(name) / "probe")


def _observed(
    member: Member, context: Context, step: int, weights: str, families: Sequence[Measurement]
) -> Live:
    denoiser, process = member.model(step, weights), load_process(member, step, weights)
    (observed,) = observe(
        families, [context], 0, lambda prompts: [draw_one(denoiser, process, context.recipe, prompts[0])]
    )
    return Live(context, step, weights, denoiser, process, *observed)


def _ways(rows: Sequence[Row], families: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Held-out accuracy and winning prompt of each family, and on how many images it was scored."""
    scored = {family.family: family.scored for family in families if isinstance(family, Family)}
    read = {row.variable: row.value for row in rows if row.measure == "prompt_capability"}
    winners = [(*row.variable.partition(": ")[::2], row.value) for row in rows if row.measure == "winner"]
    return [
        {"way": way, "prompt": prompt, "accuracy": value, "read": read[way], "scored": scored[way]}
        for way, prompt, value in winners
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

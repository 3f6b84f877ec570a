"""What there is to run, and what a run would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from conceptlab import executors
from conceptlab.evaluation import evaluation_flops
from conceptlab.recipe import Recipe
from conceptlab.store import Store
from conceptlab.studies import SCALES, STUDIES, Figure, Order, Study
from conceptlab.training.cost import training_flops


def listing() -> list[dict[str, Any]]:
    """Every figure with `id`, `study`, `figure`, `title`, `paper`, `shows`, `claims` and `cost` at each scale."""
    return [
        {
            "id": f"{study.name}.{figure.id}",
            "study": study.name,
            "figure": figure.id,
            "title": figure.title,
            "paper": study.paper,
            "shows": figure.shows,
            "claims": [{"id": claim.id, "statement": claim.statement} for claim in figure.claims],
            "cost": {scale: cost(study, figure, scale) for scale in SCALES},
        }
        for study in STUDIES.values()
        for figure in study.figures
    ]


def cost(study: Study, figure: Figure, scale: Any) -> dict[str, float]:
    """Members, model-steps and arithmetic of a figure by itself; members shared with others are counted again."""
    recipes = figure.recipes(scale, study.seeds_of(figure, scale))
    return {
        "members": len(recipes),
        "model_steps": sum(recipe.steps for recipe in recipes),
        "petaflop": round(sum(training_flops(r) + evaluation_flops(r) for r in recipes) / 1e15, 3),
    }


def listing_table() -> Table:
    table = Table(
        caption="cost: members × steps at tiny | small | paper scale; none: theory", caption_justify="left"
    )
    table.add_column("figure", no_wrap=True)
    table.add_column("title")
    table.add_column("claims", justify="right")
    table.add_column("cost", no_wrap=True)
    for study in STUDIES.values():
        for figure in study.figures:
            sweeps = [figure.recipes(scale, study.seeds_of(figure, scale)) for scale in SCALES]
            costs = " | ".join(f"{len(s)}×{sum(r.steps for r in s) / len(s):.0f}" for s in sweeps if s)
            table.add_row(f"{study.name}.{figure.id}", figure.title, str(len(figure.claims)), costs or "none")
        table.add_section()
    return table


def plan_table(order: Order, recipes: Sequence[Recipe], store: Store, place: executors.Place) -> Table:
    """What a run would train (all members of an order, or a piece of them), what it would find done, and about what
    it would cost."""
    device = place.device
    found = executors.plan(recipes, store, device, place.free, place.at_once, place.most)
    share = found.evaluation_flops / max(1, found.flops)
    table = Table("what", "how much", show_header=False)
    table.add_row("figures", ", ".join(figure.id for figure in order.figures))
    table.add_row("members", f"{found.members} ({found.done} done already)")
    table.add_row(
        "cohorts", f"{found.cohorts} of up to {found.largest} on {device.type}, {found.lanes} at once"
    )
    table.add_row("model-steps", f"{found.model_steps:,}")
    table.add_row("arithmetic", f"{found.flops / 1e15:.3g} PFLOP, {share:.0%} of it for measuring")
    table.add_row(f"{device.type} time", f"about {duration(found.seconds)}")
    if found.lanes > 1:
        table.add_row("from start to end", f"about {duration(found.seconds / found.lanes)}")
    table.add_row("memory", f"about {found.memory / 2**30:.1f} GiB for the largest cohort")
    return table


def duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"

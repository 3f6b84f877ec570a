"""Running figures: train what is missing, make tables, draw, judge."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch

from conceptlab import denoisers, executors
from conceptlab.claims import Claim, Measured, judge_measured, measure, write_claims
from conceptlab.denoisers.contract import check_chance
from conceptlab.diffusion import build as build_process
from conceptlab.diffusion import check_process
from conceptlab.errors import InputError
from conceptlab.evaluation import evaluation_flops
from conceptlab.executors import Report
from conceptlab.recipe import Part, Recipe
from conceptlab.store import FigureRun, Store, environment, how_it_failed
from conceptlab.store.files import write_atomically, write_table
from conceptlab.studies.order import Order
from conceptlab.studies.study import Figure, Results, Study, Tables
from conceptlab.training import check_data
from conceptlab.training.cost import check_start, model_flops, world_of
from conceptlab.training.own_network import check_own
from conceptlab.training.threads import one_thread
from conceptlab.worlds import build as build_world
from conceptlab.worlds.base import check_promises

LOG = logging.getLogger(__name__)

# An executor: trains what is not there yet.
Train = Callable[[Sequence[Recipe], Store, torch.device, Report], None]


_NO_SAMPLES = "some of its members keep no samples (exported results hold few)"


def ready(order: Order, store: Store) -> tuple[Order, dict[str, str]]:
    """The figures of an order that can be made without training, and why the others cannot."""
    lacking = {figure.id: _lacking(order, figure, store) for figure in order.figures}
    there = tuple(figure for figure in order.figures if not lacking[figure.id])
    if not there:
        for id_, reason in lacking.items():
            if reason == _NO_SAMPLES:
                raise InputError(
                    f"{order.study.name}.{id_}: {reason} in {store.root}; train it with another --out"
                )
        remedy = (
            f"take fewer seeds (--seeds {fewer})"
            if (fewer := _seeds_there(order, store))
            else "run it without --ready to train them"
        )
        raise InputError(
            f"no figure of {order.study.name} at {order.scale} scale has all its members in {store.root}; {remedy}"
        )
    return replace(order, figures=there), {id_: reason for id_, reason in lacking.items() if reason}


def _seeds_there(order: Order, store: Store) -> int:
    """The largest number of seeds, below what is asked for, with which some figure can be made; 0 if there is none."""
    for count in range(max(len(order.seeds_of(figure)) for figure in order.figures) - 1, 0, -1):
        fewer = replace(order, seeds=parse_seeds(count))
        if not all(_lacking(fewer, figure, store) for figure in order.figures):
            return count
    return 0


def _lacking(order: Order, figure: Figure, store: Store) -> str:
    """What a figure lacks to be made without training; nothing if it can be."""
    recipes = order.recipes(figure)
    if count := len(executors.pending(recipes, store)):
        return f"{count} {'member is' if count == 1 else 'members are'} not trained"
    if not figure.measures and not figure.samples:
        return ""
    ended = [member for recipe in recipes if (member := store.member(recipe)).status != "failed"]
    for name in figure.measures:
        if any(name not in set(member.metrics["measure"]) for member in ended):
            return f"some of its members were trained before {name} was measured"
    if figure.samples and not all(member.sample_steps for member in ended):
        return _NO_SAMPLES
    return ""


def run(
    order: Order,
    store: Store,
    device: torch.device,
    report: Report,
    train: Train = executors.run,
    here: bool = True,
) -> list[FigureRun]:
    """Train the members that are missing, wherever `train` does that (`here` or elsewhere), then make every figure. The
    same call continues after an interruption."""
    check(order, store, device if here else None)
    _check_done(order, store)
    runs = {figure.id: store.figure(order.study.name, order.scale, figure.id) for figure in order.figures}
    manifests = {figure.id: _manifest(order, figure) for figure in order.figures}
    # All of them first: one that is refused must not leave others begun anew that were finished.
    for id_, manifest in manifests.items():
        runs[id_].check(manifest)
    with contextlib.ExitStack() as claims:
        for id_, manifest in manifests.items():
            claims.enter_context(runs[id_].claimed(manifest))
        _train_and_make(order, runs, store, lambda recipes: train(recipes, store, device, report))
    return list(runs.values())


def _train_and_make(
    order: Order, runs: Mapping[str, FigureRun], store: Store, train: Callable[[Sequence[Recipe]], None]
) -> None:
    started = time.perf_counter()
    train(order.all_recipes())
    trained = time.perf_counter() - started
    took: dict[str, float] = {}
    for figure in order.figures:
        begun = time.perf_counter()
        whole = _with_all_seeds(order, figure, runs[figure.id], store)
        tables = _make(figure, whole, runs[figure.id], store)
        took[figure.id] = time.perf_counter() - begun + (trained if order.recipes(figure) else 0.0)
        # Tables and pictures are made here, on the CPU; members know their own environment.
        made: dict[str, Any] = {"environment": environment(torch.device("cpu")), "tables": sorted(tables)}
        if found := order.study.signatures(tables):
            made["signatures"] = [asdict(signature) for signature in found]
        runs[figure.id].finish({**_manifest(whole, figure), **made})
    judge_study(order.study, order.scale, store)
    # The time comes last of all: a figure that has it is finished, and one that was not judged is not.
    for id_, seconds in took.items():
        ended = {"seconds": round(seconds, 1), "ended": round(time.time())}
        runs[id_].finish({**runs[id_].manifest, **ended})


def _with_all_seeds(order: Order, figure: Figure, run: FigureRun, store: Store) -> Order:
    """The order with every seed that a figure has been made with before: fewer never take the place of more. Seeds that
    an abandoned run left half-trained are not waited for."""
    if "seed" in order.settings:
        return order
    asked = order.seeds_of(figure)
    earlier = [seed for seed in run.manifest["seeds"] if seed not in asked]
    there = [seed for seed in earlier if _is_trained(replace(order, seeds=(seed,)), figure, store)]
    return replace(order, seeds=tuple(sorted({*asked, *there}))) if there else order


def _is_trained(order: Order, figure: Figure, store: Store) -> bool:
    recipes = order.recipes(figure)
    return bool(recipes) and not executors.pending(recipes, store)


def check(order: Order, store: Store | None = None, device: torch.device | None = None) -> None:
    """What is asked for can be had: found out before a folder is claimed for it. On a device of this machine what is
    not yet in the store must fit into its memory, too."""
    for figure in order.figures:
        for setting, remedy in figure.needs.items():
            if setting not in order.settings:
                raise InputError(f"{order.study.name}.{figure.id} needs {setting}: {remedy}")
    recipes = order.all_recipes()
    for world in {repr(recipe.world): recipe.world for recipe in recipes}.values():
        built = build_world(**world)
        built.check()
        if not type(built).__module__.startswith("conceptlab."):
            check_promises(built)
    if store is not None and device is not None:
        executors.check_room(executors.pending(recipes, store), device)
    for recipe in recipes:
        check_data(recipe, world_of(recipe))
        # Counting what it costs finds settings that do not fit: networks are built on no device, measurements are
        # asked what they would draw. Each is done once.
        model_flops(recipe)
        evaluation_flops(recipe)
        check_start(recipe)
    for recipe in {repr((recipe.denoiser, recipe.world)): recipe for recipe in recipes}.values():
        _check_network(recipe)
    for process, steps, loss in {repr(found): found for found in map(_noise, recipes)}.values():
        check_process(build_process(**process), process["name"], steps, loss)
    probes = [probe for r in recipes for probe in (r.evaluation.probe, r.evaluation.second_probe) if probe]
    for probe in {repr(probe): probe for probe in probes}.values():
        executors.check_probe(probe)


def _noise(recipe: Recipe) -> tuple[Part, int, str]:
    """A process, and what is to be done with it."""
    return recipe.process, recipe.evaluation.sampler_steps, recipe.loss


def _check_network(recipe: Recipe) -> None:
    """Of a network from elsewhere a look at its layers does not tell all."""
    name, world = recipe.denoiser["name"], world_of(recipe)
    if not denoisers.is_plugged_in(name):
        return

    def make(seed: int) -> denoisers.Denoiser:
        shapes = {"image_shape": world.image_shape, "condition_shape": world.condition_shape}
        return denoisers.build(**recipe.denoiser, **shapes, seed=seed)

    classes = [next(iter(world.seen)), list(world.seen)[-1]]
    with one_thread():
        check_chance(make(0), name)
        check_own(make, name, torch.stack([world.condition(cls) for cls in classes]))


def _check_done(order: Order, store: Store) -> None:
    """Members that are there are those that were asked for: found out before others are trained for hours."""
    for recipe in order.all_recipes():
        if store.is_done(recipe):
            store.member(recipe)


def _manifest(order: Order, figure: Figure) -> dict[str, Any]:
    recipes, directory = order.recipes(figure), order.directory
    return {
        "study": order.study.name,
        "figure": figure.id,
        "title": figure.title,
        "shows": figure.shows,
        "paper": order.study.paper,
        "scale": order.scale,
        "seeds": [order.settings["seed"]] if "seed" in order.settings else list(order.seeds_of(figure)),
        # What trains nothing is the same whatever is set.
        "settings": {**(order.settings if recipes else {}), **order.study.about},
        "members": [recipe.hash for recipe in recipes],
        "command": order.command,
        **({"directory": directory} if directory else {}),
    }


def _make(figure: Figure, order: Order, run: FigureRun, store: Store) -> Tables:
    members = [store.member(recipe) for recipe in order.recipes(figure)]
    failed = [member for member in members if member.status != "complete"]
    usable = [member for member in members if member.status == "complete"]
    if members and not usable:
        raise InputError(
            f"{order.study.name}.{figure.id}: every member failed, the first of them so: {how_it_failed(failed[0])}; "
            "try a lower learning rate, with another --out"
        )
    results = Results(usable, order.scale, order.seeds_of(figure))
    tables = figure.tables(results)
    for name, table in tables.items():
        write_table(run.path / "tables" / f"{name}.parquet", table)
        as_csv = partial(table.to_csv, index=False, float_format="%.6g")
        write_atomically(run.path / "figures" / f"{name}.csv", as_csv)
    picture = figure.draw(results, tables)
    for suffix in ("png", "pdf"):
        write_atomically(run.path / "figures" / f"{figure.id}.{suffix}", picture.savefig)
    return tables


def judge_study(study: Study, scale: str, store: Store) -> None:
    """Judge all figures of a study that have been run at a scale together: Holm's adjustment is per paper, so that
    the verdicts do not depend on the order in which figures were run."""
    measured, where = [], []
    for figure in study.figures:
        run = store.figure(study.name, scale, figure.id)
        found = _measured(figure.claims_at(scale), run)
        measured += found
        where += [run] * len(found)
    verdicts = judge_measured(measured, scale)
    for run in dict.fromkeys(where):
        write_claims(run.path / "claims.json", [v for v, place in zip(verdicts, where) if place == run])


def _measured(claims: Sequence[Claim], run: FigureRun) -> list[Measured]:
    """What a figure that has been run says of its claims. Its damage must not keep others from their verdicts, and its
    own must not be judged on what is left of it."""
    try:
        tables = run.tables if run.is_there else {}
        return measure(claims, tables, run.failures) if tables else []
    except InputError as error:
        LOG.warning("left out: %s", error)
        return []


def parse_seeds(count: int | None, copies: int = 1) -> tuple[int, ...] | None:
    """Seeds 0, 1, 2, …: more of them train only the new ones. Nothing said: as many as each figure takes. There must be
    memory for so many `copies` of their recipes."""
    if count is None:
        return None
    if count < 1:
        raise InputError(f"--seeds {count}: at least one seed is needed")
    executors.check_seeds(count, copies)
    return tuple(range(count))

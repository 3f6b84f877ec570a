"""Train one cohort to the end, measuring as it goes: the work that executors hand out.

Everything is written in an order that survives a kill at any moment: what an evaluation measured and the weights to
keep first, then the state they belong to. The same call continues from the last state that members have in common.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.evaluation import Context, Live, Row, all_rows, build, generate, observe
from conceptlab.executors.probes import confusion_of, probe_hash, ready_probe, validation_record
from conceptlab.executors.states import States
from conceptlab.probes import Probe
from conceptlab.recipe import Part, Recipe
from conceptlab.store import MemberWriter, Store, environment, state_steps
from conceptlab.store.files import locked, write_json
from conceptlab.training import Cohort
from conceptlab.worlds import RenderedWorld
from conceptlab.worlds import build as build_world

# Called with the members' hashes and the number of steps just made.
Report = Callable[[Sequence[str], int], None]

# Steps between two reports of progress.
STRIDE = 20

# Images of a class on a sheet before the last: enough to follow a model, while whole sheets of a long run would take
# tens of megabytes and longer to write than to draw.
STRIP = 8

# A loss so many times the least before is worth a warning: the member goes on, since it may recover.
DIVERGED = 10.0

LOG = logging.getLogger(__name__)


def run_cohort(recipes: Sequence[Recipe], store: Store, device: torch.device, report: Report) -> None:
    """Train and measure every recipe that is not done yet; they must fit into one cohort."""
    with contextlib.ExitStack() as stack:
        for recipe in recipes:
            stack.enter_context(locked(store.member_path(recipe)))
        pending = [recipe for recipe in recipes if not store.is_done(recipe)]
        for recipe in [recipe for recipe in pending if starts_from_failed(recipe, store)]:
            writer = MemberWriter(store.member_path(recipe), recipe, environment(device))
            writer.finish("failed", step=0, seconds=0.0, reason="what it starts from failed")
            pending.remove(recipe)
        for group in _by_state(pending, store):
            run = _Run(group, store, device, report)
            with contextlib.closing(run.states):
                run.to_the_end()


def _by_state(recipes: Sequence[Recipe], store: Store) -> list[list[Recipe]]:
    """Members that can go on from one step together: a cohort may have been put together anew since they were trained,
    and those that are far ahead of others must not begin with them again."""
    left = [(recipe, state_steps(store.member_path(recipe), recipe) or {0}) for recipe in recipes]
    groups = []
    while left:
        shared = Counter(step for _, steps in left for step in steps)
        most = max(shared, key=lambda step: (shared[step], step))
        groups.append([recipe for recipe, steps in left if most in steps])
        left = [(recipe, steps) for recipe, steps in left if most not in steps]
    return groups


def starts_from_failed(recipe: Recipe, store: Store) -> bool:
    """Whether a member has nothing to start from because that failed."""
    before = recipe.before
    return before is not None and store.is_done(before) and store.member(before).status == "failed"


class _Run:
    def __init__(self, recipes: Sequence[Recipe], store: Store, device: torch.device, report: Report) -> None:
        self.cohort = Cohort(recipes, device)
        self.report, self.store = report, store
        self.contexts = _contexts(recipes, store, device)
        about = environment(device, members=len(recipes), threads=torch.get_num_threads())
        self.writers = [MemberWriter(store.member_path(recipe), recipe, about) for recipe in recipes]
        self.alive = list(range(len(recipes)))
        self.measurements = build(recipes[0].evaluation.measurements)
        self.states = States()
        self.started = time.perf_counter()
        self.spent: dict[str, float] = {}  # seconds up to and in an evaluation, all members together
        # A squared error of 1 is that of predicting nothing, so the first losses can be judged, too.
        self.least_losses = [1.0 if recipe.loss == "mse" else math.inf for recipe in recipes]
        for context, writer in zip(self.contexts, self.writers):
            write_json(writer.path / "probe.json", _probe_record(context, store))

    def to_the_end(self) -> None:
        recipe = self.cohort.recipe
        step = self._resume()
        for writer in self.writers:
            writer.log("started" if step == 0 else "resumed", step=step, together=len(self.writers))
        self.report([w.recipe.hash for w in self.writers], step)
        for goal in recipe.evaluation_steps():
            if goal <= step:
                continue
            begun = time.perf_counter()
            self._advance(goal - step)
            losses = self.cohort.take_losses()  # a GPU has trained once they are known
            self.spent = {"training": time.perf_counter() - begun}
            step = goal
            self._evaluate(step, losses)
            if not self.alive:
                # Nothing is left to train; the steps that are not made are done with all the same.
                self.report([w.recipe.hash for w in self.writers], recipe.steps - step)
                return
        self.states.wait()
        for index in self.alive:
            self.writers[index].checkpoint(step, self.cohort.checkpoint(index))
            self.writers[index].finish("complete", step=step, seconds=self._seconds())

    def _resume(self) -> int:
        """The latest step for which every member has a state; 0 if there is none."""
        common = set.intersection(*(writer.state_steps() for writer in self.writers))
        step = max(common, default=0)
        for index, writer in enumerate(self.writers):
            if step:
                self.cohort.restore(index, writer.read_state(step))
            elif (before := writer.recipe.before) is not None:
                self.cohort.begin_from(index, self.store.member(before).weights())
        return step

    def _advance(self, steps: int) -> None:
        while steps > 0:
            stride = min(STRIDE, steps)
            self.cohort.advance(stride)
            steps -= stride
            self.report([w.recipe.hash for w in self.writers], stride)

    def _evaluate(self, step: int, losses: Sequence[float]) -> None:
        # A step shows in the loss of the next one. A sum tells of all weights, and takes no memory.
        finite = self.cohort.weights.sum(1).isfinite().tolist()
        for index in list(self.alive):
            if not math.isfinite(losses[index]):
                self._fail(index, step, "the training loss is not finite")
            elif not finite[index]:
                self._fail(index, step, "the weights are not finite")
        if not self.alive:
            return
        self._watch(step, losses)
        self.cohort.settle()
        rows = {index: [_loss_row(step, losses[index])] for index in self.alive}
        self.spent |= {"drawing": 0.0, "measuring": 0.0}
        for weights in self.cohort.recipe.evaluation.weights:
            for index, found in self._measure(step, weights).items():
                rows[index] += found
        measured = time.perf_counter()
        for index in self.alive:
            self.writers[index].metrics(step, pd.DataFrame(rows[index]))
            if step in self.cohort.recipe.keep:
                self.writers[index].checkpoint(step, self.cohort.checkpoint(index))
        if step < self.cohort.recipe.steps and self.states.due():
            writers = [self.writers[index] for index in self.alive]
            self.states.write(step, writers, lambda: [self.cohort.state(index) for index in self.alive])
        spent = {**self.spent, "writing": time.perf_counter() - measured}
        spent = {name: round(seconds, 3) for name, seconds in spent.items()}
        for index in self.alive:
            self.writers[index].log("evaluated", step=step, loss=losses[index], seconds=spent)

    def _fail(self, index: int, step: int, reason: str) -> None:
        writer = self.writers[index]
        self.states.wait()  # a member that ended keeps none
        writer.finish("failed", step=step, seconds=self._seconds(), reason=reason)
        self.alive.remove(index)
        LOG.warning(
            "member %s (seed %d) failed: %s at step %d", writer.path.name, writer.recipe.seed, reason, step
        )

    def _watch(self, step: int, losses: Sequence[float]) -> None:
        """Warn of losses that grow out of all proportion: such a member ends, but its results are worth nothing."""
        for index in self.alive:
            least = self.least_losses[index] = min(self.least_losses[index], losses[index])
            if diverges(losses[index], least):
                name = self.writers[index].path.name
                LOG.warning(
                    "member %s diverges: its loss is %.3g at step %d and was %.3g; try a lower learning rate",
                    name, losses[index], step, least,
                )  # fmt: skip
                self.writers[index].log("diverging", step=step, loss=losses[index])

    def _measure(self, step: int, weights: str) -> dict[int, list[dict[str, Any]]]:
        settings = self.cohort.recipe.evaluation
        last = step == self.cohort.recipe.steps
        images = settings.final_images if last and settings.final_images else settings.images
        begun = time.perf_counter()
        observed = observe(
            self.measurements,
            self.contexts,
            images,
            lambda prompts: generate(self.cohort, weights, prompts),
        )
        drawn = time.perf_counter()
        found = {}
        for index in self.alive:
            denoiser, process = self.cohort.member(index, weights)
            kept = self.writers[index].kept_checkpoints
            live = Live(self.contexts[index], step, weights, denoiser, process, *observed[index], kept)
            found[index] = [_row(step, weights, row) for row in all_rows(self.measurements, live)]
        if weights == "raw":
            # Compressing sheets takes most of the time that is left, and no lock of the interpreter's.
            with ThreadPoolExecutor(thread_name_prefix="sheets") as pool:
                list(pool.map(lambda index: self._show(index, step, observed[index][0]), self.alive))
        self.spent["drawing"] += drawn - begun
        self.spent["measuring"] += time.perf_counter() - drawn
        return found

    def _show(self, index: int, step: int, images: Mapping[str, Tensor]) -> None:
        recipe, space = self.contexts[index].recipe, self.contexts[index].world.space
        shown = recipe.evaluation.shown if step == recipe.steps else min(recipe.evaluation.shown, STRIP)
        rows = [images.get(f"class {space.code(cls)}") for cls in space]
        sheet = [row[:shown] for row in rows if row is not None]
        if shown and len(sheet) == len(rows):
            self.writers[index].samples(step, torch.stack(sheet))

    def _seconds(self) -> float:
        return round(time.perf_counter() - self.started, 1)


def diverges(loss: float, least: float) -> bool:
    """Is a loss out of all proportion to the least so far? That of a bound falls below zero."""
    return loss > DIVERGED * abs(least)


def _contexts(recipes: Sequence[Recipe], store: Store, device: torch.device) -> list[Context]:
    """Members of one world share its probes, so that these read the images of all of them together."""
    probes: dict[str, Probe] = {}

    def shared(world: Part, part: Part) -> Probe:
        name = probe_hash(world, part)
        if name not in probes:
            probes[name] = ready_probe(store, world, part).to(device)
        return probes[name]

    return [_context(recipe, store, shared) for recipe in recipes]


def _context(recipe: Recipe, store: Store, probe: Callable[[Part, Part], Probe]) -> Context:
    world = build_world(**recipe.world)
    second = recipe.evaluation.second_probe
    return Context(
        recipe,
        world,
        Split(world.space, recipe.train),
        probe(recipe.world, recipe.evaluation.probe),
        probe(recipe.world, second) if second else None,
        # Rendered images are unambiguous and their judge hardly errs; labels of real ones overlap.
        None
        if isinstance(world, RenderedWorld)
        else confusion_of(store, recipe.world, recipe.evaluation.probe),
    )


def _probe_record(context: Context, store: Store) -> dict[str, Any]:
    recipe = context.recipe
    parts = {"judge": recipe.evaluation.probe, "second": recipe.evaluation.second_probe}
    return {role: validation_record(store, recipe.world, part) for role, part in parts.items() if part}


def _row(step: int, weights: str, row: Row) -> dict[str, Any]:
    return {
        "step": step if row.step is None else row.step,
        "weights": weights,
        "class": row.cls,
        "variable": row.variable,
        "measure": row.measure,
        "value": row.value,
    }


def _loss_row(step: int, loss: float) -> dict[str, Any]:
    return _row(step, "raw", Row("", "", "loss", loss))

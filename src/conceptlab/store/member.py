"""One trained member is one folder: its recipe, what was measured, what it drew, and its weights.

config.json        the recipe, complete and replayable
environment.json   versions, device, precision, commit
metrics/           one Parquet part for each evaluation, while the member trains
metrics.parquet    all of them, once it is done
samples/           a PNG sheet for each evaluation: a row for each class
checkpoints/       weights (and, while it trains, the state to resume from)
log.jsonl          what happened when, and what evaluations took
done.json          how it ended
"""

from __future__ import annotations

import json
import re
import time
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.denoisers import Denoiser, load_weights
from conceptlab.denoisers import build as build_denoiser
from conceptlab.errors import InputError
from conceptlab.recipe import Recipe
from conceptlab.store import files
from conceptlab.worlds import World
from conceptlab.worlds import build as build_world

METRIC_COLUMNS = ["step", "weights", "class", "variable", "measure", "value"]


class Member:
    """A member's folder. Reading never writes."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        config = self.path / "config.json"
        if (self.path / "done.json").exists() and not config.exists():
            raise self._damaged(config, "it is missing")
        if not config.exists():
            raise InputError(
                f"{self.path} holds no member (config.json is missing): not trained yet, or not kept; run its study"
            )
        data = files.read_json(config, part_of=self.path)
        try:
            self.recipe = Recipe.from_dict(data)
        except InputError as error:
            raise InputError(
                f"{config} is damaged or by another version ({error}); read it with the conceptlab that wrote it, or "
                f"move {self.path} away and run again"
            ) from error
        # A folder that a user named is taken at its word.
        if re.fullmatch(r"[0-9a-f]{16}", self.path.name) and self.path.name not in self.recipe.hashes:
            raise InputError(
                f"{config} is damaged (changed by hand? it describes another model than the one its folder is named "
                f"after); restore it, or move {self.path} away and run again"
            )

    def __repr__(self) -> str:
        return f"Member({self.path.name}, seed {self.recipe.seed}, {self.status})"

    @property
    def id(self) -> str:
        return self.path.name

    @cached_property
    def world(self) -> World:
        return build_world(**self.recipe.world)

    @cached_property
    def split(self) -> Split:
        return Split(self.world.space, self.recipe.train)

    @property
    def outcome(self) -> dict[str, Any]:
        """How the member ended, or an empty table while it has not."""
        return self._entries("done.json")

    @property
    def environment(self) -> dict[str, Any]:
        """Versions, device and precision; empty where they were not kept."""
        return self._entries("environment.json")

    @property
    def probe(self) -> dict[str, Any]:
        """What is known of the probes that judged, by their role; empty where it was not kept."""
        return self._entries("probe.json")

    def _entries(self, name: str) -> dict[str, Any]:
        path = self.path / name
        found = files.read_json(path) if path.exists() else {}
        if not isinstance(found, dict):
            raise self._damaged(path, "it is not a table of entries")
        return found

    def _damaged(self, path: Path, reason: str) -> InputError:
        return InputError(f"{path} is damaged ({reason}); move {self.path} away and run again")

    @property
    def status(self) -> str:
        """`complete`, `failed` (its loss or its weights were not finite), or `unfinished`."""
        return self.outcome.get("status", "unfinished")

    @property
    def metrics(self) -> pd.DataFrame:
        """Tidy rows: step, weights, class, variable, measure, value. Values are in single precision, which is what
        `export` keeps: a share read from results and the same share just measured must tie where they are ranked."""
        # Looked for first: it comes last when a member ends, which may happen meanwhile.
        done = (self.path / "done.json").exists()
        compact = self.path / "metrics.parquet"
        if compact.exists():
            return self._checked(compact)
        if done:
            raise self._damaged(compact, "it is missing")
        parts = [self._checked(path) for path in _numbered(self.path / "metrics", ".parquet").values()]
        return pd.concat(parts, ignore_index=True) if parts else _no_metrics()

    def _checked(self, path: Path) -> pd.DataFrame:
        table = files.read_table(path, part_of=self.path)
        if lacking := [name for name in METRIC_COLUMNS if name not in table.columns]:
            raise self._damaged(path, f"it lacks the columns {', '.join(lacking)}")
        try:
            return table.astype({"value": "float32"})
        except (TypeError, ValueError):
            raise self._damaged(path, "its values are no numbers") from None

    def curves(self, measure: str = "accuracy", weights: str = "raw", variable: str = "") -> pd.DataFrame:
        """A measure over training: one row a step, one column a class."""
        rows = self.metrics.query("measure == @measure and weights == @weights and variable == @variable")
        return rows.pivot(index="step", columns="class", values="value")

    @property
    def sample_steps(self) -> list[int]:
        return list(_numbered(self.path / "samples", ".png"))

    def samples(self, step: int | None = None) -> Tensor:
        """What was drawn at an evaluation (the last by default): uint8 (classes, images, C, H, W)."""
        step = self._known("samples", self.sample_steps, step)
        path = self.path / "samples" / f"{step:08d}.png"
        return files.read_sheet(path, self.world.image_shape, part_of=self.path)

    @property
    def checkpoint_steps(self) -> list[int]:
        return list(_numbered(self.path / "checkpoints", ".safetensors"))

    def weights(self, step: int | None = None) -> dict[str, Tensor]:
        """The tensors of a checkpoint: `raw.denoiser.…`, and `ema.…` where an average was kept."""
        step = self.checkpoint(step)
        path = self.path / "checkpoints" / f"{step:08d}.safetensors"
        return files.read_tensors(path, part_of=self.path)

    def checkpoint(self, step: int | None = None) -> int:
        """The step of a kept checkpoint, the last by default."""
        return self._known("checkpoint", self.checkpoint_steps, step)

    def model(self, step: int | None = None, weights: str = "raw") -> Denoiser:
        """The denoiser of a checkpoint, ready to draw."""
        denoiser = build_denoiser(
            image_shape=self.world.image_shape,
            condition_shape=self.world.condition_shape,
            seed=self.recipe.seed,
            **self.recipe.denoiser,
        )
        held = self.weights(step)
        prefix = f"{weights}.denoiser."
        state = {name.removeprefix(prefix): t.float() for name, t in held.items() if name.startswith(prefix)}
        if not state:
            raise InputError(f"{self.path} keeps no '{weights}' weights; kept: {_kinds(held)}")
        load_weights(denoiser, state)
        return denoiser.eval()

    def log(self) -> list[dict[str, Any]]:
        path = self.path / "log.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            # The last line may be half-written.
            found = [json.loads(line) for line in lines if line.endswith("}")]
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is damaged ({error}); move it away") from error
        if not all("event" in line and isinstance(line.get("time"), int | float) for line in found):
            raise InputError(f"{path} is damaged (a line lacks its time or event); move it away")
        return found

    def _known(self, what: str, steps: list[int], step: int | None) -> int:
        if not steps and self.outcome:
            raise InputError(
                f"{self.path} keeps no {what} (exported results hold few); train it with another --out"
            )
        if not steps:
            raise InputError(f"{self.path} has no {what} yet; run its study again to continue it")
        if step is not None and step not in steps:
            shown = ", ".join(map(str, steps[-12:]))
            raise InputError(f"{self.path} has no {what} at step {step}; there are {shown}")
        return steps[-1] if step is None else step


class MemberWriter:
    """The only thing that writes into a member's folder, while it holds the folder's lock."""

    def __init__(self, path: Path, recipe: Recipe, environment: dict[str, Any]) -> None:
        self.path, self.recipe = files.make_folder(path), recipe
        # The clock on the wall may be set while a member trains; how long it takes must not change with it.
        self._offset = time.time() - time.monotonic()
        # A writer that was killed leaves what it had begun, a whole state for one; nobody else writes here now.
        for litter in path.rglob(".*"):
            if litter.name != ".lock" and litter.is_file():
                litter.unlink()
        files.drop_half_line(path / "log.jsonl")
        config = path / "config.json"
        if config.exists():
            if Recipe.from_dict(files.read_json(config)).hash != recipe.hash:
                raise InputError(f"{path} was made by another configuration; choose another --out")
        else:
            files.write_json(config, recipe.to_dict())
        if not (path / "environment.json").exists():
            files.write_json(path / "environment.json", environment)

    def log(self, event: str, **details: Any) -> None:
        now = round(self._offset + time.monotonic(), 3)
        line = json.dumps({"time": now, "event": event, **details}, ensure_ascii=False)
        files.append_line(self.path / "log.jsonl", line)

    def metrics(self, step: int, rows: pd.DataFrame) -> None:
        files.write_table(self.path / "metrics" / f"{step:08d}.parquet", rows[METRIC_COLUMNS])

    def samples(self, step: int, images: Tensor) -> None:
        files.write_sheet(self.path / "samples" / f"{step:08d}.png", images)

    def checkpoint(self, step: int, tensors: dict[str, Tensor]) -> None:
        files.write_tensors(
            self.path / "checkpoints" / f"{step:08d}.safetensors", tensors, {"step": str(step)}
        )

    def kept_checkpoints(self) -> dict[int, dict[str, Tensor]]:
        """The checkpoints written so far, by step."""
        paths = _numbered(self.path / "checkpoints", ".safetensors")
        return {step: files.read_tensors(path) for step, path in paths.items()}

    # --- the state to resume from -----------------------------------------------------------------------------

    def state_steps(self) -> set[int]:
        return state_steps(self.path, self.recipe)

    def write_state(self, step: int, tensors: dict[str, Tensor]) -> None:
        files.write_tensors(self.path / "checkpoints" / f"state-{step:08d}.safetensors", tensors)

    def read_state(self, step: int) -> dict[str, Tensor]:
        return files.read_tensors(self.path / "checkpoints" / f"state-{step:08d}.safetensors")

    def drop_states(self, keep: int | None = None) -> None:
        """Forget states other than the one at step `keep`, once it is safely written."""
        for path in _states(self.path):
            if path.stem != f"state-{keep or 0:08d}":
                path.unlink()

    def finish(self, status: str, **details: Any) -> None:
        """Compact the metrics and say how it ended; `done.json` comes last, so a finished member is whole."""
        last = details["step"]
        parts = [path for step, path in _numbered(self.path / "metrics", ".parquet").items() if step <= last]
        tables = [files.read_table(path) for path in parts]
        whole = pd.concat(tables, ignore_index=True) if tables else _no_metrics()
        files.write_table(self.path / "metrics.parquet", whole)
        files.write_json(self.path / "done.json", {"status": status, **details})
        for path in parts:
            path.unlink()
        self.drop_states()
        self.log(status, **details)


def state_steps(path: Path, recipe: Recipe) -> set[int]:
    """The steps from which a member that is not done can go on. What was measured and kept before must be there: a file
    that was damaged and moved away would be missing in the end, without a word."""
    measured, kept = _numbered(path / "metrics", ".parquet"), _numbered(path / "checkpoints", ".safetensors")
    lost = [step for step in recipe.evaluation_steps() if step not in measured]
    lost += [step for step in recipe.keep if step not in kept]
    steps = {int(state.stem.removeprefix("state-")) for state in _states(path)}
    return {step for step in steps if step < min(lost, default=recipe.steps)}


def _states(path: Path) -> list[Path]:
    return list((path / "checkpoints").glob("state-*.safetensors"))


def _numbered(folder: Path, suffix: str) -> dict[int, Path]:
    """The files that are named by a step, in order: what is being written has a temporary name beside them."""
    found = [path for path in folder.glob(f"[0-9]*{suffix}") if path.stem.isdecimal()]
    return {int(path.stem): path for path in sorted(found, key=lambda path: int(path.stem))}


def _no_metrics() -> pd.DataFrame:
    """A table without rows whose columns have the types of one with rows, so that both can be put together."""
    kinds = {"step": "int64", "value": "float32"}
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "str")) for name in METRIC_COLUMNS})


def _kinds(tensors: dict[str, Tensor]) -> str:
    return ", ".join(sorted({name.split(".")[0] for name in tensors}))

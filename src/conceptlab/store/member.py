"""One trained member is one folder: its recipe, what was measured, what it drew, and its weights.

config.json        the recipe, complete and replayable
environment.json   versions, device, precision, commit
metrics/           one Parquet part for each evaluation, while the member trains
metrics.parquet    all of them, once it is done
samples/           a PNG sheet for each evaluation: a row for each class
checkpoints/       weights (and, while it trains, the state to resume from)
log.jsonl          what happened when
done.json          how it ended
"""

from __future__ import annotations

import json
import time
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from torch import Tensor

from conceptlab.concepts import Split
from conceptlab.denoisers import Denoiser
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
        self.recipe = Recipe.from_dict(files.read_json(self.path / "config.json"))

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
        path = self.path / "done.json"
        return files.read_json(path) if path.exists() else {}

    @property
    def status(self) -> str:
        """`complete`, `failed` (its loss was not finite), or `unfinished`."""
        return self.outcome.get("status", "unfinished")

    @property
    def metrics(self) -> pd.DataFrame:
        """Tidy rows: step, weights, class, variable, measure, value."""
        compact = self.path / "metrics.parquet"
        if compact.exists():
            return files.read_table(compact)
        # Names that begin with a digit: a part that is being written has a temporary name beside the others.
        parts = [files.read_table(path) for path in sorted((self.path / "metrics").glob("[0-9]*.parquet"))]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=METRIC_COLUMNS)

    def curves(self, measure: str = "accuracy", weights: str = "raw", variable: str = "") -> pd.DataFrame:
        """A measure over training: one row a step, one column a class."""
        rows = self.metrics.query("measure == @measure and weights == @weights and variable == @variable")
        return rows.pivot(index="step", columns="class", values="value")

    @property
    def sample_steps(self) -> list[int]:
        return sorted(int(path.stem) for path in (self.path / "samples").glob("[0-9]*.png"))

    def samples(self, step: int | None = None) -> Tensor:
        """What was drawn at an evaluation (the last by default): uint8 (classes, images, C, H, W)."""
        step = self._known("samples", self.sample_steps, step)
        return files.read_sheet(self.path / "samples" / f"{step:08d}.png", self.world.image_shape)

    @property
    def checkpoint_steps(self) -> list[int]:
        return sorted(int(path.stem) for path in (self.path / "checkpoints").glob("[0-9]*.safetensors"))

    def weights(self, step: int | None = None) -> dict[str, Tensor]:
        """The tensors of a checkpoint: `raw.denoiser.…`, and `ema.…` where an average was kept."""
        step = self._known("checkpoint", self.checkpoint_steps, step)
        return files.read_tensors(self.path / "checkpoints" / f"{step:08d}.safetensors")

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
        denoiser.load_state_dict(state)
        return denoiser.eval()

    def log(self) -> list[dict[str, Any]]:
        path = self.path / "log.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def _known(self, what: str, steps: list[int], step: int | None) -> int:
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
        config = path / "config.json"
        if config.exists():
            if Recipe.from_dict(files.read_json(config)).hash != recipe.hash:
                raise InputError(f"{path} was made by another configuration; choose another --out")
        else:
            files.write_json(config, recipe.to_dict())
        if not (path / "environment.json").exists():
            files.write_json(path / "environment.json", environment)

    def log(self, event: str, **details: Any) -> None:
        line = json.dumps({"time": round(time.time(), 3), "event": event, **details}, ensure_ascii=False)
        with (self.path / "log.jsonl").open("a", encoding="utf-8") as handle:
            handle.write(line + "\n")

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
        paths = sorted((self.path / "checkpoints").glob("[0-9]*.safetensors"))
        return {int(path.stem): files.read_tensors(path) for path in paths}

    # --- the state to resume from -----------------------------------------------------------------------------

    def state_steps(self) -> set[int]:
        return {int(path.stem.removeprefix("state-")) for path in self._states()}

    def write_state(self, step: int, tensors: dict[str, Tensor]) -> None:
        files.write_tensors(self.path / "checkpoints" / f"state-{step:08d}.safetensors", tensors)

    def read_state(self, step: int) -> dict[str, Tensor]:
        return files.read_tensors(self.path / "checkpoints" / f"state-{step:08d}.safetensors")

    def drop_states(self, keep: int | None = None) -> None:
        """Forget states other than the one at step `keep`, once it is safely written."""
        for path in self._states():
            if path.stem != f"state-{keep or 0:08d}":
                path.unlink()

    def _states(self) -> list[Path]:
        return list((self.path / "checkpoints").glob("state-*.safetensors"))

    def finish(self, status: str, **details: Any) -> None:
        """Compact the metrics and say how it ended; `done.json` comes last, so a finished member is whole."""
        last = details["step"]
        parts = [p for p in sorted((self.path / "metrics").glob("[0-9]*.parquet")) if int(p.stem) <= last]
        tables = [files.read_table(path) for path in parts]
        whole = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=METRIC_COLUMNS)
        files.write_table(self.path / "metrics.parquet", whole)
        files.write_json(self.path / "done.json", {"status": status, **details})
        for path in parts:
            path.unlink()
        self.drop_states()
        self.log(status, **details)


def _kinds(tensors: dict[str, Tensor]) -> str:
    return ", ".join(sorted({name.split(".")[0] for name in tensors}))

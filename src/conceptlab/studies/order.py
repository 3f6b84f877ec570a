"""What was asked for, and the command that asks for it again."""

from __future__ import annotations

import itertools
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conceptlab.errors import InputError
from conceptlab.plain import flat
from conceptlab.recipe import Recipe
from conceptlab.studies.study import Figure, Scale, Study
from conceptlab.studies.varied import refuse_unmeasured, refuse_varied
from conceptlab.training.cost import once_for_all_seeds


@dataclass(frozen=True)
class Order:
    """What was asked for: which figures of a study, how large, with which seeds, settings and plug-in files. Without
    seeds each figure takes as many as it does by itself."""

    study: Study
    figures: tuple[Figure, ...]
    scale: Scale
    seeds: tuple[int, ...] | None
    settings: Mapping[str, Any]
    plugins: Sequence[str] = ()

    def seeds_of(self, figure: Figure) -> tuple[int, ...]:
        return self.study.seeds_of(figure, self.scale) if self.seeds is None else self.seeds

    def recipes(self, figure: Figure) -> list[Recipe]:
        found = figure.recipes(self.scale, self.seeds_of(figure))
        if not self.settings:
            return found
        name = f"{self.study.name}.{figure.id}"
        refuse_varied(name, found, self.settings)
        change = once_for_all_seeds(lambda recipe: _changed(recipe, self.settings, name))
        return [change(recipe).with_seed(self.settings.get("seed", recipe.seed)) for recipe in found]

    def all_recipes(self) -> list[Recipe]:
        """The members of all figures, those they share only once."""
        found = list({r.hash: r for figure in self.figures for r in self.recipes(figure)}.values())
        if self.settings and not found:
            names = ", ".join(f"{self.study.name}.{figure.id}" for figure in self.figures)
            given = ", ".join(self.settings)
            raise InputError(f"{names} trains nothing that --set could change ({given}); leave it out")
        return found

    @property
    def command(self) -> str:
        """The command that runs this again."""
        names, every = ([f.id for f in some] for some in (self.figures, self.study.figures))
        complete = names in (every, [f.id for f in self.study.figures if not f.needs])
        target = self.study.name if complete else f"{self.study.name}.{','.join(names)}"
        words = ["conceptlab", "run", target, *self.study.options]
        words += [word for file in self.plugins for word in ("--plugin", file)]
        words += ["--scale", self.scale]
        numbers = {len(self.seeds_of(figure)) for figure in self.figures}
        # Where figures take different numbers of seeds, they do so by themselves.
        words += ["--seeds", str(*numbers)] if len(numbers) == 1 else []
        for key, value in self.settings.items():
            words += ["--set", f"{key}={_written(value)}"]
        return shlex.join(words)

    @property
    def directory(self) -> str:
        """Where its command is to be run, if it names files by relative paths: they mean nothing elsewhere."""
        data = [value for option, value in itertools.pairwise(self.study.options) if option == "--data"]
        # Nobody knows which settings are paths, but files that are there are some.
        set_ = [value for value in flat(self.settings).values() if isinstance(value, str) and value]
        named = [*self.plugins, *data, *filter(os.path.exists, set_)]
        return str(Path.cwd()) if any(not Path(file).is_absolute() for file in named) else ""


def _written(value: Any) -> str:
    """A setting as `--set` reads it: a word as it is, unless it would be read as something else."""
    try:
        json.loads(value)
    except (TypeError, ValueError):
        return value if isinstance(value, str) else json.dumps(value)
    return json.dumps(value)


def _changed(recipe: Recipe, settings: Mapping[str, Any], figure: str) -> Recipe:
    """A recipe with settings changed, and with it the one it starts from: both are members of the study."""
    changed = recipe.with_settings(settings)
    refuse_unmeasured(figure, recipe, changed)
    before = recipe.before
    return changed if before is None else replace(changed, start=_changed(before, settings, figure).to_dict())

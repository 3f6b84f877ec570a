"""Probes on disk: `<path>.json` with the settings and `<path>.safetensors` with the weights, if any."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from conceptlab.atomic import replacing
from conceptlab.concepts import ConceptSpace, Variable
from conceptlab.errors import InputError, first_line, unwritten
from conceptlab.probes.analytic import AnalyticProbe
from conceptlab.probes.base import Probe
from conceptlab.probes.detector import Detector
from conceptlab.probes.learned import Fitting, LearnedProbe
from conceptlab.worlds import build


def save_probe(probe: Probe, path: str | Path) -> None:
    """Write a probe; the settings come last, so that a probe with settings is whole."""
    settings, weights = _paths(path)
    if isinstance(probe, LearnedProbe):
        _write(weights, lambda place: save_file(probe.network.state_dict(), place))
    _write(settings, lambda place: place.write_text(json.dumps(probe.settings, indent=1) + "\n"))


def _write(path: Path, write: Callable[[Path], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as half_written:
            write(half_written)
    except (OSError, SafetensorError) as error:
        raise unwritten(path, error) from error


def load_probe(path: str | Path) -> Probe:
    """Read a probe that `save_probe` wrote."""
    settings, weights = _paths(path)
    try:
        found = json.loads(settings.read_text())
        if found["kind"] == AnalyticProbe.kind:
            return AnalyticProbe(build(found["world"], **found["world_settings"]))
        probe = _empty(found)
        probe.network.load_state_dict(load_file(weights))
    except FileNotFoundError as missing:
        raise InputError(
            f"no probe at {settings.with_suffix('')}: {missing.filename} is missing; put the probes/ of the run folder "
            "in which it was trained beside members/"
        ) from None
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as damage:
        raise InputError(
            f"the probe at {settings} is damaged ({first_line(damage)}); train it again"
        ) from None
    return probe


def _empty(found: dict[str, Any]) -> LearnedProbe:
    space = ConceptSpace([Variable(name, tuple(values)) for name, values in found["variables"]])
    channels, height, width = found["image_shape"]
    fitting = Fitting(**found["fitting"])
    learned = Detector if found["kind"] == "detector" else LearnedProbe
    return learned(found["kind"], space, (channels, height, width), fitting, found["seed"])


def _paths(path: str | Path) -> tuple[Path, Path]:
    return Path(f"{path}.json"), Path(f"{path}.safetensors")

"""Probes on disk: `<path>.json` with the settings and `<path>.safetensors` with the weights, if any."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from conceptlab.concepts import ConceptSpace, Variable
from conceptlab.errors import InputError
from conceptlab.probes.analytic import AnalyticProbe
from conceptlab.probes.base import Probe
from conceptlab.probes.detector import Detector
from conceptlab.probes.learned import Fitting, LearnedProbe
from conceptlab.worlds import build


def save_probe(probe: Probe, path: str | Path) -> None:
    """Write a probe; the settings come last, so that a probe with settings is whole."""
    settings, weights = _paths(path)
    settings.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(probe, LearnedProbe):
        half_written = weights.with_name(weights.name + ".part")
        save_file(probe.network.state_dict(), half_written)
        os.replace(half_written, weights)
    half_written = settings.with_name(settings.name + ".part")
    half_written.write_text(json.dumps(probe.settings, indent=1) + "\n")
    os.replace(half_written, settings)


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
        raise InputError(f"no probe at {settings.with_suffix('')}: {missing.filename} is missing") from None
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as damage:
        reason = str(damage).splitlines()[0]
        raise InputError(f"the probe at {settings} is damaged ({reason}); train it again") from None
    return probe


def _empty(found: dict[str, Any]) -> LearnedProbe:
    space = ConceptSpace([Variable(name, tuple(values)) for name, values in found["variables"]])
    channels, height, width = found["image_shape"]
    fitting = Fitting(**found["fitting"])
    learned = Detector if found["kind"] == "detector" else LearnedProbe
    return learned(found["kind"], space, (channels, height, width), fitting, found["seed"])


def _paths(path: str | Path) -> tuple[Path, Path]:
    return Path(f"{path}.json"), Path(f"{path}.safetensors")

"""Curves as a park2024 sweep would leave them: class 11 goes to 01, turns, can, and later does. Made in a moment.

Everything follows from a turning time for each run. Capability comes a little after the turn, behaviour much later
and with more scatter over seeds; both sooner the larger the separation.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

STEPS = np.round(15_000 * (np.arange(1, 41) / 40) ** 2)
SEPARATIONS = (0.175, 0.2, 0.225, 0.25, 0.275, 0.3)


def _rise(middle: float, width: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(STEPS - middle) / width))


def run(separation: float, seed: int, hidden: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng([int(1000 * separation), seed, int(100 * hidden)])
    turn = 950 / separation * np.exp(0.12 * rng.standard_normal())
    able, does = 1.15 * turn, 1.15 * turn * (2.4 - 3.5 * separation) * np.exp(0.2 * rng.standard_normal())
    does *= 1 + 2 * hidden
    low = 0.7 * (separation - 0.15)
    learned = _rise(2000, 500)
    behaviour, capability = 0.97 * _rise(does, 700), 0.98 * _rise(able, 450)
    colour = 0.5 * np.exp(-STEPS / 700) + low * (1 - np.exp(-STEPS / 700))
    colour = np.where(
        turn < STEPS, colour + (1 - colour) * (1 - np.exp(-(STEPS - turn) / (does - turn + 500))), colour
    )
    noise = lambda: rng.normal(0, 0.02, len(STEPS))  # noqa: E731
    rows: dict[tuple[str, str, str], np.ndarray] = {
        ("11", "", "accuracy"): behaviour + noise(),
        ("11", "colour", "accuracy"): np.maximum(behaviour, 0.9 * behaviour + 0.1) + noise(),
        ("11", "over-prompting", "prompt_capability"): capability + noise(),
        ("11", "search", "agreed_capability"): 0.98 * _rise(0.97 * able, 450) + noise(),
        ("11", "latent", "agreed_capability"): 0.98 * _rise(1.1 * able, 450) + noise(),
        ("11", "guidance", "agreed_capability"): 0.9 * _rise(1.3 * able, 600) + noise(),
        ("11", "redraws", "best_prompt"): behaviour + 0.05 + noise(),
        ("11", "redraws", "prompt_capability"): behaviour + noise(),
        ("11", "over-prompting", "agreed_capability"): 0.95 * capability + noise(),
        ("11", "redraws", "agreed_best"): 0.95 * behaviour + 0.05 + noise(),
        ("11", "redraws", "agreed_capability"): 0.95 * behaviour + noise(),
        ("11", "colour", "coordinate"): colour + noise(),
        ("11", "size", "coordinate"): 0.45 + 0.53 * (1 - np.exp(-STEPS / 900)) + 0.3 * noise(),
        ("", "", "loss"): (0.05 + 30 * STEPS**-0.7) * np.exp(0.5 * noise()),
        ("00", "", "disentanglement"): _dip(0.55 * turn, turn) + 0.3 * noise(),
        ("11", "", "disentanglement"): _dip(0.5 * turn, 1.2 * turn) + 0.3 * noise(),
    }
    for cls in ("00", "01", "10"):
        rows[cls, "", "accuracy"] = 0.25 + 0.74 * learned + 0.5 * noise()
        for place, name in enumerate(("colour", "size")):
            rows[cls, name, "coordinate"] = 0.5 + (int(cls[place]) - 0.5) * 0.98 * (1 - np.exp(-STEPS / 1200))
    for part in ("colour", "size", "convolutions"):
        rows["", part, "weight_norm"] = 3 + 4 * (1 - np.exp(-STEPS / 4000)) + noise()
        rows["", part, "gradient_norm"] = 2 * np.exp(-STEPS / 2500) + 0.02 + 0.01 * np.abs(noise())
    parts = [
        pd.DataFrame({"step": STEPS, "class": cls, "variable": variable, "measure": measure, "value": values})
        for (cls, variable, measure), values in rows.items()
    ]
    for step in STEPS[[12, 20, 28, 35]]:
        value = float(np.interp(step, STEPS, 0.95 * _rise(0.8 * able, 450)))
        parts.append(
            pd.DataFrame([(step, "11", "patch", "agreed_capability", value)], columns=parts[0].columns)
        )
    table = pd.concat(parts, ignore_index=True)
    held_out = {"00": 0, "01": 0, "10": 0, "11": 1}
    return table.assign(
        seed=seed, separation=separation, hidden=hidden, distance=table["class"].map(held_out)
    )


def _dip(lowest: float, back: float) -> np.ndarray:
    return 0.8 - 0.5 * np.exp(-((np.log(STEPS / lowest) / 0.6) ** 2)) + 0.05 * _rise(back, 500)


def sweep(seeds: int = 5, separations: tuple[float, ...] = SEPARATIONS) -> pd.DataFrame:
    return pd.concat([run(d, seed) for d in separations for seed in range(seeds)], ignore_index=True)


def masking(seeds: int = 5, shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75)) -> pd.DataFrame:
    return pd.concat([run(0.3, seed, share) for share in shares for seed in range(seeds)], ignore_index=True)


def signal(separations: tuple[float, ...] = SEPARATIONS) -> pd.DataFrame:
    rows = [
        (d, variable, base, scale * d**2, 1e-4 * d)
        for d in separations
        for variable, base, scale in (("colour", "00", 0.185), ("colour", "01", 0.022), ("size", "00", 1.0))
    ]
    return pd.DataFrame(rows, columns=["separation", "variable", "class", "signal", "standard_error"])

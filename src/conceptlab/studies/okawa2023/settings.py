"""What okawa2023 is run with at each scale.

`paper` keeps the authors' setting as their public code has it (where paper and code disagree, the study `ablation`
shows what difference that makes): 28×28 images, the okawa2023 U-Net, eps-prediction with T = 500 and beta from 1e-4 to
.02, Adam at 1e-4 with linear decay, batch 64, 7,900 steps, 5,000 images.

`small` shows the same order on two CPU cores and is honest about being another recipe: the quickstart's 16×16 world,
FiLM network and v-prediction, with which all combinations emerge in 500 steps. `tiny` is that with hardly any
training: it proves the pipeline and nothing else, so the analytic readout, which needs no training, is its judge.

Drawing costs as much as training if one is careless. The base of Figure 5, on which most figures rest, is measured
finely and with many images at the end; members of sweeps, of which only a time or the end is asked, more coarsely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conceptlab.recipe import Evaluation, Optimiser, Recipe
from conceptlab.studies.study import Scale
from conceptlab.worlds import OKAWA2023, OKAWA2023_BACKGROUND, QUICKSTART

PAPER = "okawa2023"

MINIMAL = ("000", "100", "010", "001")
"""§3.1's training set, in the order (shape, size, colour): a centre and its three neighbours."""

FOUR = ("0000", "1000", "0100", "0010", "0001")
"""Figure 16's training set, with the background as fourth variable."""

# The quickstart's world with a background: its entry of the condition is as loud as the others.
QUICKSTART_BACKGROUND: dict[str, Any] = QUICKSTART | {
    "variables": ("shape", "size", "colour", "background"),
    "condition_centre": (*QUICKSTART["condition_centre"], ("background", 0.5)),
    "condition_scale": (*QUICKSTART["condition_scale"], ("background", 1.4)),
}


@dataclass(frozen=True)
class Setting:
    """One scale: the recipe that all sweeps vary, and how finely they vary it."""

    recipe: Recipe
    sweep: Evaluation
    """How members of sweeps are measured: at every second evaluation of the base, so that their times compare."""
    four: Mapping[str, Any]
    """What differs with four variables, as dotted settings."""
    images: int
    """Images of each of four training classes."""
    counts: Mapping[str, tuple[int, ...]]
    """Sample numbers of Figure 8 and `threshold`, by the class that has so few."""
    shares: tuple[float, ...]
    """Shares of draws of the rare class in `frequency`."""
    rare: tuple[int, ...]
    """Images of the rare class in `frequency`, where it has few of them; numbers of Figure 8 cost nothing new."""
    correlations: tuple[float, ...]
    centres: tuple[str, ...]
    tune_steps: int
    tune_rates: tuple[float, ...]
    """Learning rates of `finetune`, as multiples of the training rate."""
    switches: Mapping[str, Mapping[str, Any]]
    """What `ablation` changes: name → dotted settings."""


MEASUREMENTS = ({"name": "accuracy"}, {"name": "edges"})
_CORNERS = ("000", "001", "010", "011", "100", "101", "110", "111")

_PAPER = Recipe(
    world={"name": "shapes", **OKAWA2023},
    train=dict.fromkeys(MINIMAL, 1250),
    # Frozen: the public code of the time never gave the embedding to its optimiser.
    denoiser={"name": "okawa2023", "features": 128, "condition_groups": [2, 3, 1], "embedding": "frozen"},
    process={"name": "discrete", "steps": 500, "beta_min": 1e-4, "beta_max": 0.02},
    prediction="eps",
    times="uniform",
    pixels="unit",
    steps=7900,
    batch=64,
    precision="bfloat16",
    optimiser=Optimiser(name="adam", learning_rate=1e-4, decay="linear"),
    evaluation=Evaluation(
        count=40,
        spacing="square",
        images=50,
        final_images=1000,
        # Without fresh noise at every step (DDIM) images of this network keep specks and a tinted ground: measured,
        # training classes drawn right in .74 of images against 1.00 with all 500 steps.
        sampler="ancestral",
        sampler_steps=50,
        # Without it a judge takes traces that nobody sees for small objects: measured, 1.00 of images right of which
        # two thirds were empty.
        probe={"name": "cnn", "steps": 600, "blank": 0.25},
        measurements=(*MEASUREMENTS, {"name": "full_sampling", "images": 50}),
        shown=50,
    ),
)

_SMALL = Recipe(
    world={"name": "shapes", **QUICKSTART},
    train=dict.fromkeys(MINIMAL, 500),
    denoiser={"name": "film"},
    process={"name": "continuous", "gamma_min": -6.0, "gamma_max": 8.0},
    prediction="v",
    steps=500,
    optimiser=Optimiser(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.01, decay="cosine"),
    evaluation=Evaluation(
        count=20,
        spacing="square",
        images=32,
        final_images=200,
        sampler_steps=10,
        measurements=(*MEASUREMENTS, {"name": "full_sampling", "images": 16, "steps": 100}),
        shown=16,
    ),
)

_TINY = replace(
    _SMALL,
    train=dict.fromkeys(MINIMAL, 40),
    denoiser={"name": "film", "channels": [16, 32]},
    steps=12,
    batch=16,
    evaluation=replace(
        _SMALL.evaluation,
        count=4,
        spacing="linear",
        images=6,
        final_images=12,
        sampler_steps=3,
        probe={"name": "analytic"},
        second_probe=None,
        measurements=(*MEASUREMENTS, {"name": "full_sampling", "images": 4, "steps": 6}),
        shown=4,
    ),
)

# Where the paper's text and the public code disagree (the code is the base), and the smallest batch of its search.
_PAPER_SWITCHES: dict[str, dict[str, Any]] = {
    "embedding trained": {"denoiser.embedding": "trained"},
    "attention": {"denoiser.attention": True},
    "condition concatenated": {"denoiser.condition_entry": "concatenate"},
    "batch 32": {"batch": 32},
    # T = 400 with these betas leaves alpha-bar = .018: the paper's search went there, so the check is overruled.
    "T = 400": {"process.steps": 400, "process.allow_signal_at_end": True},
    "Adam as in the paper": {"optimiser.betas": [0.9, 0.99], "optimiser.weight_decay": 1e-5},
    # "Tuples with binary elements" (§3.1); the code tells each image's own size and colour.
    "told by class": {"world.told": "class"},
}
# The small network has no second way for its condition; apart from attention these are its own choices.
_SMALL_SWITCHES: dict[str, dict[str, Any]] = {
    "embedding frozen": {"denoiser.embedding": "frozen"},
    "embedding an MLP": {"denoiser.embedding_kind": "mlp"},
    "group norm": {"denoiser.norm": "group"},
    "attention": {"denoiser.attention": True},
    "batch 32": {"batch": 32},
    "noise to gamma 10": {"process.gamma_max": 10.0},
    "told by class": {"world.told": "class"},
}

SETTINGS: dict[Scale, Setting] = {
    "tiny": Setting(
        recipe=_TINY,
        sweep=replace(_TINY.evaluation, measurements=MEASUREMENTS),
        four={"world": {"name": "shapes", **QUICKSTART_BACKGROUND}},
        images=40,
        counts=dict.fromkeys(("001", "100", "010"), (0, 10)),
        shares=(0.2,),
        rare=(10,),
        correlations=(0.0, 1.0),
        centres=("000", "111"),
        tune_steps=4,
        tune_rates=(1.0,),
        switches={name: _SMALL_SWITCHES[name] for name in ("embedding frozen", "group norm")},
    ),
    "small": Setting(
        recipe=_SMALL,
        sweep=replace(
            _SMALL.evaluation, count=10, images=24, final_images=160, measurements=MEASUREMENTS, shown=8
        ),
        four={
            "world": {"name": "shapes", **QUICKSTART_BACKGROUND},
            "evaluation.probe": {"name": "cnn", "steps": 600},
            "steps": 1000,
        },
        images=500,
        counts=dict.fromkeys(("001", "100"), (0, 10, 30, 100)) | {"010": (3, 10, 30)},
        shares=(0.005, 0.02, 0.10),
        rare=(10, 30, 100),
        correlations=(0.0, 0.25, 0.5, 0.75, 1.0),
        centres=_CORNERS,
        tune_steps=200,
        tune_rates=(0.3, 1.0),
        switches=_SMALL_SWITCHES,
    ),
    "paper": Setting(
        recipe=_PAPER,
        sweep=replace(
            _PAPER.evaluation, count=20, images=32, final_images=200, measurements=MEASUREMENTS, shown=8
        ),
        four={
            "world": {"name": "shapes", **OKAWA2023_BACKGROUND},
            "evaluation.images": 32,
            "denoiser.condition_groups": [2, 3, 1, 1],
        },
        images=1250,
        counts=dict.fromkeys(("001", "100"), (0, 3, 10, 30, 60, 100, 150, 200, 300))
        | {"010": (3, 10, 30, 100)},
        shares=(0.005, 0.01, 0.02, 0.05, 0.10),
        rare=(10, 30, 100),
        correlations=(0.0, 0.25, 0.5, 0.75, 1.0),
        centres=_CORNERS,
        tune_steps=800,
        tune_rates=(0.1, 0.3, 1.0),
        switches=_PAPER_SWITCHES,
    ),
}

SEEDS = {"tiny": 2, "small": 4, "paper": 5}
SWEEP_SEEDS = {"tiny": 1, "small": 3, "paper": 5}
"""Seeds of figures that train tens of members for each of them."""
RARITY_SEEDS = {**SWEEP_SEEDS, "paper": 7}
"""Of `frequency`: as many as its first three at paper scale foretold to be needed."""
COUNT_SEEDS = {**SWEEP_SEEDS, "paper": 3}
"""Of figures that try so many numbers of samples, or ways of fine-tuning, that more seeds would cost hours."""
ORDER_SEEDS = {"small": 8}
"""Of Figures 5 and 6, which are quick at small scale: on some processors four seeds leave the order open."""


def base(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """Figure 5: the minimal training set. Every other sweep varies it, and shares it where it agrees."""
    return [SETTINGS[scale].recipe.with_seed(seed) for seed in seeds]


def swept(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """What sweeps vary: the same training, measured more coarsely."""
    recipe = replace(SETTINGS[scale].recipe, evaluation=SETTINGS[scale].sweep)
    return [recipe.with_seed(seed) for seed in seeds]

"""Theory of concept learning: the emergence toy model (okawa2023), SIM with its exact dynamics (yang2025), and
distributions that compose (bradley2025).

`toy`, `one_layer` and `symmetric` are modules to call with their name (`symmetric.flow`, `one_layer.descent`), because
they answer the same questions for different models; everything else is exported here.
"""

from conceptlab.theory import artefacts, one_layer, symmetric, toy
from conceptlab.theory.cpc import (
    Cpc,
    LcsError,
    condition_error,
    couple_modes,
    couple_pixels,
    lcs_error,
    lemma_error,
    random_cpc,
)
from conceptlab.theory.cpc_sampling import composed_score, energy_distance, flow_samples, noise_levels
from conceptlab.theory.crossing import crossing_times
from conceptlab.theory.integrate import integrate
from conceptlab.theory.jacobian import (
    EntryTerms,
    Roles,
    entry_terms,
    minor_decay_rate,
    ood_loss,
    peak_exponent,
    roles,
    training_loss,
    turning_level,
)
from conceptlab.theory.mixture import Mixture, product
from conceptlab.theory.networks import Network, Trained, initial_weights, mean_squared_error_rate, train
from conceptlab.theory.playground import PlaygroundRun, run_playground
from conceptlab.theory.sim import Sim, SimSample, sample_second_moment
from conceptlab.theory.sweep import Cell, CellResult, grid, run_cell
from conceptlab.theory.swing import Swings, find_swings, noise_level, swing_size

__all__ = [
    "Cell",
    "CellResult",
    "Cpc",
    "EntryTerms",
    "LcsError",
    "Mixture",
    "Network",
    "PlaygroundRun",
    "Roles",
    "Sim",
    "SimSample",
    "Swings",
    "Trained",
    "artefacts",
    "composed_score",
    "condition_error",
    "couple_modes",
    "couple_pixels",
    "crossing_times",
    "energy_distance",
    "entry_terms",
    "find_swings",
    "flow_samples",
    "grid",
    "initial_weights",
    "integrate",
    "lcs_error",
    "lemma_error",
    "mean_squared_error_rate",
    "minor_decay_rate",
    "noise_level",
    "noise_levels",
    "one_layer",
    "ood_loss",
    "peak_exponent",
    "product",
    "random_cpc",
    "roles",
    "run_cell",
    "run_playground",
    "sample_second_moment",
    "swing_size",
    "symmetric",
    "toy",
    "train",
    "training_loss",
    "turning_level",
]

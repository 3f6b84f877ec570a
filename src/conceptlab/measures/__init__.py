"""Pure functions from samples, probabilities and curves to numbers. They know nothing of models or papers."""

from conceptlab.measures.accuracy import (
    Probabilities,
    additive_accuracy,
    agreed,
    concept_space,
    disagreement,
    drawn,
    joint_accuracy,
    joint_probability,
    variable_accuracies,
)
from conceptlab.measures.capability import Best, best_prompt
from conceptlab.measures.censored_line import CensoredLine, fit_censored_line
from conceptlab.measures.changepoint import kink_rank, with_kink
from conceptlab.measures.disentanglement import corner_disentanglement, recovery_time
from conceptlab.measures.edges import EdgeCapability, edge_capabilities
from conceptlab.measures.emergence import drawing_since, draws_by, emergence_table, emergence_time, last_start
from conceptlab.measures.feature_space import cosine_matrix, directions, measured_cosines, orthogonality
from conceptlab.measures.length import (
    Answer,
    Cells,
    answer,
    beyond_chance,
    chance_share,
    k_max,
    kept_share,
    met,
    nearest,
    which_met,
    with_colour,
)
from conceptlab.measures.thresholds import critical_number, relative_rise
from conceptlab.measures.turning import nearest_approach, turning_point
from conceptlab.measures.variation import chance_variation, prompt_variation

__all__ = [
    "Answer",
    "Best",
    "Cells",
    "CensoredLine",
    "EdgeCapability",
    "Probabilities",
    "additive_accuracy",
    "agreed",
    "answer",
    "best_prompt",
    "beyond_chance",
    "chance_share",
    "chance_variation",
    "concept_space",
    "corner_disentanglement",
    "cosine_matrix",
    "critical_number",
    "directions",
    "disagreement",
    "drawing_since",
    "drawn",
    "draws_by",
    "edge_capabilities",
    "emergence_table",
    "emergence_time",
    "fit_censored_line",
    "joint_accuracy",
    "joint_probability",
    "k_max",
    "kept_share",
    "kink_rank",
    "last_start",
    "measured_cosines",
    "met",
    "nearest",
    "nearest_approach",
    "orthogonality",
    "prompt_variation",
    "recovery_time",
    "relative_rise",
    "turning_point",
    "variable_accuracies",
    "which_met",
    "with_colour",
    "with_kink",
]

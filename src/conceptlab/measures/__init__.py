"""Pure functions from samples, probabilities and curves to numbers. They know nothing of models or papers."""

from conceptlab.measures.accuracy import (
    Probabilities,
    additive_accuracy,
    concept_space,
    drawn,
    joint_accuracy,
    joint_probability,
    variable_accuracies,
)
from conceptlab.measures.emergence import emergence_table, emergence_time, rise

__all__ = [
    "Probabilities",
    "additive_accuracy",
    "concept_space",
    "drawn",
    "emergence_table",
    "emergence_time",
    "joint_accuracy",
    "joint_probability",
    "rise",
    "variable_accuracies",
]

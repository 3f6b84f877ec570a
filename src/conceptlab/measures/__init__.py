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
from conceptlab.measures.edges import EdgeCapability, edge_capabilities
from conceptlab.measures.emergence import emergence_table, emergence_time, rise
from conceptlab.measures.thresholds import critical_number, relative_rise

__all__ = [
    "EdgeCapability",
    "Probabilities",
    "additive_accuracy",
    "concept_space",
    "critical_number",
    "drawn",
    "edge_capabilities",
    "emergence_table",
    "emergence_time",
    "joint_accuracy",
    "joint_probability",
    "relative_rise",
    "rise",
    "variable_accuracies",
]

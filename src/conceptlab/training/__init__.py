"""The cohort engine: one model or many at once, each as it would be alone."""

from conceptlab.training.cohort import Cohort, cohort_key
from conceptlab.training.data import TrainingData, check_data, data_seed
from conceptlab.training.objective import Objective, to_image, to_model
from conceptlab.training.stacked import CohortDenoiser

__all__ = [
    "Cohort",
    "CohortDenoiser",
    "Objective",
    "TrainingData",
    "check_data",
    "cohort_key",
    "data_seed",
    "to_image",
    "to_model",
]

"""Read concepts back from images: analytic, linear and convolutional probes, validated before they judge."""

from conceptlab.probes.analytic import AnalyticProbe
from conceptlab.probes.base import Probe, labels_of
from conceptlab.probes.detector import Detector, Found
from conceptlab.probes.files import load_probe, save_probe
from conceptlab.probes.learned import Fitting, LearnedProbe
from conceptlab.probes.train import KINDS, real_images, train_probe
from conceptlab.probes.validate import (
    LEAST_JOINT,
    Validation,
    correct,
    correct_drawn,
    require_judge,
    validate,
)

__all__ = [
    "KINDS",
    "LEAST_JOINT",
    "AnalyticProbe",
    "Detector",
    "Fitting",
    "Found",
    "LearnedProbe",
    "Probe",
    "Validation",
    "correct",
    "correct_drawn",
    "labels_of",
    "load_probe",
    "real_images",
    "require_judge",
    "save_probe",
    "train_probe",
    "validate",
]

"""Where cohorts run. The default needs nothing but this machine."""

from conceptlab.executors.cohort import Report, run_cohort
from conceptlab.executors.local import choose_device, cohorts, pending, run
from conceptlab.executors.probes import prepare_probe, ready_probe, validation_record

__all__ = [
    "Report",
    "choose_device",
    "cohorts",
    "pending",
    "prepare_probe",
    "ready_probe",
    "run",
    "run_cohort",
    "validation_record",
]

"""Where cohorts run. The default needs nothing but this machine."""

from conceptlab.executors.answer import Elicitation
from conceptlab.executors.cohort import Report, run_cohort
from conceptlab.executors.draw import draw, parse_prompt
from conceptlab.executors.elicit import elicit
from conceptlab.executors.local import choose_device, cohorts, cores, pending, run
from conceptlab.executors.pieces import parse_piece, piece
from conceptlab.executors.place import Place, place
from conceptlab.executors.plan import Plan, plan
from conceptlab.executors.probes import check_probe, prepare_probe, ready_probe, validation_record
from conceptlab.executors.room import check_room, check_seeds

__all__ = [
    "Elicitation",
    "Place",
    "Plan",
    "Report",
    "check_probe",
    "check_room",
    "check_seeds",
    "choose_device",
    "cohorts",
    "cores",
    "draw",
    "elicit",
    "parse_piece",
    "parse_prompt",
    "pending",
    "piece",
    "place",
    "plan",
    "prepare_probe",
    "ready_probe",
    "run",
    "run_cohort",
    "validation_record",
]

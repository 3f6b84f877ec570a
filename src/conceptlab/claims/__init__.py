"""Claims: per-seed numbers in, verdicts out. How a verdict comes about is told in `docs/claims.md`."""

from conceptlab.claims.calibration import Rates, calibrate, permuted
from conceptlab.claims.claim import CORRELATION, DIFFERENCE, SHARE, Claim, Tables, definitions_hash
from conceptlab.claims.failures import NO_FAILURES, Failures
from conceptlab.claims.interval import share_interval, student_interval, tied
from conceptlab.claims.judge import Measured, holm, judge, judge_measured, measure
from conceptlab.claims.render import (
    count_text,
    interval_text,
    render_verdicts,
    seeds_text,
    summary,
    threshold_text,
    unit_text,
    value_text,
)
from conceptlab.claims.statistics import (
    accuracy_resolution,
    correlation,
    correlation_difference,
    final_value,
    outcome_per_seed,
    slope,
    value_per_seed,
    within_correlation,
)
from conceptlab.claims.times import censored_times, group_times, ordering
from conceptlab.claims.values import NoData, PerSeed, difference, geometric_mean, ratio, smallest
from conceptlab.claims.verdict import Verdict, read_claims, to_json, write_claims

__all__ = [
    "CORRELATION",
    "DIFFERENCE",
    "NO_FAILURES",
    "SHARE",
    "Claim",
    "Failures",
    "Measured",
    "NoData",
    "PerSeed",
    "Rates",
    "Tables",
    "Verdict",
    "accuracy_resolution",
    "calibrate",
    "censored_times",
    "correlation",
    "correlation_difference",
    "count_text",
    "definitions_hash",
    "difference",
    "final_value",
    "geometric_mean",
    "group_times",
    "holm",
    "interval_text",
    "judge",
    "judge_measured",
    "measure",
    "ordering",
    "outcome_per_seed",
    "permuted",
    "ratio",
    "read_claims",
    "render_verdicts",
    "seeds_text",
    "share_interval",
    "slope",
    "smallest",
    "student_interval",
    "summary",
    "threshold_text",
    "tied",
    "to_json",
    "unit_text",
    "value_per_seed",
    "value_text",
    "within_correlation",
    "write_claims",
]

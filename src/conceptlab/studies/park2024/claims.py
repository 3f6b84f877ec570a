"""What park2024 claims, as sentences that data can contradict. Thresholds are the paper's words, not fitted."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from conceptlab.claims import CORRELATION, DIFFERENCE, SHARE, Claim, accuracy_resolution
from conceptlab.studies.park2024 import statistics as stats
from conceptlab.studies.park2024.recipes import SIZES
from conceptlab.studies.park2024.tables import THRESHOLD

_IMAGES = 32
RANK = "Spearman's rank correlation over separations, within a seed"
# Standard error of Fisher's z of one rank correlation over n settings, √(1.06/(n - 3)): seeds that all have the
# settings in perfect order tie, and are not believed to be more certain than this.
_SEPARATIONS = len(SIZES["paper"].separations)
OVER_SEPARATIONS, OVER_FOUR = math.sqrt(1.06 / (_SEPARATIONS - 3)), math.sqrt(1.06)
# Standard error of the mean of as many ranks that are uniform.
MEAN_RANK = math.sqrt(1 / 12 / _SEPARATIONS)
WITHIN = "rank correlation over seeds within a separation, each seed's share"


# What claims of a kind share: a rank correlation over separations, one within them that is positive, a ratio above 1.
_RANKED: dict[str, Any] = {"threshold": 0.0, "transform": "fisher", "resolution": OVER_SEPARATIONS}
_POSITIVE: dict[str, Any] = {"threshold": 0.0, "side": "above", "limits": CORRELATION}
_LATER: dict[str, Any] = {"threshold": 1.0, "side": "above", "transform": "log"}


def _claim(figure: str, name: str, statement: str, statistic: str, measure: Any, **settings: Any) -> Claim:
    return Claim(
        id=f"park2024.{name}",
        paper="park2024",
        figure=figure,
        statement=statement,
        statistic=statistic,
        measure=measure,
        **settings,
    )


FIG1 = (
    _claim(
        "fig1",
        "speed",
        "The stronger the concept signal, the sooner the colour of class 11 is learned.",
        f"{RANK}, of colour signal and time to colour accuracy {THRESHOLD}",
        partial(stats.over_separations, "signal", "colour"),
        side="below",
        **_RANKED,
    ),
    _claim(
        "fig1",
        "memorisation",
        "At the lowest signal class 11 first goes to the corner of 01: concept memorisation.",
        "smallest distance of class 11 from corner 01 in concept space; half of an edge is its quadrant's reach",
        stats.nearest,
        threshold=0.5,
        side="below",
        resolution=accuracy_resolution(0.5, _IMAGES),
        limits=(0.0, math.sqrt(2)),  # concept space is a square of side 1
    ),
    _claim(
        "fig1",
        "nearer",
        "The lower the signal, the nearer class 11 comes to 01.",
        f"{RANK}, of colour signal and the smallest distance from corner 01",
        partial(stats.over_separations, "signal", "approach"),
        side="above",
        **_RANKED,
    ),
    _claim(
        "fig1",
        "earlier-better",
        "Where memorisation ends earlier, class 11 ends nearer its own corner.",
        f"{RANK}, of the turning time and the final distance from corner 11",
        partial(stats.over_separations, "turn", "final_distance"),
        side="above",
        **_RANKED,
    ),
)
FIG2 = (
    _claim(
        "fig2",
        "lead",
        "Capability precedes behaviour by more than choosing among as many prompts does by chance.",
        "time of the best of five redraws of the ordinary prompt over time of held-out capability",
        partial(stats.later_by, "null", "capability"),
        **_LATER,
    ),
    _claim(
        "fig2",
        "lead-resolved",
        "Capability precedes behaviour by more than one evaluation.",
        "evaluations from held-out capability to behaviour, mean over separations",
        stats.evaluations_between,
        threshold=1.0,
        side="above",
    ),
)
FIG3 = (
    _claim(
        "fig3",
        "linear",
        "The time of behaviour is a linear function of the time of capability.",
        "R² on a seed of a censored line fitted to the other seeds",
        partial(stats.predicted_share, "capability", "behaviour"),
        threshold=0.5,
        side="above",
        limits=(-math.inf, 1.0),
    ),
    _claim(
        "fig3",
        "linear-within",
        "Within a separation, too, seeds that are capable earlier behave earlier.",
        f"{WITHIN}, of capability and behaviour times, both since the model draws",
        partial(stats.within_separations, "capability", "behaviour", delays=True),
        **_POSITIVE,
    ),
)
FIG4 = (
    _claim(
        "fig4",
        "loss-silent",
        "The loss shows nothing at the time of capability.",
        "rank of the loss's kink at that time among all times; the test must find an injected kink",
        stats.loss_kink,
        threshold=stats.POWER,
        side="below",
        resolution=MEAN_RANK,
        limits=SHARE,
    ),
    _claim(
        "fig4",
        "turn",
        "The turn in concept space tells the time of capability.",
        f"{RANK}, of turning and capability times, both since the model draws",
        partial(stats.over_separations, "turn", "capability", delays=True),
        side="above",
        **_RANKED,
    ),
    _claim(
        "fig4",
        "turn-within",
        "Within a separation, too, seeds that turn earlier are capable earlier.",
        f"{WITHIN}, of turning and capability times, both since the model draws",
        partial(stats.within_separations, "turn", "capability", delays=True),
        **_POSITIVE,
    ),
)
FIG5 = (
    _claim(
        "fig5",
        "disentangled",
        "The embedding is disentangled at about the time of capability.",
        "time at which half of the lost disentanglement is regained over time of capability",
        partial(stats.later_by, "disentangled", "capability"),
        threshold=2.0,
        side="within",
        transform="log",
    ),
    _claim(
        "fig5",
        "disentangled-within",
        "Within a separation, seeds whose embedding disentangles earlier are capable earlier.",
        f"{WITHIN}, of disentanglement and capability times",
        partial(stats.within_separations, "disentangled", "capability"),
        **_POSITIVE,
    ),
)
FIG8 = (
    _claim(
        "fig8",
        "robust",
        "Capability times vary less over seeds than behaviour times.",
        "a seed's deviation from the others in log behaviour time over that in log capability time",
        partial(stats.spread_ratio, "behaviour", "capability"),
        **_LATER,
    ),
)
FIG9 = (
    _claim(
        "fig9",
        "all-capable",
        "Every seed acquires the capability, whatever the separation.",
        "final held-out capability at the worst separation",
        stats.worst_capability,
        threshold=THRESHOLD,
        side="above",
        resolution=accuracy_resolution(0.75, _IMAGES),
        limits=SHARE,
    ),
    _claim(
        "fig9",
        "not-all-behave",
        "At the lowest signal not every seed shows the behaviour.",
        f"share of seeds that end with behaviour of at least {THRESHOLD}",
        partial(stats.behaves, THRESHOLD),
        threshold=0.95,
        side="below",
        interval="proportion",
    ),
    _claim(
        "fig9",
        "gap",
        "At the lowest signal models can do more at the end than they show.",
        "final capability less final behaviour",
        stats.gap,
        threshold=0.0,
        side="above",
        resolution=accuracy_resolution(0.75, _IMAGES),
        limits=DIFFERENCE,
    ),
)
ELICITATION = tuple(
    _claim(
        "elicitation",
        f"elicited-by-{family}",
        f"{what} elicits class 11 before redraws of its own prompt do.",
        f"time of the best of five redraws of the ordinary prompt over held-out time of {family}, by both probes",
        partial(stats.later_by, "agreed_null", family),
        **_LATER,
    )
    for family, what in (
        ("search", "A search over prompts"),
        ("latent", "A linear intervention on the embedding"),
        ("guidance", "Guidance away from the neighbours"),
    )
)
MASKING = (
    _claim(
        "masking",
        "underspecified",
        "The more red images hide their colour, the worse class 11 ends.",
        "Spearman's rank correlation, within a seed, of the hidden share and the final accuracy of class 11",
        partial(stats.with_hidden_share, "final_behaviour"),
        threshold=0.0,
        side="below",
        transform="fisher",
        resolution=OVER_FOUR,
    ),
)

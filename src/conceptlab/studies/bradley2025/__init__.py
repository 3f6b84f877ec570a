"""bradley2025: "Local Mechanisms of Compositional Generalization in Conditional Diffusion" (Bradley et al., 2025).

A model that saw scenes of one to three objects is asked for up to twelve. Whether it draws them depends on whether its
score is local: on which pixels and which conditions each pixel's score depends. Each room below holds some figures.
"""

from types import ModuleType

from conceptlab.studies.bradley2025 import across, cpc, crowding, features, k_sweep, length, locality, told
from conceptlab.studies.bradley2025.settings import PAPER, SEEDS
from conceptlab.studies.study import Study

__all__ = ["STUDY"]

# Every room has a tuple FIGURES; figures are listed in this order.
_ROOMS: tuple[ModuleType, ...] = (length, crowding, told, k_sweep, locality, cpc, features, across)

STUDY = Study(
    name="bradley2025",
    title="Local mechanisms of length generalisation",
    paper=PAPER,
    figures=tuple(figure for room in _ROOMS for figure in room.FIGURES),
    seeds=SEEDS,
)

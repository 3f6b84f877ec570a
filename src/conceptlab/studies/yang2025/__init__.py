"""yang2025: "Swing-by Dynamics in Concept Learning and Compositional Generalization" (Yang et al., ICLR 2025).

All figures, the map of how often Swing-by happens, and `predict`, from concept signals to what a network learns when;
the paper has neither. Figure 6 draws from the members of park2024's sweep and `predict` from members of its own; all
others need theory or small networks alone and train nothing into the store. What was found is told in
`docs/yang2025.md`.
"""

from conceptlab.studies.study import Study
from conceptlab.studies.yang2025 import (
    bridge,
    compositions,
    deep,
    examples,
    failure,
    jacobian,
    map,
    order,
    predict,
    schematics,
)
from conceptlab.studies.yang2025.settings import PAPER, SEEDS

__all__ = ["STUDY"]

_ROOMS = (schematics, order, deep, jacobian, examples, compositions, failure, map, bridge, predict)


def _by_number(id_: str) -> tuple[int, str]:
    """fig2 before fig11, named figures last."""
    number = id_.removeprefix("fig")
    return (int(number), "") if number.isdigit() else (1000, id_)


STUDY = Study(
    name="yang2025",
    title="Swing-by: the order of learning and the detour to compositions",
    paper=PAPER,
    figures=tuple(sorted((f for room in _ROOMS for f in room.FIGURES), key=lambda f: _by_number(f.id))),
    seeds=SEEDS,
)

"""Edge capability on an oracle, on a model that ignores a variable, and on junk."""

from __future__ import annotations

import numpy as np
import pytest

from conceptlab.concepts import Class, ConceptSpace, Variable
from conceptlab.measures import edge_capabilities

SPACE = ConceptSpace([Variable("shape", ("circle", "triangle")), Variable("size", ("large", "small"))])


def _read(drawn: dict[Class, Class], images: int = 8) -> dict[Class, dict[str, np.ndarray]]:
    """What a perfect probe reads where each class asked for is drawn as another."""
    return {
        asked: {name: np.tile(np.eye(2)[got[i]], (images, 1)) for i, name in enumerate(SPACE.names)}
        for asked, got in drawn.items()
    }


def test_oracle_reaches_one_on_every_edge_and_names_the_altered_variable() -> None:
    found = edge_capabilities(SPACE, _read({cls: cls for cls in SPACE}))
    assert [edge.value for edge in found] == [1.0] * 4
    assert {(SPACE.code(e.start), SPACE.code(e.end)): e.variable for e in found} == {
        ("00", "01"): "size", ("00", "10"): "shape", ("01", "11"): "shape", ("10", "11"): "size",
    }  # fmt: skip


def test_a_model_that_ignores_a_variable_cannot_alter_it() -> None:
    found = edge_capabilities(SPACE, _read({cls: (0, cls[1]) for cls in SPACE}))
    assert {e.variable: e.value for e in found} == {"size": 1.0, "shape": 0.0}


def test_junk_stays_at_a_quarter() -> None:
    rng = np.random.default_rng(0)
    read = {cls: {name: rng.random((4000, 2)) for name in SPACE.names} for cls in SPACE}
    assert [e.value for e in edge_capabilities(SPACE, read)] == pytest.approx([0.25] * 4, abs=0.03)

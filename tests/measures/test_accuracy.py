"""Each measure on an oracle (always right), on junk (chance), and on a case worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from conceptlab.concepts import ConceptSpace, Variable
from conceptlab.measures import (
    additive_accuracy,
    agreed,
    concept_space,
    disagreement,
    drawn,
    joint_accuracy,
    joint_probability,
    variable_accuracies,
)

SPACE = ConceptSpace(
    [Variable("shape", ("circle", "triangle", "square")), Variable("colour", ("red", "blue"))]
)
ASKED = (2, 1)


def oracle(n: int = 50) -> dict[str, np.ndarray]:
    return {v.name: np.tile(np.eye(len(v.values))[value], (n, 1)) for v, value in zip(SPACE.concepts, ASKED)}


def junk(n: int = 60_000) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    return {v.name: generator.dirichlet(np.ones(len(v.values)), n) for v in SPACE.concepts}


def test_probes_disagree_where_any_variable_differs():
    first, second = oracle(4), oracle(4)
    second["colour"] = second["colour"][:, ::-1].copy()
    assert disagreement(SPACE, first, first) == 0
    assert disagreement(SPACE, first, second) == 1
    second["colour"][:3] = first["colour"][:3]
    assert disagreement(SPACE, first, second) == 0.25
    assert disagreement(SPACE, oracle(60_000), junk()) == pytest.approx(1 - 1 / 6, abs=0.01)


def test_what_probes_do_not_agree_on_is_no_class():
    first, second = oracle(4), oracle(4)
    second["colour"] = second["colour"][:, ::-1].copy()
    assert joint_accuracy(SPACE, agreed(SPACE, first, first), ASKED) == 1
    assert joint_accuracy(SPACE, agreed(SPACE, first, second), ASKED) == 0
    assert joint_accuracy(SPACE, agreed(SPACE, first, second), (0, 0)) == 0, "nor the class of zeros"
    second["colour"][:3] = first["colour"][:3]
    found = agreed(SPACE, first, second)
    assert joint_accuracy(SPACE, found, ASKED) == joint_probability(SPACE, found, ASKED) == 0.75


def test_an_oracle_scores_one():
    for measure in (joint_accuracy, joint_probability, additive_accuracy):
        assert measure(SPACE, oracle(), ASKED) == 1.0
    assert variable_accuracies(SPACE, oracle(), ASKED) == {"shape": 1.0, "colour": 1.0}
    assert concept_space(SPACE, oracle()) == {"shape": 1.0, "colour": 1.0}
    assert drawn(SPACE, oracle()) == {ASKED: 1.0}


def test_junk_scores_chance():
    assert joint_accuracy(SPACE, junk(), ASKED) == pytest.approx(1 / 6, abs=0.01)
    assert joint_probability(SPACE, junk(), ASKED) == pytest.approx(1 / 6, abs=0.01)
    assert additive_accuracy(SPACE, junk(), ASKED) == pytest.approx((1 / 3 + 1 / 2) / 2, abs=0.01)
    assert concept_space(SPACE, junk()) == pytest.approx({"shape": 0.5, "colour": 0.5}, abs=0.01)
    shares = drawn(SPACE, junk())
    assert sum(shares.values()) == pytest.approx(1)
    assert all(share == pytest.approx(1 / 6, abs=0.01) for share in shares.values())


def test_images_in_which_nothing_is_read_are_never_right():
    """A judge says so with probabilities of 0."""
    half = {name: np.concatenate([table, np.zeros_like(table)]) for name, table in oracle().items()}
    assert joint_accuracy(SPACE, half, ASKED) == joint_probability(SPACE, half, ASKED) == 0.5
    assert variable_accuracies(SPACE, half, ASKED) == {"shape": 0.5, "colour": 0.5}
    assert drawn(SPACE, half) == {ASKED: 0.5}
    assert concept_space(SPACE, half) == {"shape": 0.75, "colour": 0.75}


def test_by_hand():
    probabilities = {
        "shape": np.array([[0.1, 0.1, 0.8], [0.6, 0.2, 0.2]]),
        "colour": np.array([[0.4, 0.6], [0.1, 0.9]]),
    }
    assert joint_accuracy(SPACE, probabilities, ASKED) == 0.5
    assert joint_probability(SPACE, probabilities, ASKED) == pytest.approx((0.8 * 0.6 + 0.2 * 0.9) / 2)
    assert additive_accuracy(SPACE, probabilities, ASKED) == 0.75
    assert variable_accuracies(SPACE, probabilities, ASKED) == {"shape": 0.5, "colour": 1.0}
    assert drawn(SPACE, probabilities) == {(2, 1): 0.5, (0, 1): 0.5}
    assert concept_space(SPACE, probabilities)["shape"] == pytest.approx((0.85 + 0.3) / 2)


def test_the_joint_never_exceeds_the_worst_variable():
    probabilities = junk(500)
    joint = joint_accuracy(SPACE, probabilities, ASKED)
    assert joint <= min(variable_accuracies(SPACE, probabilities, ASKED).values())

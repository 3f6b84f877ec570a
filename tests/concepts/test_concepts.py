from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from conceptlab.concepts import ConceptSpace, Split, Variable, concept_graph, positions
from conceptlab.errors import InputError

SHAPES = ConceptSpace(
    [
        Variable("shape", ("circle", "triangle")),
        Variable("size", ("large", "small")),
        Variable("colour", ("red", "blue")),
        Variable("location"),
        Variable("angle"),
    ]
)


def cube(n: int, values: int = 2) -> ConceptSpace:
    return ConceptSpace([Variable(f"v{i}", tuple(f"x{j}" for j in range(values))) for i in range(n)])


def test_every_way_of_writing_a_class_means_the_same():
    forms = [
        "011",
        "0-1-1",
        "0,1,1",
        "shape=circle,size=small,colour=blue",
        "colour=blue, shape=circle, size=1",
    ]
    assert {SHAPES.parse(form) for form in forms} == {(0, 1, 1)}
    assert SHAPES.parse((0, 1, 1)) == SHAPES.parse(["circle", "small", "blue"]) == (0, 1, 1)
    assert SHAPES.code((0, 1, 1)) == "011"
    assert SHAPES.name((0, 1, 1)) == "shape=circle,size=small,colour=blue"


def test_a_code_means_its_class_whatever_values_are_called():
    """Of the months `1` to `12`, code 1 is the second."""
    months = ConceptSpace([Variable("month", tuple(str(number) for number in range(1, 13)))])
    assert [months.parse(months.code(cls)) for cls in months] == list(months)
    assert months.parse("month=1") == (0,)
    with pytest.raises(InputError, match=r"no value at place 12, only at 0 to 11; write month=12"):
        months.parse("12")


def test_names_of_values_may_hold_a_hyphen():
    clothes = [Variable("kind", ("cap", "t-shirt")), Variable("colour", ("red", "blue-green"))]
    space = ConceptSpace(clothes)
    assert space.parse("t-shirt, blue-green") == space.parse("1-1") == (1, 1)
    assert ConceptSpace(clothes[:1]).parse("t-shirt") == (1,)


def test_order_is_the_declared_one():
    turned = ConceptSpace([Variable("colour", ("red", "blue")), Variable("shape", ("circle", "triangle"))])
    assert turned.name(turned.parse("10")) == "colour=blue,shape=circle"
    assert turned.order == "(colour, shape)"


@pytest.mark.parametrize(
    "text",
    [
        "012",
        "01",
        "0111",
        "shape=hexagon,size=small,colour=blue",
        "shape=circle",
        "x",
        "",
        "²11",
        "²,1,1",
        f"{'9' * 5000},1,1",
    ],
)
def test_bad_classes_get_one_line(text):
    with pytest.raises(InputError) as failure:
        SHAPES.parse(text)
    assert "\n" not in str(failure.value)


def test_bad_spaces_get_one_line():
    with pytest.raises(InputError, match="declared twice"):
        ConceptSpace([Variable("a", ("0", "1")), Variable("a", ("0", "1"))])
    with pytest.raises(InputError, match="value twice"):
        ConceptSpace([Variable("a", ("0", "0"))])
    with pytest.raises(InputError, match="at least one variable"):
        ConceptSpace([Variable("location")])
    with pytest.raises(InputError, match="unknown free variable"):
        ConceptSpace([Variable("a", ("0", "1"))], free=["b"])


def test_which_variable_is_free_is_configuration():
    variables = [Variable("shape", ("circle", "square")), Variable("background", ("white", "black"))]
    assert len(ConceptSpace(variables)) == 4
    freed = ConceptSpace(variables, free=["background"])
    assert freed.classes == ((0,), (1,))
    assert [v.name for v in freed.free] == ["background"]


def test_more_than_ten_values_stay_readable():
    wide = ConceptSpace(
        [Variable("hue", tuple(str(10 * i) for i in range(12))), Variable("size", ("s", "l"))]
    )
    assert wide.code((11, 1)) == "11-1"
    assert wide.parse("11-1") == (11, 1)
    assert all(wide.parse(wide.code(c)) == c == wide.parse(wide.name(c)) for c in wide)


def test_a_value_named_by_digits_is_not_taken_for_a_place_that_there_is_not():
    space = ConceptSpace([Variable("digit", ("1", "4", "7")), Variable("stroke", ("thick", "thin"))])
    assert space.parse("1,thick") == (1, 0), "digits are places"
    assert space.parse("digit=7,stroke=thick") == (2, 0)
    with pytest.raises(InputError, match=r"no value at place 7, only at 0 to 2; write digit=7 for the one"):
        space.parse("7,thick")


def test_distance_is_hamming():
    space = cube(5, 3)
    for a, b in itertools.islice(itertools.product(space, space), 0, 20_000, 37):
        assert space.distance(a, b) == sum(x != y for x, y in zip(a, b))


def test_split_knows_distances_and_rarity():
    split = Split(SHAPES, {"000": 100, "100": 50, "010": 50, "001": 50})
    assert {SHAPES.code(c): d for c, d in split.distances.items()} == {
        "000": 0, "001": 0, "010": 0, "100": 0, "011": 1, "101": 1, "110": 1, "111": 2,
    }  # fmt: skip
    assert split.frequency("colour", 1) == pytest.approx(0.2)
    assert split.held_out == ((0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1))
    assert Split.around(SHAPES, "000", 10).train == split.train
    assert split.by_code() == {"000": 100, "100": 50, "010": 50, "001": 50}
    assert Split(SHAPES, split.by_code()).counts == split.counts


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ({}, "empty"),
        ({"000": 0}, "empty"),
        ({"000": -1}, "0 or more"),
        ({"000": 1, "0-0-0": 1}, "twice"),
        ({"00x": 1}, "class .00x. has 1 value; name one for each of .shape, size, colour."),
    ],
)
def test_bad_splits_get_one_line(counts, word):
    with pytest.raises(InputError, match=word):
        Split(SHAPES, counts)


def test_graph_is_the_hamming_graph():
    split = Split.around(cube(4), "0000", 1)
    graph = concept_graph(split.space, split)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    assert graph.number_of_edges() == 32
    for a, b in itertools.product(split.space, repeat=2):
        assert lengths[a][b] == split.space.distance(a, b)
    assert sorted({d for _, d in graph.nodes(data="distance")}) == [0, 1, 2, 3]
    assert {v for *_, v in graph.edges(data="variable")} == {"v0", "v1", "v2", "v3"}


@pytest.mark.parametrize(
    "space", [cube(1), cube(2), cube(3), cube(4), cube(5), cube(6), cube(3, 4), cube(4, 3)]
)
def test_no_two_classes_are_drawn_on_top_of_each_other(space):
    places = positions(space)
    assert set(places) == set(space.classes)
    dimensions = {len(p) for p in places.values()}
    assert dimensions == {min(len(space.concepts), 3) if len(space.concepts) <= 3 else 2}
    assert min(math.dist(a, b) for a, b in itertools.combinations(places.values(), 2)) > 0.3


def test_the_lattice_of_four_variables_can_be_read():
    """Edges of different variables have directions of their own, and no edge runs through a class that it does not
    join."""
    space = cube(4)
    where = {cls: np.array(place) for cls, place in positions(space).items()}
    edges = [(a, b) for a, b in concept_graph(space).edges]
    directions = {int(np.argmax(np.subtract(b, a))): where[b] - where[a] for a, b in edges}
    for one, other in itertools.combinations(directions.values(), 2):
        cosine = abs(one @ other) / (np.linalg.norm(one) * np.linalg.norm(other))
        assert math.degrees(math.acos(cosine)) > 30
    height = np.ptp([place[1] for place in where.values()])
    for cls, (a, b) in itertools.product(space, edges):
        if cls not in (a, b):
            along = where[b] - where[a]
            nearest = np.clip((where[cls] - where[a]) @ along / (along @ along), 0, 1)
            assert np.linalg.norm(where[cls] - where[a] - nearest * along) > height / 8


def test_each_variable_is_altered_alone_and_after_the_last_value_comes_the_first():
    space = ConceptSpace(
        [Variable("shape", ("circle", "triangle", "square")), Variable("size", ("large", "small"))]
    )
    assert space.altered((0, 1)) == {"shape": (1, 1), "size": (0, 0)}
    assert space.altered((2, 0)) == {"shape": (0, 0), "size": (2, 1)}

"""What a data set can teach: against brute force, against renderers that know the truth, and on junk."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from conceptlab.concepts import ConceptSpace, Variable
from conceptlab.worlds import DataOptions, RenderedWorld, build, concept_signal, open_data
from conceptlab.worlds.inspection import (
    advise,
    class_table,
    inspect,
    isolated,
    neighbour_signals,
    never_alone,
    satisfied,
    value_table,
)
from conceptlab.worlds.inspection.advice import _greedy
from tests.image_folder import WORLD, everything, write_folder, write_table

VARIABLES = ("shape", "size=large,small", "colour=red,blue")


def space_of(*sizes: int) -> ConceptSpace:
    return ConceptSpace([Variable(f"v{i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes)])


def classes(space: ConceptSpace, *codes: str):
    return [space.parse(code) for code in codes]


# --- reach ---


def test_the_trap_of_okawa2023_figure_9():
    space = ConceptSpace(
        [
            Variable("shape", ("circle", "triangle")),
            Variable("size", ("large", "small")),
            Variable("colour", ("r", "b")),
        ]
    )
    counts = dict.fromkeys(classes(space, "000", "100", "001", "111"), 10)
    assert never_alone(space, counts) == ["size"]
    table = value_table(space, counts).set_index(["variable", "value"])
    assert table.loc[("size", "small"), "tied"] == "shape=triangle, colour=b"
    assert table.loc[("size", "large"), "tied"] == ""
    assert table.loc[("size", "small"), "share"] == 0.25
    # The minimal set of Figure 5 has no such trap.
    assert never_alone(space, classes(space, "000", "100", "010", "001")) == []


def test_values_that_are_isolated_in_a_variable_that_is_not():
    space = space_of(3, 2)
    assert isolated(space, classes(space, "00", "10", "21")) == {"v0": {2}, "v1": {0, 1}}
    assert never_alone(space, classes(space, "00", "10", "21")) == ["v1"]


def test_distances_are_those_of_the_nearest_class():
    space = space_of(2, 3, 2)
    counts = dict.fromkeys(classes(space, "000", "021"), 4)
    table = class_table(space, counts).set_index("class")
    for cls in space:
        nearest = min(sum(a != b for a, b in zip(cls, seen)) for seen in counts)
        assert table.loc[space.code(cls), "distance"] == nearest
    assert table["share"].sum() == pytest.approx(1)


# --- advice ---


def fewest(space: ConceptSpace, present) -> int:
    missing = [cls for cls in space if cls not in present]
    for size in range(len(missing) + 1):
        for chosen in itertools.combinations(missing, size):
            if satisfied(space, [*present, *chosen]):
                return size
    raise AssertionError


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (2, 2, 2), (3, 3), (2, 2, 3), (4, 3), (2, 2, 2, 2)])
def test_advice_is_as_short_as_brute_force_finds(sizes):
    space = space_of(*sizes)
    rng = np.random.default_rng(sum(sizes))
    for trial in range(8):
        size = 1 + trial % (len(space) // 2)
        present = [space.classes[i] for i in rng.choice(len(space), size, replace=False)]
        advice = advise(space, present)
        assert advice.proven
        assert satisfied(space, [*present, *advice.classes])
        assert not set(advice.classes) & set(present)
        assert len(advice.classes) == fewest(space, present)


def test_known_coverings():
    """Two opposite corners cover a cube, but then no variable varies alone; all of its neighbours or a path do both."""
    space = space_of(2, 2, 2)
    assert len(advise(space, classes(space, "000")).classes) == 3
    assert advise(space, classes(space, "000", "100", "010", "001")).classes != ()
    assert len(advise(space, classes(space, "000", "100", "010", "001")).classes) == 1
    assert advise(space, space.classes).classes == ()


def test_where_the_solver_gives_up_the_answer_is_still_one():
    space = space_of(3, 3, 2)
    present = set(classes(space, "000"))
    chosen = _greedy(space, present, [cls for cls in space if cls not in present])
    assert satisfied(space, present | set(chosen))
    assert len(chosen) < len(space) - 1


def test_a_large_space_is_advised_in_time(monkeypatch):
    monkeypatch.setattr("conceptlab.worlds.inspection.advice._SECONDS", 0.5)
    space = space_of(4, 4, 4, 4)
    advice = advise(space, [space.classes[0]])
    assert satisfied(space, [space.classes[0], *advice.classes])


# --- signal ---


@pytest.fixture(scope="module")
def shapes(tmp_path_factory) -> Path:
    return write_folder(tmp_path_factory.mktemp("shapes") / "data", everything(150))


def test_signal_is_near_the_renderer_s_own(shapes):
    """The renderer flips one concept and holds the rest; neighbours only come close."""
    world = open_data(shapes, DataOptions(variables=VARIABLES))
    truth = build("shapes", **WORLD)
    assert isinstance(truth, RenderedWorld)
    found = neighbour_signals(world)
    exact = {name: concept_signal(truth, name, n=256).value for name in world.space.names}
    for name, signal in found.items():
        assert signal.value == pytest.approx(exact[name], rel=0.1), (name, found, exact)
        assert signal.pairs == 8
    assert sorted(found, key=lambda n: found[n].value) == sorted(exact, key=lambda n: exact[n])


def test_rows_that_occur_twice_change_no_signal(tmp_path):
    folder = write_folder(tmp_path / "data", everything(8))
    options = DataOptions(variables=VARIABLES)
    once = neighbour_signals(open_data(folder, options))
    table = pd.read_csv(folder / "labels.csv")
    write_table(folder / "labels.csv", pd.concat([table, table]))
    assert neighbour_signals(open_data(folder, options)) == once


def test_labels_at_random_have_no_signal(tmp_path):
    copy = write_folder(tmp_path / "data", everything(60))
    table = pd.read_csv(copy / "labels.csv")
    table["junk"] = np.random.default_rng(0).permutation(len(table)) % 2
    write_table(copy / "labels.csv", table)
    signal = neighbour_signals(open_data(copy, DataOptions(variables=("shape", "junk"))))
    assert abs(signal["junk"].value) < 3 * signal["junk"].standard_error
    assert signal["shape"].value > 10 * abs(signal["junk"].value)


def test_what_never_varies_alone_has_no_signal(tmp_path):
    folder = write_folder(tmp_path / "data", dict.fromkeys(("000", "100", "001", "111"), 8))
    found = inspect(open_data(folder, DataOptions(variables=VARIABLES)))
    table = found.variables.set_index("variable")
    assert table["alone"].to_dict() == {"shape": True, "size": False, "colour": True}
    assert math.isnan(table.loc["size", "signal"])
    assert found.bottleneck == "size"
    # 101 is one step from 100 (colour) and from 001 (shape); 010 can only be reached from 111, by both.
    mean = table["strength"].mean()
    shape, colour = (mean / table.loc[name, "strength"] for name in ("shape", "colour"))
    efforts = found.classes.set_index("class")["effort"]
    assert efforts["101"] == pytest.approx(min(shape, colour))
    assert efforts["011"] == pytest.approx(shape)
    assert efforts["110"] == pytest.approx(colour)
    assert efforts["010"] == pytest.approx(shape + colour)
    assert found.missing["class"].iloc[-1] == "010"


# --- duplicates ---


def test_copies_near_copies_and_conflicts(tmp_path):
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (16, 16, 3), dtype=np.uint8) for _ in range(12)]
    pictures[5] = pictures[2]
    pictures[7] = np.clip(pictures[3].astype(int) + rng.integers(-2, 3, (16, 16, 3)), 0, 255).astype(np.uint8)
    pictures[9] = np.clip(pictures[3].astype(int) + 12, 0, 255).astype(np.uint8)
    rows = []
    for number, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        rows.append({"file": f"{number}.png", "kind": "a" if number < 6 else "b"})
    write_table(tmp_path / "t.csv", pd.DataFrame(rows))
    found = inspect(open_data(tmp_path, DataOptions(variables=("kind",))))
    pairs = {(row["first"], row["second"]): row for _, row in found.duplicates.pairs.iterrows()}
    assert set(pairs) == {("2.png", "5.png"), ("3.png", "7.png")}
    assert pairs["2.png", "5.png"]["difference"] == 0
    assert not pairs["2.png", "5.png"]["conflict"]
    assert pairs["3.png", "7.png"]["conflict"]
    assert any("3.png and 7.png" in text for text in found.problems)


def _listed_again(folder: Path, **values: dict[str, object]) -> None:
    """The picture in the first row once more under other names, with other values: one for each name."""
    table = pd.read_csv(folder / "labels.csv")
    rows = [table.iloc[0].to_dict() | {"file": f"{name}.png"} | value for name, value in values.items()]
    for row in rows:
        shutil.copy(folder / table["file"][0], folder / row["file"])
    write_table(folder / "labels.csv", pd.concat([table, pd.DataFrame(rows)]))


def test_numbers_on_both_sides_of_a_cut_are_no_labels_that_disagree(tmp_path):
    folder = write_folder(tmp_path / "data", everything(12))
    _listed_again(folder, near={"radius": 0.42}, above={"radius": 0.43}, far={"radius": 0.3})
    found = inspect(open_data(folder, DataOptions(variables=("shape", "radius@0.425", "colour"))))
    first = "pictures/000-000.png"
    pairs = {(row["first"], row["second"]): row for _, row in found.duplicates.pairs.iterrows()}
    assert found.duplicates.conflicts.empty
    assert found.problems == []
    assert pairs["near.png", "above.png"]["numbers"] == "radius 0.42 and 0.43"
    assert pairs[first, "above.png"]["numbers"] == "", "both lie above the cut"
    widest = found.duplicates.by_weight.iloc[0]
    assert "far.png" in (widest["first"], widest["second"]), "not near the cut: the first to look at"
    assert len(found.duplicates.cut) == 4, "two below the cut with two above it"
    assert found.to_json()["duplicates"][0]["gap"] == pytest.approx(widest["gap"])


def test_a_cut_excuses_no_other_label(tmp_path):
    folder = write_folder(tmp_path / "data", everything(12))
    _listed_again(folder, both={"radius": 0.3, "colour": "blue"})
    found = inspect(open_data(folder, DataOptions(variables=("shape", "radius@0.425", "colour"))))
    assert (len(found.duplicates.conflicts), len(found.duplicates.cut)) == (1, 0)
    assert any("both.png" in text for text in found.problems)


# --- all together ---


def test_inspection_as_json_and_its_problems(tmp_path):
    folder = write_folder(tmp_path / "data", {**everything(6), "011": 1, "111": 0})
    found = inspect(open_data(folder, DataOptions(variables=VARIABLES)))
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["images"] == 37
    assert {row["class"]: row["count"] for row in data["classes"]}["011"] == 1
    assert data["collect"] == []
    assert ["classes with too few different images (1): 011 (1)" in text for text in data["problems"]] == [
        True
    ]
    assert sorted(row["rank"] for row in data["variables"]) == [1, 2, 3]

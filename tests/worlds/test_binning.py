"""Which values a column has, how numbers are cut into bins, and what is told where that cannot be."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from conceptlab.errors import InputError
from conceptlab.worlds.binning import labels_of, resolve
from tests.image_folder import everything, opened, write_folder, write_table


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (["shap"], "unknown column 'shap'.*did you mean 'shape'"),
        (["radius"], "different values; bin it"),
        (["radius@x"], "write the cuts as numbers"),
        (["radius@nan"], "write the cuts as numbers"),
        (["radius@0.3,inf"], "write the cuts as numbers"),
        (["radius@0.6,0.3"], "must rise"),
        (["radius/1"], "the number of bins"),
        (["shape/2"], "is not a column of numbers"),
        (["radius@0.5=a,b,c"], "2 bins need as many names"),
        (["radius/2", "shape="], None),
        (["shape=circle"], "two values or more"),
        (["shape=circle,circle"], "'circle' is named twice"),
        (["shape=both:circle+triangle,other:triangle"], "'triangle' is named twice"),
    ],
)
def test_bad_variables_are_one_line(folder, variables, message):
    if message is None:
        assert opened(folder, *variables).space.names == ("radius", "shape")
        return
    with pytest.raises(InputError, match=message) as caught:
        opened(folder, *variables)
    assert "\n" not in str(caught.value)


def test_a_bin_without_images_cannot_be_left_out_but_cut_elsewhere(folder):
    numbers = pd.read_csv(folder / "labels.csv")["radius"]
    span = f"'radius' runs from {numbers.min():.6g} to {numbers.max():.6g}"
    with pytest.raises(InputError, match=rf"radius=≥9. Cut elsewhere; {span}\.$"):
        opened(folder, f"radius@{numbers.median()},9", "shape")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("place/4", ["<12008", "12008–12015", "12015–12022", "≥12022"]),
        ("place@12020.1,12020.2", ["<12020.1", "12020.1–12020.2", "≥12020.2"]),
        ("place@12000.4", ["<12000.4", "≥12000.4"]),
        ("place@12010", ["<1.201e+04", "≥1.201e+04"]),
    ],
)
def test_bins_are_named_with_the_digits_that_tell_them_apart(text, names):
    table = pd.DataFrame({"place": range(12000, 12031)})
    assert [name for name, _ in resolve([text], table, "table.csv")[0][1]] == names


@pytest.mark.parametrize(
    ("column", "ways"),
    [
        ([f"{number / 7:.3f}" for number in range(700, 740)], 3),
        ([f"{number:.3f}" for number in range(-20, 20)], 3),
        ([f"cat {number:02d}" for number in range(40)], 2),
    ],
)
def test_each_way_that_is_told_to_come_to_few_values_can_be_gone(column, ways):
    table = pd.DataFrame({"what": column})
    with pytest.raises(InputError, match="'what' has 40 different values") as caught:
        resolve(["what"], table, "table.csv")
    told = re.findall(r"'(what[^']+)'", str(caught.value))
    assert len(told) == ways
    for text in told:
        variables = resolve([text], table, "table.csv")
        labels = labels_of(variables, table)[:, 0]
        assert {0, 1} <= set(labels.tolist())
        assert len(variables[0][1]) == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", "2", "big", "4", "nan"], r"in 2 of 5 rows \(row 3: 'big', and 1 more\); write numbers there"),
        (
            ["0,1", "0,2", "0,3", "0,4", "1"],
            r"commas in its numbers \('0,1' in row 1\); write them with a point",
        ),
        (["a", "b", "c", "4", "5"], r"not a column of numbers \(it holds 'a'\); choose values: size=a,b"),
        ([None] * 5, r"not a column of numbers \(it is empty\); choose another"),
    ],
)
def test_what_is_no_number_is_told_with_its_row(values, message):
    with pytest.raises(InputError, match=message):
        resolve(["size/2"], pd.DataFrame({"size": pd.Series(values, dtype=object)}), "table.csv")


def test_values_stay_as_they_are_written_and_numbers_are_in_their_order(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "data", everything(4))
    table = pd.read_csv(folder / "labels.csv")
    table["code"] = table["colour"].map({"blue": "01", "red": "1"})
    table["count"] = table["shape"].map({"circle": "10", "triangle": "9.50"})
    table["kind"] = table["size"].map({"large": "True", "small": "10a"})
    write_table(folder / "labels.csv", table)
    world = opened(folder, "code", "count", "kind")
    assert [variable.values for variable in world.space.concepts] == [
        ("01", "1"),
        ("9.50", "10"),
        ("10a", "True"),
    ]
    assert world.counts() == dict.fromkeys(world.space.classes, 4)
    chosen = opened(folder, "code=1,01", "shape")
    assert chosen.space.concepts[0].values == ("1", "01")
    assert opened(folder, "count@9.7", "colour").counts() == dict.fromkeys(chosen.space.classes, 8)


def test_letters_that_are_put_together_otherwise_are_the_same_value():
    """Tables that were made on two systems would have two values that read alike."""
    apart, whole = (unicodedata.normalize(form, "grün") for form in ("NFD", "NFC"))
    table = pd.DataFrame({"colour": [apart, "rot", whole]})
    variables = resolve(["colour"], table, "table.csv")
    assert variables == (("colour", ((whole, (whole,)), ("rot", ("rot",)))),)
    for texts in ([f"colour={apart},rot"], [f"colour={whole},rot"]):
        assert labels_of(resolve(texts, table, "table.csv"), table).ravel().tolist() == [0, 1, 0]

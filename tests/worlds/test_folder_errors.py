"""Whatever is wrong with a folder of one's own is told at once, with the file and the row."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.worlds import DataOptions, open_data
from conceptlab.worlds.folder_images import MOST_PIXELS
from conceptlab.worlds.folder_table import read_table
from tests.image_folder import everything, opened, state_of, write_folder, write_table


def spoiled(tmp_path: Path) -> Path:
    """Everything wrong at once."""
    folder = write_folder(tmp_path / "data", everything(3))
    pictures = folder / "pictures"
    (pictures / "000-000.png").unlink()
    whole = (pictures / "000-001.png").read_bytes()
    (pictures / "000-001.png").write_bytes(whole[: len(whole) // 2])
    Image.new("RGB", (20, 16)).save(pictures / "000-002.png")
    Image.new("L", (16, 16)).save(pictures / "001-000.png")
    (pictures / "001-001.png").write_text("no image")
    Image.new("1", (10_000, 10_000)).save(pictures / "001-002.png")
    table = pd.read_csv(folder / "labels.csv")
    table.loc[20, "colour"] = None
    table["flat"] = "same"
    table.loc[21, "file"] = "../outside.png"
    write_table(folder / "labels.csv", table)
    return folder


def test_all_problems_are_told_at_once(tmp_path):
    folder = spoiled(tmp_path)
    before = state_of(folder)
    with pytest.raises(InputError) as caught:
        opened(folder, "shape", "colour", "flat=same,other")
    text = str(caught.value)
    for part in (
        "kinds of problems",
        "missing files (1): pictures/000-000.png (row 1)",
        "files outside the folder (1)",
        "images that cannot be read (1): pictures/001-001.png (not an image)",
        f"more than {MOST_PIXELS // 10**6} megapixels (1): pictures/001-002.png",
        "mixed sizes",
        "--resolution N",
        "mixed modes",
        "--mode RGB",
        "'colour' has no value (1): row 21. Fill them in, take these lines out of the table, or choose --variables",
        "values without images (1): flat=other",
        "single-valued variables (1): flat (always same)",
        "damaged images (1): pictures/000-001.png",
    ):
        assert part in text, part
    assert state_of(folder) == before


def test_a_long_list_is_capped(tmp_path):
    folder = write_folder(tmp_path / "data", everything(10))
    for path in (folder / "pictures").iterdir():
        path.unlink()
    with pytest.raises(InputError) as caught:
        opened(folder)
    assert "missing files (80)" in str(caught.value)
    assert "and 76 more" in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file,kind\na.png,caf\xe9\n".encode("latin1"), r"is not UTF-8 \(byte 0xe9 in line 2\).* -f latin1 "),
        ("file,kind\na.png,x\n".encode("utf-16"), r"is not UTF-8 \(byte 0xff in line 1\).* -f utf-16 "),
        (b"", "cannot be read as a table"),
        (b"file,kind\n", "has no rows"),
        (b"name,kind\na.png,x\n", "name the one with the images' files with --files"),
        (b"file,kind\na.png,x\nb.png,y,z\n", "cannot be read as a table"),
        (b"file,kind\na.png,x,z\nb.png,y,z\n", "more fields than its header names"),
        (b"file,kind, kind\na.png,x,y\n", "has two columns 'kind'"),
    ],
)
def test_damaged_tables(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        opened(tmp_path, "kind")


def test_damaged_json_lines_and_parquet(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"file": "a.png"}\n')
    with pytest.raises(InputError, match="no column beside"):
        open_data(tmp_path, DataOptions())
    (tmp_path / "t.jsonl").write_text('{"file": "a.png", "kind": 1}\n{"file": \n')
    with pytest.raises(InputError, match="line 2"):
        opened(tmp_path, "kind")
    (tmp_path / "t.jsonl").unlink()
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="cannot be read as a table"):
        opened(tmp_path, "kind")


@pytest.mark.parametrize("table", ["t.jsonl", "t.parquet"])
def test_lists_matter_only_in_columns_that_are_used(tmp_path, table):
    folder = write_folder(tmp_path / "data", everything(3))
    rows = pd.read_csv(folder / "labels.csv")
    (folder / "labels.csv").unlink()
    rows["tags"] = [["a", "b"][: number % 3] for number in range(len(rows))]
    rows["box"] = [{"x": number} for number in range(len(rows))]
    write_table(folder / table, rows)
    assert opened(folder).counts() == dict.fromkeys(opened(folder).space.classes, 3)
    assert open_data(folder, DataOptions()).space.names == ("shape", "size", "colour")
    for variable in ("tags", "tags=a,b", "box/2", "box@1"):
        name = variable[: 4 if variable.startswith("tags") else 3]
        with pytest.raises(InputError, match=f"{table}: '{name}' holds several values in row 1") as caught:
            opened(folder, "shape", variable)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="'tags' holds several values in row 1"):
        opened(folder, files="tags")


def test_data_that_were_moved_away_are_to_be_put_back(tmp_path):
    world = opened(write_folder(tmp_path / "data", {"000": 3, "100": 3}), "shape")
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    # `sample` and `elicit` have no --table that could mend it.
    with pytest.raises(InputError, match=r"labels\.csv is no longer there, .*: put them back"):
        world.check()


def test_which_table(tmp_path):
    with pytest.raises(InputError, match="has no table of attributes, and no images in folders"):
        opened(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("file,kind\n")
    with pytest.raises(InputError, match="choose one with --table"):
        opened(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        opened(tmp_path / "nowhere")


@pytest.mark.parametrize("resolution", [0, -3])
def test_a_resolution_of_nothing_is_not_one_that_is_left_out(tmp_path, resolution):
    folder = write_folder(tmp_path / "data", everything(3))
    (folder / "pictures" / "000-000.png").unlink()
    with pytest.raises(
        InputError, match=rf"^--resolution {resolution} is too small; give 4 or more"
    ) as caught:
        opened(folder, resolution=resolution)
    assert "\n" not in str(caught.value)


def test_of_two_tables_neither_can_be_meant(folder):
    for other in ("missing.csv", "pictures/000-000.png"):
        with pytest.raises(
            InputError, match=r"^--table: for a folder, and .*labels\.csv is a table itself; leave it"
        ):
            opened(folder / "labels.csv", table=other)


def test_a_table_may_be_named_twice(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    once = opened(folder / "labels.csv")
    for name in ("labels.csv", "./labels.csv", str(folder / "labels.csv"), f"{folder.name}/labels.csv"):
        assert opened(folder / "labels.csv", table=name) == once


def test_a_continuous_condition_needs_numbers(folder):
    with pytest.raises(InputError, match="continuous variables that are not numbers"):
        opened(folder, "shape", "colour", continuous=("colour",))


def test_a_continuous_condition_is_of_a_variable(folder):
    told = "^--continuous radius: it is no variable yet; give it bins, too, e.g. --variables shape radius/2$"
    with pytest.raises(InputError, match=told):
        opened(folder, "shape", continuous=("radius",))
    # As they are written: without its bins, the command it is pasted into would be refused.
    with pytest.raises(InputError, match=r"--variables shape=circle,triangle size radius/2$"):
        opened(folder, "shape=circle,triangle", "size", continuous=("radius",))
    with pytest.raises(InputError, match=r"unknown variable 'radiu' in --continuous; did you mean 'radius'"):
        opened(folder, "shape", "radius/2", continuous=("radiu",))


def test_a_continuous_value_needs_an_image_that_tells_its_number(tmp_path):
    """Its condition would be NaN, and what a model draws for that would be judged all the same."""
    folder = write_folder(tmp_path / "data", {"000": 4, "001": 4, "100": 4, "101": 4})
    table = pd.read_csv(folder / "labels.csv")
    table["amount"] = [1, 2, 1, 2] * 4
    table.loc[::4, ["shape", "amount"]] = ["square", 3]  # the only squares, and the only ones with 3
    write_table(folder / "labels.csv", table)
    with pytest.raises(InputError, match=r"continuous variable without images \(1\): amount=3\. The other"):
        opened(folder, "shape=circle,triangle", "amount", continuous=("amount",))
    assert len(opened(folder, "shape=circle,triangle", "amount").space) == 6


def test_a_continuous_variable_has_more_than_one_number(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 4, "100": 4})
    table = pd.read_csv(folder / "labels.csv")
    table["amount"] = ["1", "1.0"] * 4
    write_table(folder / "labels.csv", table)
    with pytest.raises(InputError, match=r"always the same number \(1\): amount\. A number that never"):
        opened(folder, "shape", "amount", continuous=("amount",))


def test_images_of_less_than_a_network_can_see_are_told_with_the_others(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 3, "100": 3})
    for path in (folder / "pictures").iterdir():
        Image.open(path).resize((3, 3)).save(path)
    (folder / "pictures" / "000-000.png").unlink()
    with pytest.raises(InputError) as caught:
        opened(folder, "shape")
    assert "images that are too small (1): 3×3. Give --resolution N, 4 or more." in str(caught.value)
    assert "missing files (1)" in str(caught.value)


def test_infinite_numbers_are_told_and_not_left_out(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 4, "100": 4})
    table = pd.read_csv(folder / "labels.csv")
    table.loc[2, "radius"] = math.inf
    table["coarse"] = ["1", "2"] * 3 + ["1", "inf"]
    write_table(folder / "labels.csv", table)
    for variable in ("radius@0.5", "radius/2"):
        with pytest.raises(InputError, match=r"'radius' is not a number in 1 of 8 rows \(row 3: 'inf'\)"):
            opened(folder, "shape", variable)
    with pytest.raises(InputError, match="continuous variables that are not numbers"):
        opened(folder, "shape", "coarse", continuous=("coarse",))


@pytest.mark.parametrize("table", ["labels.csv", "labels.jsonl", "labels.parquet"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_a_label_that_nobody_filled_in_is_no_value(tmp_path, table, blank):
    """It would be a value of its own, without a name, and its images a class."""
    folder = write_folder(tmp_path / "data", {"000": 4, "100": 4}, table=table)
    labels = read_table(folder / table)
    labels.loc[[1, 5], "shape"] = blank
    write_table(folder / table, labels)
    with pytest.raises(InputError, match=r"'shape' has no value \(2\): row 2; row 6\. Fill them in"):
        opened(folder, "shape")


def test_too_many_combinations(tmp_path):
    folder = write_folder(tmp_path / "data", everything(5))
    table = pd.read_csv(folder / "labels.csv")
    for name in "abc":
        table[name] = np.random.default_rng(ord(name)).permutation(40) % 20
    write_table(folder / "labels.csv", table)
    with pytest.raises(InputError, match=r"too many combinations \(1\): 20 × 20 × 20 = 8000, at most 1024"):
        opened(folder, "a", "b", "c")


def test_combinations_are_counted_before_they_are_listed(tmp_path):
    """All columns of a table of attributes, as CelebA's forty: no memory holds as many classes."""
    folder = write_folder(tmp_path / "data", everything(5))
    table = pd.read_csv(folder / "labels.csv")
    names = [f"attribute{number}" for number in range(70)]
    write_table(folder / "labels.csv", table.assign(**dict.fromkeys(names, table["shape"])))
    with pytest.raises(InputError, match=rf"2 × 2 = {2**70}, at most 1024. Take fewer variables"):
        opened(folder, *names)


def test_names_like_none_stay_names_and_only_what_is_empty_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("file,hat\na.png,None\nb.png,NA\nc.png,\n")
    assert read_table(path)["hat"].tolist()[:2] == ["None", "NA"]
    assert read_table(path)["hat"].isna().tolist() == [False, False, True]


def test_files_may_be_called_like_numbers(tmp_path: Path) -> None:
    for name in ("001", "002", "10", "11", "12", "13"):
        Image.new("L", (8, 8), int(name)).save(tmp_path / name, format="PNG")
    (tmp_path / "t.csv").write_text("file,kind\n001,a\n002,a\n10,a\n11,b\n12,b\n13,b\n")
    assert opened(tmp_path, "kind").counts() == {(0,): 3, (1,): 3}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"kind": "{0}-", "radius": "{0}"}, "and bin them, e.g. 'radius/2'"),
        ({"kind": "{0}-"}, "and bin them, e.g. 'kind=NAME:VALUE+VALUE,NAME:VALUE'"),
        ({"kind": "a"}, "no column tells its images apart (24 in all); two values or more of one are needed"),
    ],
)
def test_where_no_column_can_be_taken_as_it_is_what_helps_is_told(tmp_path, columns, told):
    folder = write_folder(tmp_path / "data", everything(3))
    labels = pd.read_csv(folder / "labels.csv")
    rows = {name: [value.format(i) for i in range(len(labels))] for name, value in columns.items()}
    labels[["file"]].assign(**rows).to_csv(folder / "labels.csv", index=False)
    with pytest.raises(InputError) as refused:
        open_data(folder, DataOptions())
    assert str(refused.value).endswith(told)

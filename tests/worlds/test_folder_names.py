"""Labels in the names of folders are read into the same world as a table, or refused in one line."""

from __future__ import annotations

import errno
import json
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image

from conceptlab.errors import InputError
from conceptlab.report.inspection import sentences
from conceptlab.worlds import DataOptions, build, open_data
from conceptlab.worlds.folder_names import read_names
from conceptlab.worlds.inspection import inspect
from conceptlab.worlds.labelled import load


def sorted_into(root: Path, folders: Mapping[str, int]) -> Path:
    """As many images in each folder, all of them different."""
    number = 0
    for name, count in folders.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for copy in range(count):
            number += 1
            Image.new("RGB", (8, 8), (number % 256, number // 256, 90)).save(root / name / f"{copy:03d}.png")
    return root


WORDS = {"red_circle": 4, "red_square": 4, "blue_circle": 4}
LEVELS = {name.replace("_", "/"): count for name, count in WORDS.items()}


def opened(folder: Path, *folders: str, **options: object):
    return open_data(folder, DataOptions(folders=folders, **options))  # pyright: ignore


@pytest.mark.parametrize("sign", ["_", "-", " ", "/", " - "])
def test_levels_and_words_give_the_world_that_a_table_gives(tmp_path, sign):
    folder = sorted_into(tmp_path / "a", {name.replace("_", sign): 4 for name in WORDS})
    other = sorted_into(tmp_path / "b", WORDS)
    rows = [
        f"{path.relative_to(other)},{path.parent.name.replace('_', ',')}" for path in other.rglob("*.png")
    ]
    (other / "labels.csv").write_text("\n".join(["file,colour,shape", *sorted(rows)]))
    mine, theirs = opened(folder, "colour", "shape"), opened(other)
    assert mine.space == theirs.space
    assert mine.counts() == theirs.counts()
    held = load(mine)
    for row, name in enumerate(held.names):
        values = [v.values[i] for v, i in zip(mine.space.concepts, held.labels[row])]
        assert Path(name).parent.as_posix() == sign.join(values)
        assert tuple(held.pixels[row, :, 0, 0]) == Image.open(folder / name).getpixel((0, 0))


@pytest.mark.parametrize(
    ("folders", "names"), [(WORDS, ("word1", "word2")), (LEVELS, ("folder1", "folder2"))]
)
def test_variables_without_names_are_called_after_their_place_and_it_is_told(tmp_path, folders, names):
    world = opened(sorted_into(tmp_path, folders))
    assert world.space.names == names
    told = "Labels are read from names of folders; name the variables with --folders NAME NAME."
    assert told in sentences(inspect(world))
    assert told not in sentences(inspect(opened(tmp_path, "colour", "shape")))


def test_as_many_names_as_levels_or_words_say_what_is_a_value(tmp_path):
    sorted_into(tmp_path / "dogs", {"golden_retriever": 3, "border_collie": 3})
    assert opened(tmp_path / "dogs", "breed").space.concepts[0].values == (
        "border_collie",
        "golden_retriever",
    )
    sorted_into(tmp_path / "parts", {f"{part}/{name}": 3 for part in ("train", "test") for name in WORDS})
    assert opened(tmp_path / "parts").space.names == ("folder1", "folder2")
    chosen = opened(tmp_path / "parts", "set", "colour", "shape", variables=("shape", "colour=red,blue"))
    assert chosen.space.order == "(shape, colour)"
    assert list(chosen.counts().values()) == [6, 6, 6, 0]


def test_what_never_varies_is_left_out_and_numbers_may_be_binned(tmp_path):
    sorted_into(tmp_path, {f"radius-{radius}": 3 for radius in range(25)})
    assert opened(tmp_path, variables=("word2/2",)).counts() == {(0,): 36, (1,): 39}
    with pytest.raises(InputError, match="'word2' has 25 different values; bin it"):
        opened(tmp_path)
    for radius in range(2, 25):
        (tmp_path / f"radius-{radius}").rename(tmp_path / f".{radius}")
    assert opened(tmp_path).space.names == ("word2",)


def test_only_images_that_are_not_hidden_count_and_names_are_composed(tmp_path):
    wide = unicodedata.normalize("NFD", "grün")
    sorted_into(tmp_path, {wide: 3, "rot": 3})
    (tmp_path / "rot" / "000.png").rename(tmp_path / "rot" / "A b.PNG")
    (tmp_path / "rot" / "._001.png").write_bytes(b"of a Mac")
    (tmp_path / "rot" / "Thumbs.db").write_bytes(b"of Windows")
    (tmp_path / ".git").mkdir()
    (tmp_path / "readme.txt").write_text("notes")
    world = opened(tmp_path)
    assert world.space.concepts[0].values == ("grün", "rot")
    assert list(load(world).names)[3:] == ["rot/001.png", "rot/002.png", "rot/A b.PNG"]
    assert read_names(tmp_path, world.folders).equals(read_names(tmp_path, ()))


def test_settings_survive_json_and_a_table_s_are_what_they_were(tmp_path):
    world = opened(sorted_into(tmp_path, LEVELS), "colour", "shape")
    assert build(world.name, **json.loads(json.dumps(world.settings))) == world
    (tmp_path / "labels.csv").write_text("file,colour\nred/circle/000.png,r\nblue/circle/000.png,b\n")
    assert "folders" not in opened(tmp_path).settings, "trained members are found by their settings"
    assert opened(tmp_path, "colour", "shape").fingerprint == world.fingerprint, (
        "names win where they are given"
    )


def test_an_image_more_is_noticed_and_folders_that_are_gone_are_told(tmp_path):
    world = opened(sorted_into(tmp_path / "data", WORDS))
    world.check()
    Image.new("RGB", (8, 8)).save(tmp_path / "data" / "red_circle" / "more.png")
    with pytest.raises(InputError, match="have changed since"):
        world.check()
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"data is no longer there, .*: put them back"):
        world.check()


@pytest.mark.parametrize(
    ("folders", "names", "message"),
    [
        (
            {"red_circle": 1, "square": 1},
            (),
            r"more words than others \(red_circle, square\); rename .*--folders NAME",
        ),
        (
            {"red/circle": 1, "blue": 1},
            (),
            r"in more folders than others \(red/circle/000\.png, blue/000\.png\)",
        ),
        ({"": 2, "blue": 1}, (), r"in more folders than others \(blue/000\.png, 000\.png\); sort all alike"),
        (
            {"": 2},
            (),
            "has no table of attributes, and no images in folders that tell them; sort images as in red/",
        ),
        (
            {"red": 1, "blue": 0, "green": 0},
            (),
            r"folders without an image \(\.png, .*\): blue and 1 more; put some",
        ),
        (
            {"all": 2},
            (),
            r"all images lie in folders of the same name \(all\); two values or more .*, or a table .* \(\.csv, ",
        ),
        (
            WORDS,
            ("a", "b", "c"),
            "has 1 level of folders, with 2 words, and --folders names a, b, c; give a name",
        ),
        (LEVELS, ("a",), "has 2 levels of folders, and --folders names a; give a name for each"),
        (WORDS, ("a", "a"), "--folders a a: give each variable a name of its own, not 'file'"),
        (WORDS, ("file", "a"), "give each variable a name of its own, not 'file'"),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_line(tmp_path, folders, names, message):
    with pytest.raises(InputError, match=message) as caught:
        opened(sorted_into(tmp_path, folders), *names)
    assert "\n" not in str(caught.value)


def test_links_are_followed_and_what_cannot_be_opened_is_told(tmp_path, monkeypatch):
    sorted_into(tmp_path / "elsewhere", {"red": 3})
    sorted_into(tmp_path / "data", {"blue": 3})
    (tmp_path / "data" / "red").symlink_to(tmp_path / "elsewhere" / "red")
    assert opened(tmp_path / "data").counts() == {(0,): 3, (1,): 3}
    scan = os.scandir

    def refused(path):
        if Path(path).name == "red":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(InputError, match=r"cannot use .*red: Permission denied; .* mend its permissions"):
        opened(tmp_path / "data")


@pytest.mark.parametrize(
    "links",
    [
        {"red/again": "."},
        {"up": "../.."},
        {"red/other": "../blue", "blue/other": "../red"},
        {f"red/{number}": "." for number in range(9)},
    ],
)
def test_links_that_lead_round_in_a_circle_are_refused(tmp_path, links):
    """Nine of them would be followed along 9^40 ways, until the system has enough of each."""
    sorted_into(tmp_path / "data", {"red": 3, "blue": 3})
    for link, target in links.items():
        (tmp_path / "data" / link).symlink_to(target)
    with pytest.raises(InputError, match=r" is a link to a folder that it lies in; take it away$"):
        read_names(tmp_path / "data", ())


def test_names_that_are_no_text_are_told(tmp_path):
    sorted_into(tmp_path, {"rot": 3, os.fsdecode(b"gr\xfcn"): 3})
    with pytest.raises(
        InputError, match=r"a name is not UTF-8 \(gr\ufffdn/000\.png\); rename it, e\.g\. with `convmv"
    ):
        opened(tmp_path)


def test_variables_that_have_no_names_yet_are_not_only_unknown(tmp_path):
    sorted_into(tmp_path, WORDS)
    with pytest.raises(
        InputError, match=r"unknown column 'colour' in .*named by --folders\); known: word1, word2"
    ):
        opened(tmp_path, variables=("colour",))
    with pytest.raises(InputError, match=r"unknown column 'colour' in [^(]*; known: tone, shape"):
        opened(tmp_path, "tone", "shape", variables=("colour",))


def test_a_table_and_names_of_folders_are_not_both_read(tmp_path):
    sorted_into(tmp_path, WORDS)
    (tmp_path / "labels.csv").write_text("file,colour\nred_circle/000.png,r\nblue_circle/000.png,b\n")
    for given in ({"path": tmp_path, "table": "labels.csv"}, {"path": tmp_path / "labels.csv"}):
        with pytest.raises(
            InputError, match=r"read from labels\.csv or from names of folders; name only one"
        ):
            opened(given.pop("path"), "colour", "shape", **given)
    with pytest.raises(
        InputError, match="--files colour: names a column of a table, and names of folders are read"
    ):
        opened(tmp_path, "colour", "shape", files="colour")

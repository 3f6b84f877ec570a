"""A folder of one's own: read exactly, never written."""

from __future__ import annotations

import itertools
import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from conceptlab.concepts import Split
from conceptlab.errors import InputError
from conceptlab.worlds import DataOptions, build, open_data
from conceptlab.worlds.folder_table import read_table
from conceptlab.worlds.labelled import PARTS, load, part_bounds
from tests.image_folder import VARIABLES, everything, opened, state_of, write_folder, write_table


@pytest.mark.parametrize("table", ["labels.csv", "labels.jsonl", "labels.parquet"])
def test_every_kind_of_table_gives_the_same_world(tmp_path, folder, table):
    other = write_folder(tmp_path / "data", everything(20), table=table)
    mine, theirs = opened(other), opened(folder)
    assert mine.space.order == "(shape, size, colour)"
    assert mine.space == theirs.space
    assert mine.fingerprint == theirs.fingerprint
    assert mine.counts() == dict.fromkeys(mine.space.classes, 20)


def test_pixels_labels_and_conditions_are_those_of_the_files(folder):
    world = opened(folder)
    held = load(world)
    table = pd.read_csv(folder / "labels.csv").set_index("file")
    for row in (0, 57, 159):
        with Image.open(folder / held.names[row]) as picture:
            assert np.array_equal(held.pixels[row], np.asarray(picture).transpose(2, 0, 1))
        words = [v.values[i] for v, i in zip(world.space.concepts, held.labels[row])]
        assert words == table.loc[held.names[row], list(VARIABLES)].tolist()
    cls = world.space.parse("shape=triangle,size=small,colour=blue")
    samples = world.sample(cls, 5, seed=1)
    assert samples.conditions.tolist() == [world.condition(cls).tolist()] * 5
    assert samples.conditions[0].sum() == 3
    assert torch.equal(samples.images, world.stored()[samples.factors["row"]].float() / 255)


def test_nothing_in_the_folder_is_written(folder):
    before = state_of(folder)
    os.chmod(folder, 0o555)
    try:
        world = opened(folder)
        world.dataset(Split(world.space, {"000": 4, "111": 2}), seed=0)
        world.check()
    finally:
        os.chmod(folder, 0o755)
    assert state_of(folder) == before


def test_decoded_once(folder, monkeypatch):
    from conceptlab.worlds import folder_images, labelled

    labelled._load.cache_clear()
    opened(folder)
    labelled._load.cache_clear()
    monkeypatch.setattr(folder_images, "_pixels", lambda *_: pytest.fail("decoded again"))
    assert opened(folder).counts()


def test_parts_share_no_image_and_copies_lie_together(folder):
    world = opened(folder)
    rows = {
        part: set(np.concatenate([world.reserved(part).rows_of(c) for c in world.space])) for part in PARTS
    }
    assert {part: len(found) for part, found in rows.items()} == {"model": 96, "train": 40, "held-out": 24}
    assert not rows["model"] & rows["train"]
    assert not rows["model"] & rows["held-out"]
    assert not rows["train"] & rows["held-out"]


def test_copies_of_an_image_are_never_parted(tmp_path):
    folder = write_folder(tmp_path / "data", {"000": 20, "100": 20})
    for number in range(1, 12):
        shutil.copy(folder / "pictures" / "000-000.png", folder / "pictures" / f"000-{number:03d}.png")
    world = opened(folder, "shape")
    cls = world.space.parse("shape=circle")
    digests = {part: load(world).digests[world.reserved(part).rows_of(cls)] for part in PARTS}
    assert sum(len(found) for found in digests.values()) == 20
    for one, other in itertools.combinations(digests.values(), 2):
        assert not set(one) & set(other)


SIZES = {
    0: (0, 0, 0),
    1: (1, 0, 0),
    2: (1, 1, 0),
    3: (1, 1, 1),
    4: (2, 1, 1),
    20: (12, 5, 3),
    1000: (600, 250, 150),
}


@pytest.mark.parametrize(("count", "sizes"), SIZES.items())
def test_every_part_has_an_image_as_soon_as_there_are_three(count, sizes):
    bounds = part_bounds(count)
    assert tuple(high - low for low, high in bounds.values()) == sizes
    assert [low for low, _ in bounds.values()] == [0, sizes[0], sizes[0] + sizes[1]]


def test_same_seed_same_draws_and_selection_is_the_data_set(folder):
    world = opened(folder)
    few, more = world.sample((0, 0, 0), 3, seed=1), world.sample((0, 0, 0), 6, seed=1)
    assert torch.equal(few.images, more.images[:3])
    split = Split(world.space, {"000": 7, "101": 5})
    whole, chosen = world.dataset(split, 3), world.select(split, 3)
    assert torch.equal(whole.images, world.stored()[chosen.factors["row"]].float() / 255)
    assert torch.equal(whole.conditions, chosen.conditions)
    assert torch.equal(whole.labels, chosen.labels)


def test_texts_of_json_lines_may_hold_line_separators(tmp_path):
    """Captions from the web do, and JSON need not escape them."""
    lines = [json.dumps({"file": name, "caption": "a\u2028b\x85c"}, ensure_ascii=False) for name in "xy"]
    (tmp_path / "t.jsonl").write_text("\r\n".join(lines) + "\n\n", encoding="utf-8")
    assert read_table(tmp_path / "t.jsonl")["caption"].tolist() == ["a\u2028b\x85c"] * 2


def test_settings_survive_json(folder):
    world = opened(folder, "shape", "radius@0.5=small,large")
    again = build(world.name, **json.loads(json.dumps(world.settings)))
    assert again == world
    assert hash(again) == hash(world)


def test_numbers_are_binned_and_may_be_a_continuous_condition(folder):
    world = opened(folder, "shape", "radius/2=small,large", continuous=("radius",))
    table = pd.read_csv(folder / "labels.csv")
    edge = table["radius"].quantile(0.5)
    held = load(world)
    assert ((held.labels[:, 1] == 1) == (table["radius"] >= edge)).all()
    assert world.condition_shape == (3,)
    samples = world.sample((0, 1), 5, seed=0)
    numbers = table["radius"].to_numpy()[samples.factors["row"].numpy()]
    expected = (numbers - numbers_mean(table)) / table["radius"].std(ddof=0)
    assert np.allclose(samples.conditions[:, 2].numpy(), expected, atol=1e-6)
    mean = (table["radius"][table["radius"] >= edge].mean() - numbers_mean(table)) / table["radius"].std(
        ddof=0
    )
    assert world.condition((0, 1))[2].item() == pytest.approx(mean, abs=1e-6)


def numbers_mean(table: pd.DataFrame) -> float:
    return float(table["radius"].mean())


def test_values_can_be_chosen_merged_and_ordered(tmp_path):
    folder = write_folder(tmp_path / "data", everything(4))
    table = pd.read_csv(folder / "labels.csv")
    table["corners"] = np.where(table["shape"] == "circle", "none", np.arange(len(table)) % 2 + 3)
    write_table(folder / "labels.csv", table)
    world = opened(folder, "colour=blue,red", "corners=some:3+4,round:none", "size")
    assert world.space.concepts[0].values == ("blue", "red")
    assert world.space.concepts[1].values == ("some", "round")
    assert sum(world.counts().values()) == 32


def test_images_without_a_value_belong_to_no_class(tmp_path):
    folder = write_folder(tmp_path / "data", everything(4))
    table = pd.read_csv(folder / "labels.csv")
    table.loc[:3, "colour"] = "green"
    write_table(folder / "labels.csv", table)
    world = opened(folder, "shape", "size", "colour=red,blue")
    assert sum(world.counts().values()) == 28
    assert load(world).left_out == 4


def test_a_missing_combination_is_not_seen(tmp_path):
    world = opened(write_folder(tmp_path / "data", {**everything(5), "111": 0}))
    assert len(world.seen) == 7
    missing = world.space.parse("shape=triangle,size=small,colour=blue")
    assert world.counts()[missing] == 0
    with pytest.raises(InputError, match=r"0 images of class 110 \(triangle, small, blue\)"):
        world.sample(missing, 1, 0)


def test_variables_are_suggested(folder):
    assert open_data(folder, DataOptions()).space.names == VARIABLES


def test_columns_that_are_not_taken_for_variables_are_told(tmp_path):
    folder = write_folder(tmp_path / "data", everything(3))
    table = pd.read_csv(folder / "labels.csv")
    for number in range(4):
        table[f"more {number}"] = np.arange(len(table)) % 2
    table["name"] = [f"image {row}" for row in range(len(table))]
    write_table(folder / "labels.csv", table)
    told: list[str] = []
    assert len(open_data(folder, DataOptions(), told.append).space.names) == 6
    assert told == [
        "taken for variables: shape, size, colour, more 0, more 1, more 2; to take others, too, name all, e.g. "
        "--variables shape size colour 'more 0' 'more 1' 'more 2' 'more 3' radius/2"
    ]
    told.clear()
    open_data(folder, DataOptions(variables=("shape", "radius/2")), told.append)
    write_table(folder / "labels.csv", table[["file", "shape", "name"]])
    open_data(folder, DataOptions(), told.append)
    assert not told


def test_scaling_cropping_and_modes(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    left = np.zeros((20, 40, 3), np.uint8)
    left[:, 10:20] = (200, 0, 0)
    Image.fromarray(left).save(folder / "a.png")
    Image.new("L", (8, 8), 90).save(folder / "b.png")
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(folder / "c.png")
    Image.new("P", (8, 8), 0).save(folder / "d.png", transparency=0)
    (folder / "t.csv").write_text("file,kind\na.png,x\nb.png,y\nc.png,y\nd.png,y\n")
    world = opened(folder, "kind", resolution=4, mode="RGB")
    pixels = load(world).pixels
    assert pixels.shape == (4, 3, 4, 4)
    # The middle 20×20 of a.png: its left half is red, up to one column of blending.
    assert (pixels[0, 0, :, 0] == 200).all()
    assert (pixels[0, 0, :, 3] == 0).all()
    assert (pixels[1] == 90).all()
    assert (pixels[2:] == 255).all(), "what is transparent lies on white"


def test_what_is_half_transparent_lies_on_white(tmp_path):
    """In files colours know nothing of their opacity."""
    Image.new("RGBA", (8, 8), (200, 0, 40, 128)).save(tmp_path / "a.png")
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "b.png")
    (tmp_path / "t.csv").write_text("file,kind\na.png,x\nb.png,y\n")
    world = opened(tmp_path, "kind", resolution=4, mode="RGBA")
    shown = world.on_paper(load(world).pixels)
    assert shown.shape == (2, 3, 4, 4)
    assert [(shown[0, channel] == value).all() for channel, value in enumerate((227, 127, 147))] == [True] * 3
    assert (shown[1] == 255).all()


def test_images_that_a_table_does_not_list_are_told_and_no_error(tmp_path):
    folder, told = write_folder(tmp_path / "data", everything(3)), []
    options = DataOptions(variables=VARIABLES)
    open_data(folder, options, told.append)
    assert told == []
    for name in ("pictures/new.png", "pictures/.hidden.png", "others/a.JPG", "others/notes.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"what is not read may be anything")
    open_data(folder, options, told.append)
    where = folder / "labels.csv"
    assert told == [f"not listed in {where}, so left out: 2 images (others/a.JPG, …)"]
    (folder / "others" / "a.JPG").unlink()
    open_data(folder, options, told.append)
    assert told[1:] == [f"not listed in {where}, so left out: 1 image (pictures/new.png)"]


def test_links_are_followed_to_listed_images_and_nowhere_else(tmp_path):
    folder, told = write_folder(tmp_path / "data", everything(3)), []
    (folder / "pictures").rename(tmp_path / "disk")
    (folder / "pictures").symlink_to(tmp_path / "disk")
    (folder / "again").symlink_to(folder)
    (tmp_path / "elsewhere").mkdir()
    (folder / "away").symlink_to(tmp_path / "elsewhere")
    for place in ("disk", "elsewhere"):
        (tmp_path / place / "new.png").write_bytes(b"")
    open_data(folder, DataOptions(variables=VARIABLES), told.append)
    assert told == [f"not listed in {folder / 'labels.csv'}, so left out: 1 image (pictures/new.png)"]


def test_columns_that_cannot_be_halved_are_not_advised(tmp_path):
    """A column that is mostly zero has no median above its least number, and one with an infinite number is none."""
    folder = write_folder(tmp_path / "data", everything(4))
    table = pd.read_csv(folder / "labels.csv")
    rare = [0.0] * 20 + list(range(1, 13))
    write_table(folder / "labels.csv", table.assign(rare=rare, endless=[*range(31), "inf"]))
    told: list[str] = []
    open_data(folder, DataOptions(), told.append)
    assert told == [
        "taken for variables: shape, size, colour; to take others, too, name all, e.g. --variables "
        "shape size colour radius/2"
    ]

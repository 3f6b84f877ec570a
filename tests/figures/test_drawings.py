"""Drawings: nothing overlaps, numbers are the tables' numbers, and poor data (one seed, NaN, one step) still draws."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.text import Annotation, Text

from conceptlab import figures
from conceptlab.concepts import ConceptSpace, Split, Variable
from conceptlab.errors import InputError
from conceptlab.studies.quickstart_figures import draw_emergence, shown_classes
from conceptlab.studies.study import Results
from tests.figures import synthetic


def axes(columns: int = 1, height: float = 2.8) -> Axes:
    return figures.figure(columns=1 if columns == 1 else 2, height=height).add_subplot()


def texts(ax: Axes) -> list[Text]:
    return [t for t in ax.texts if t.get_text()]


def overlaps(ax: Axes) -> list[tuple[str, str]]:
    """Pairs of texts whose extents overlap; slanted ones are left out, since their boxes are mostly air."""
    ax.figure.draw_without_rendering()  # pyright: ignore[reportAttributeAccessIssue]
    upright = [t for t in texts(ax) if t.get_rotation() % 90 == 0]
    boxes = [(t.get_text(), Text.get_window_extent(t)) for t in upright]
    return [(a, b) for (a, first), (b, second) in itertools.combinations(boxes, 2) if first.overlaps(second)]


@pytest.mark.parametrize("variables", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("columns", [1, 2])
def test_labels_of_the_graph_never_overlap(variables: int, columns: int) -> None:
    space = synthetic.binary_space(*"abcdef"[:variables])
    ax = axes(columns, height=2.8 if variables < 6 else 4.5)
    with figures.house():
        figures.draw_graph(ax, space, Split.around(space, "0" * variables, 1))
    assert overlaps(ax) == []
    codes = {t.get_text() for t in texts(ax)} & {space.code(cls) for cls in space}
    assert len(codes) == len(space) or (variables > 4 and columns == 1)


def test_labels_beside_the_cube_never_overlap() -> None:
    split, ax = synthetic.cube_split(), axes()
    with figures.house():
        figures.draw_graph(ax, split.space, split, labels_beside=True)
        figures.trajectories(ax, synthetic.curves(split), split.space, split)
    assert overlaps(ax) == []


def test_the_graph_says_what_each_axis_means() -> None:
    split, ax = synthetic.cube_split(), axes()
    figures.draw_graph(ax, split.space, split)
    assert {"shape: circle → triangle", "size: large → small", "colour: red → blue"} <= {
        t.get_text() for t in texts(ax)
    }


def test_thumbnails_take_the_place_of_discs() -> None:
    split, ax = synthetic.cube_split(), axes()
    picture = np.zeros((16, 16, 3), np.uint8)
    figures.draw_graph(ax, split.space, split, thumbnails=dict.fromkeys(split.space, picture))
    assert overlaps(ax) == []
    assert sum(type(artist).__name__ == "AnnotationBbox" for artist in ax.artists) == 8


def test_corners_of_the_cube_are_apart() -> None:
    places = np.array(list(figures.page_positions(synthetic.cube_split().space).values()))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1)[~np.eye(8, dtype=bool)]
    assert gaps.min() > 0.4


def test_a_trajectory_ends_where_its_coordinates_say() -> None:
    split = synthetic.cube_split()
    table = synthetic.curves(split, seeds=2)
    path = figures.mean_paths(table, split.space)[1, 1, 1]
    last = table.query("measure == 'coordinate' and `class` == '111' and step == 1000")
    expected = last.groupby("variable")["value"].mean()[list(split.space.names)]
    np.testing.assert_allclose(path[-1], expected)
    assert len(figures.seed_paths(table, split.space)[1, 1, 1]) == 2


def test_the_band_is_the_standard_deviation_of_seed_means() -> None:
    table = pd.DataFrame({"seed": [0, 0, 1, 1], "step": [1, 1, 1, 1], "value": [0.0, 0.2, 0.4, 0.8]})
    found = figures.over_seeds(table)
    assert found["mean"].item() == pytest.approx(0.35)  # of 0.1 and 0.6, not of four rows
    assert found["std"].item() == pytest.approx(np.std([0.1, 0.6], ddof=1))
    assert found["count"].item() == 2


def test_bands_end_at_their_last_mean_and_empty_tables_nowhere() -> None:
    table = pd.DataFrame({"seed": [0, 1, 0, 1], "step": [1, 1, 2, 2], "value": [0.0, 0.2, 0.4, 0.8]})
    first, second = figures.distance_line(1.0), figures.distance_line(0)
    ax = axes()
    ends = figures.bands(ax, [(table, first), (table[:0], second)])
    assert ends == [(pytest.approx(0.6), first)]
    figures.name_ends(ax, ends)
    assert [text.get_text() for text in texts(ax)] == ["distance 1"]
    assert (first.colour, first.marker) == (figures.distance_colour(1), figures.distance_marker(1))
    assert second.label == "training"


def test_a_table_without_the_column_is_refused() -> None:
    with pytest.raises(InputError, match="no column 'seed'"):
        figures.over_seeds(pd.DataFrame({"step": [1], "value": [1.0]}))


def test_the_product_of_variables_is_a_product() -> None:
    table = synthetic.curves(synthetic.cube_split(), seeds=1, steps=(100,))
    single = table.query("measure == 'accuracy' and variable != '' and `class` == '111'")["value"]
    found = figures.product_of_variables(table, "111")
    assert found["value"].item() == pytest.approx(single.prod())


def test_names_of_lines_that_end_together_are_moved_apart() -> None:
    ax = axes()
    ax.set_ylim(0, 1)
    with figures.house():
        figures.name_ends(ax, [(0.98, figures.Line("k", name)) for name in ("a", "b", "c", "d")])
    assert overlaps(ax) == []
    assert [t.get_text() for t in ax.texts] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("until", "right"), [(40.0, 40.0), (np.inf, 105.0)])
def test_a_veil_pales_lines_up_to_its_step_and_nothing_else(until: float, right: float) -> None:
    ax = axes()
    (line,) = ax.plot([0, 100], [0, 1])
    limits = ax.get_xlim()
    figures.veil(ax, until)
    (span,) = ax.patches
    assert span.get_extents().transformed(ax.transData.inverted()).x1 == pytest.approx(right)
    assert ax.get_xlim() == limits
    assert line.get_zorder() < span.get_zorder() < ax.spines["left"].get_zorder()


def test_no_mark_where_most_seeds_never_arrive() -> None:
    split = synthetic.cube_split()
    times = synthetic.times(synthetic.curves(split))
    all_marked, few_marked = axes(), axes()
    figures.emergence_marks(all_marked, times, 0.8, first=50)
    never = times.assign(time=times["time"].where(times["distance"] < 2))
    figures.emergence_marks(few_marked, never, 0.8, first=50)
    assert len(all_marked.lines) == 7  # the threshold, and a range and a mark for each of three distances
    assert len(few_marked.lines) == 5


SPOILT = {
    "one seed": synthetic.curves(synthetic.cube_split(), seeds=1),
    "one step": synthetic.curves(synthetic.cube_split(), seeds=3, steps=(50,)),
    "all NaN": synthetic.curves(synthetic.cube_split(), seeds=2).assign(value=np.nan),
    "some NaN": synthetic.curves(synthetic.cube_split(), seeds=2).pipe(
        lambda t: t.assign(value=t["value"].where(t["step"] != 400))
    ),
    "empty": synthetic.curves(synthetic.cube_split(), seeds=1).head(0),
}


@pytest.mark.parametrize("table", SPOILT.values(), ids=SPOILT.keys())
def test_every_curve_draws_from_poor_data(table: pd.DataFrame) -> None:
    split = synthetic.cube_split()
    page = figures.figure(height=5)
    a, b, c, d = page.subplots(2, 2).ravel()
    with figures.house():
        figures.accuracy_by_distance(a, table)
        if len(table):
            figures.emergence_marks(a, synthetic.times(table), 0.8, first=50)
        figures.additive_or_multiplicative(b, table, "111")
        figures.accuracy_per_variable(c, table, "111", split.space.names)
        figures.draw_graph(d, split.space, split)
        figures.trajectories(d, table, split.space, split)
    page.draw_without_rendering()


def test_tiles_read_back_exactly() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 3, 4, 5), dtype=np.uint8)
    sheet = figures.tiled(images, gap=2)
    assert sheet.shape == (2 * 6 - 2, 3 * 7 - 2, 3)
    np.testing.assert_array_equal(sheet[6:10, 14:19].transpose(2, 0, 1), images[1, 2])
    assert (sheet[4:6] == 255).all()


def test_one_channel_is_grey() -> None:
    grey = np.full((1, 1, 1, 2, 2), 7, np.uint8)
    assert (figures.tiled(grey) == 7).all()


def test_images_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InputError, match="8-bit"):
        figures.tiled(np.zeros((1, 1, 3, 2, 2)))
    with pytest.raises(InputError, match="on_paper"):
        figures.tiled(np.zeros((1, 1, 4, 2, 2), np.uint8))


def test_the_mean_image_is_the_mean() -> None:
    images = np.array([0, 255], np.uint8).reshape(2, 1, 1, 1)
    assert figures.mean_image(images).item() == 128
    assert figures.thumbnail(np.zeros((3, 4, 4), np.uint8)).shape == (4, 4, 3)


def test_a_contact_sheet_fills_its_last_row_with_paper() -> None:
    ax = axes()
    figures.contact_sheet(ax, np.zeros((5, 3, 16, 16), np.uint8), columns=4)
    sheet = np.asarray(ax.images[0].get_array())
    assert sheet.shape == (33, 67, 3)
    assert (sheet[17:, 17:] == 255).all()


def test_the_quickstart_picture_draws_from_a_run(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0), synthetic.recipe(1)])
    page = draw_emergence(Results(run.members, "small", [0, 1]), run.tables)
    page.savefig(tmp_path / "picture.png")
    page.savefig(tmp_path / "picture.pdf")
    said = " ".join(t.get_text() for t in page.findobj(Text) if not isinstance(t, Annotation))
    assert "2 seeds" in said
    assert "standard deviation" in said
    assert shown_classes(run.members[0].split) == [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)]


@pytest.mark.parametrize("steps", [(10,), (10, 20, 30), synthetic.STEPS])
def test_titles_of_panels_never_meet(tmp_path: Path, steps: tuple[int, ...]) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0)], steps=steps)
    page = draw_emergence(Results(run.members, "tiny", [0]), run.tables)
    page.draw_without_rendering()
    titles = [ax.get_title(loc="left") for ax in page.axes]
    boxes = [t.get_window_extent() for t in page.findobj(Text) if t.get_text() in titles and t.get_text()]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_the_quickstart_picture_draws_without_samples(tmp_path: Path) -> None:
    run = synthetic.figure_run(tmp_path, [synthetic.recipe(0)])
    for sheet in (run.members[0].path / "samples").glob("*.png"):
        sheet.unlink()
    page = draw_emergence(Results(run.members, "tiny", [0]), run.tables)
    page.draw_without_rendering()
    assert any(t.get_text() == "no samples were kept" for t in page.findobj(Text))


def test_variables_may_be_called_like_columns_of_a_table() -> None:
    space = ConceptSpace([Variable("class", ("a", "b")), Variable("seed", ("x", "y"))])
    rows = [
        {
            "seed": seed,
            "step": step,
            "class": space.code(cls),
            "variable": name,
            "measure": "coordinate",
            "value": at,
        }
        for seed, at in ((0, 0.25), (1, 0.75))
        for step in (1, 2)
        for cls in space
        for name in space.names
    ]
    curves = pd.DataFrame(rows)
    assert {path.tolist()[0][0] for path in figures.mean_paths(curves, space).values()} == {0.5}
    assert figures.seed_paths(curves, space)[0, 1][1].tolist() == [[0.75, 0.75], [0.75, 0.75]]


def test_long_words_of_a_user_keep_to_their_place() -> None:
    """Wider than the page they would leave no room for any panel."""
    space = ConceptSpace([Variable("n" * 200, ("a" * 90, "b")), Variable("size", ("small", "large"))])
    ax = axes()
    figures.draw_graph(ax, space, Split(space, {"00": 3}))
    steps = {"step": [1, 2], "seed": 0, "class": "11", "measure": "accuracy", "weights": "raw", "value": 0.5}
    curves = pd.concat([pd.DataFrame({**steps, "variable": name}) for name in space.names])
    figures.accuracy_per_variable(ax, curves, "11", space.names)
    shown = {t.get_text() for t in texts(ax)}
    assert max(map(len, shown)) <= 40
    assert {"n" * 39 + "…", "n" * 19 + "…", "size: small → large"} <= shown


def test_dollars_in_words_of_a_user_are_no_formula() -> None:
    """Two dollars begin one, which would be set in other letters, or fail where it is none."""
    space = ConceptSpace([Variable("pri$ce_$^{", ("$5", "$10")), Variable("size", ("a", "b"))])
    split = Split(space, {"00": 3})
    ax = axes()
    figures.draw_graph(ax, space, split)
    axis = "pri$ce_$^{: $5 → $10"
    assert figures.plain(axis) in {t.get_text() for t in texts(ax)}
    steps = {"step": [1, 2], "seed": 0, "class": "11", "measure": "accuracy", "weights": "raw", "value": 0.5}
    curves = pd.concat([pd.DataFrame({**steps, "variable": name}) for name in ("", *space.names)])
    figures.accuracy_per_variable(ax, curves, "11", space.names)
    images = np.zeros((2, 1, 3, 4, 4), np.uint8)
    sheet = figures.labelled_sheet(images, ["latent: $a$", "$5 and $10_"], "Class $1$")
    for page in (ax.figure, sheet):
        page.draw_without_rendering()  # pyright: ignore[reportAttributeAccessIssue]
        shown = [t.get_text() for t in page.findobj(Text) if isinstance(t, Text)]  # pyright: ignore
        assert not [text for text in shown if is_math_text(text)]


def test_classes_that_go_their_own_way_are_told_by_their_code() -> None:
    split = synthetic.cube_split()
    table = synthetic.curves(split, seeds=2)
    joint = (table["measure"] == "accuracy") & (table["variable"] == "")
    table.loc[joint & (table["distance"] == 1), "value"] = 0.9
    agreed, parted = axes(), axes()
    figures.accuracy_by_distance(agreed, table)
    thin = [line for line in agreed.lines if line.get_linewidth() < 1]
    assert len(thin) == 7, "a line for each class but the only one at distance 2"
    assert "110" not in {t.get_text() for t in texts(agreed)}
    table.loc[joint & (table["class"] == "110"), "value"] = 0.2
    figures.accuracy_by_distance(parted, table)
    said = {t.get_text(): t for t in texts(parted)}
    assert "110" in said
    assert "011 101" in said, "the others end together, and away from their mean"
    assert (
        said["110"].get_position()[1]
        < said["distance 1"].get_position()[1]
        < said["011 101"].get_position()[1]
    )


def test_a_class_that_stays_where_it_is_has_no_arrowhead() -> None:
    split = synthetic.cube_split()
    table = synthetic.curves(split, seeds=1)
    table.loc[(table["measure"] == "coordinate") & (table["class"] == "100"), "value"] = 1.0
    ax = axes(2, 4)
    figures.draw_graph(ax, split.space, split, labels_beside=True)
    before = len(ax.texts)
    figures.trajectories(ax, table, split.space, split)
    heads = [note for note in ax.texts[before:] if isinstance(note, Annotation)]
    moved = [
        cls
        for cls, path in figures.mean_paths(table, split.space).items()
        if np.ptp(path, axis=0).max() > 0.1
    ]
    assert (1, 0, 0) not in moved
    assert len(heads) == len(moved) > 0

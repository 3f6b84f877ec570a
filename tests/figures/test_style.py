"""The house style: colours that can be told apart, text that stays text, no global state."""

from __future__ import annotations

import io
import itertools
import warnings

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from conceptlab import figures
from conceptlab.claims.verdict import OUTCOMES
from conceptlab.figures import style

# Machado, Oliveira & Fernandes (2009), severity 1.0, applied to linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(colour: str, deficiency: str) -> np.ndarray:
    """CIE L*a*b* (D65) as a reader with a colour vision deficiency sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ linear / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_distances_are_told_apart_by_every_reader(deficiency: str) -> None:
    colours = [figures.distance_colour(d) for d in range(5)]
    for a, b in itertools.combinations(colours, 2):
        assert np.linalg.norm(lab(a, deficiency) - lab(b, deficiency)) > 12, (a, b)


def test_colours_of_one_kind_differ() -> None:
    named = figures.variable_colours(["shape", "size", "colour", "background", "texture", "gender"])
    assert len(set(named.values())) == 6
    classes = figures.class_colours([f"{i:03b}" for i in range(8)])
    assert len(set(classes.values())) == 8
    assert len({figures.distance_marker(d) for d in range(5)}) == 5


def test_a_variable_keeps_its_colour_whatever_its_company() -> None:
    alone = figures.variable_colours(["colour"])["colour"]
    assert figures.variable_colours(["texture", "shape", "colour"])["colour"] == alone


def test_every_verdict_has_a_symbol_of_its_own() -> None:
    assert set(figures.VERDICT_SYMBOLS) == set(OUTCOMES)
    assert len(set(figures.VERDICT_SYMBOLS.values())) == len(OUTCOMES)


def test_settings_run_through_one_map() -> None:
    colours = [figures.setting_colour(v, 0.1, 0.5) for v in (0.1, 0.3, 0.5)]
    assert len(set(colours)) == 3
    lightness = [style.luminance(c) for c in colours]
    assert lightness == sorted(lightness)
    assert figures.setting_colour(0.2, 0.2, 0.2)  # one value alone has a colour too


def test_pdf_text_is_text_and_the_style_does_not_leak() -> None:
    before = dict(mpl.rcParams)
    page = figures.figure(columns=1, height=2)
    page.add_subplot().set_xlabel("training step")
    written = io.BytesIO()
    page.savefig(written, format="pdf")
    assert b"/Type3" not in written.getvalue()
    assert b"/TrueType" in written.getvalue() or b"/CIDFontType2" in written.getvalue()
    assert dict(mpl.rcParams) == before


def test_widths_are_those_of_print() -> None:
    assert figures.figure(columns=1).get_figwidth() == style.ONE_COLUMN
    assert figures.figure(columns=2).get_figwidth() == style.TWO_COLUMNS


def test_a_long_caption_stays_inside_the_figure() -> None:
    page = figures.figure(columns=1, height=2)
    page.add_subplot()
    figures.caption(page, "4 seeds; band: ± 1 standard deviation over seeds. " * 4)
    page.draw_without_rendering()
    assert page._supxlabel is not None  # pyright: ignore[reportAttributeAccessIssue]
    extent = page._supxlabel.get_window_extent()  # pyright: ignore[reportAttributeAccessIssue]
    assert extent.x0 >= 0
    assert extent.x1 <= page.bbox.x1


def test_the_caption_says_what_the_band_is() -> None:
    assert figures.seeds_text(4) == "4 seeds; band: ± 1 standard deviation over seeds"
    assert "no band" in figures.seeds_text(1)
    assert [figures.seeds_text(n, band="") for n in (1, 4)] == ["1 seed", "4 seeds"]


def test_a_separation_has_one_colour_and_those_of_the_paper_are_told_apart():
    values = (0.1, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.5, 0.8)
    shades = [figures.separation_colour(value) for value in values]
    lights = [style.luminance(shade) for shade in shades]
    assert lights == sorted(lights)  # larger is lighter, in print without colour too
    for first, second in itertools.pairwise(shades):
        assert sum(abs(a - b) for a, b in zip(first, second)) > 0.05
    assert figures.separation_colour(0.05) == shades[0]
    assert figures.separation_colour(1.0) == shades[-1]


def test_text_on_every_colour_of_a_distance_can_be_read():
    for distance in range(6):
        colour = figures.distance_colour(distance)
        low, high = sorted((style.luminance(colour), style.luminance(style.ink_on(colour))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_ticks_of_a_logarithmic_axis_are_round_and_enough():
    assert style.log_ticks(60, 7900) == [100, 200, 500, 1000, 2000, 5000]
    few = style.log_ticks(390, 900)
    assert few == [400, 500, 600, 800]
    assert style.log_ticks(1267, 9980, least=2) == [2000, 5000]
    assert style.log_ticks(0.4, 2.5) == [0.5, 1, 2]


def test_letters_that_the_font_lacks_disturb_nobody(tmp_path):
    page = figures.figure(columns=1, height=1)
    page.add_subplot().set_xlabel("青")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page.savefig(tmp_path / "page.png")

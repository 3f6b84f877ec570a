"""Figure 10: the same question on photographs (CelebA), in a folder that the user names.

The paper gives neither resolution nor length of training; ours are 64×64 and 20,000 steps at paper scale. Probes err
on photographs, so accuracies are also given corrected for the probe's own confusion on held-out photographs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from conceptlab import figures
from conceptlab.concepts import Variable
from conceptlab.figures import Line
from conceptlab.recipe import Recipe
from conceptlab.store.files import read_json
from conceptlab.studies.okawa2023.draw_order import accuracy_with_marks, graph_with_paths, seeds_of
from conceptlab.studies.okawa2023.settings import MEASUREMENTS, MINIMAL, SETTINGS
from conceptlab.studies.okawa2023.signatures import signatures
from conceptlab.studies.okawa2023.tables import emergence, labelled, shown, variable_emergence
from conceptlab.studies.quickstart_figures import samples_over_training, shown_classes
from conceptlab.studies.study import Results, Scale, Tables
from conceptlab.worlds.celeba import SOURCE

NEEDS = {"world.folder": SOURCE}
_RESOLUTION = {"tiny": 16, "small": 32, "paper": 64}
_IMAGES = {"tiny": 16, "small": 2000, "paper": 4000}
_STEPS = {"tiny": 12, "small": 1500, "paper": 20_000}
_PROBE = {"tiny": {"steps": 60, "images_per_class": 24}, "small": {"steps": 1500}, "paper": {"steps": 3000}}
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
"""Of training classes and of those at distances 1 and 2."""
_GENDERS = {"female": "#CC79A7", "male": "#0072B2"}


def recipes(scale: Scale, seeds: Sequence[int]) -> list[Recipe]:
    """The base recipe on photographs; three training classes of women and one of men make men the rare gender."""
    base = SETTINGS[scale].recipe
    denoiser = dict(base.denoiser)
    if "condition_groups" in denoiser:
        denoiser["condition_groups"] = [2, 2, 2]
    recipe = replace(
        base,
        world={"name": "celeba", "resolution": _RESOLUTION[scale]},
        train=dict.fromkeys(MINIMAL, _IMAGES[scale]),
        denoiser=denoiser,
        steps=_STEPS[scale],
        evaluation=replace(
            base.evaluation,
            probe={"name": "cnn", **_PROBE[scale]},
            second_probe=None,
            measurements=MEASUREMENTS,
        ),
    )
    return [recipe.with_seed(seed) for seed in seeds]


def tables(results: Results) -> dict[str, pd.DataFrame]:
    """Figure 5's tables, `corrected` accuracies, and `gender`: when each class shows the gender asked for (or whatever
    else the user has made the first variable)."""
    curves = labelled(results)
    corrected = curves[curves["measure"] == "corrected"]
    singles = variable_emergence(curves)
    first = results.members[0].world.space.concepts[0]
    gender = singles[singles["variable"] == first.name].copy()
    gender["gender"] = [first.values[int(cls[0])] for cls in gender["class"]]
    return {
        "curves": shown(curves),
        "times": emergence(curves),
        "gender": gender,
        "corrected": corrected[["seed", "step", "class", "value"]].reset_index(drop=True),
        "signatures": signatures(results),
    }


def _first_variable(ax: Axes, curves: pd.DataFrame, first: Variable) -> None:
    """A line for each of its values at each distance of the classes that have it: does the rare one come the later, the
    further a class is from training?"""
    rows = curves[(curves["measure"] == "accuracy") & (curves["variable"] == first.name)]
    rows = rows.assign(first=[first.values[int(cls[0])] for cls in rows["class"]])
    colours, lines = figures.class_colours(list(first.values)) | _GENDERS, []
    for (name, distance), own in rows.groupby(["first", "distance"]):
        far = figures.distance_line(distance)
        dashes = _DASHES[min(int(float(str(distance))), len(_DASHES) - 1)]
        line = Line(colours[str(name)], f"{figures.plain(str(name))}, {far.label}", far.marker, dashes)
        lines.append((own, line))
    figures.name_ends(ax, figures.bands(ax, lines))


@figures.house()
def draw(results: Results, tables: Tables) -> Picture:
    """(a) the concept graph with trajectories, (b) accuracy by distance, (c) accuracy of gender, the first variable,
    for classes of women and of men at each distance, (d) samples over time."""
    member = results.members[0]
    space, split = member.world.space, member.split
    curves, times = tables["curves"], tables["times"]
    page = figures.figure(columns=2, height=5.2)
    grid = page.add_gridspec(2, 2, width_ratios=(1.0, 1.15))
    graph_with_paths(page.add_subplot(grid[0, 0]), curves, member)
    ax = page.add_subplot(grid[0, 1])
    figures.panel(ax, "b", "Accuracy by concept distance")
    said = accuracy_with_marks(ax, curves, times, chance=1 / len(space))
    ax = page.add_subplot(grid[1, 0])
    first = space.concepts[0]
    figures.panel(ax, "c", f"{first.name.capitalize()}, by the {first.name} asked for")
    figures.accuracy_axes(ax, f"accuracy of {first.name}")
    _first_variable(ax, curves, first)
    ax = page.add_subplot(grid[1, 1])
    figures.panel(ax, "d", f"Drawings through training (seed {member.recipe.seed})")
    samples_over_training(ax, member, shown_classes(split))
    joint = read_json(member.path / "probe.json")["judge"]["validation"]["joint"]
    figures.caption(
        page,
        f"{seeds_of(curves)}. Digits: {space.order}. {said} The probe reads {joint:.0%} of "
        "held-out photographs right; accuracies corrected for that are in corrected.csv.",
    )
    return page

"""bradley2025's figures `locality` and `across`: their tables, and that they share the members of other figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from conceptlab.errors import InputError
from conceptlab.store import Store
from conceptlab.studies import Order, Results, run
from conceptlab.studies.bradley2025 import STUDY, across, locality
from conceptlab.studies.bradley2025.draw_across import draw_across
from conceptlab.studies.okawa2023 import recipes as okawa2023
from conceptlab.studies.park2024 import recipes as park2024
from conceptlab.studies.study import Scale


def test_networks_generalise_when_all_their_held_out_classes_have_come() -> None:
    rows = []
    for member, late in (("a", 4), ("b", 9)):
        for cls, distance, first in (("00", 0, 1), ("01", 1, 1), ("11", 2, late)):
            rows += [(member, cls, distance, step, float(step >= first)) for step in range(1, 8)]
    metrics = pd.DataFrame(rows, columns=["member", "class", "distance", "step", "value"])
    found = across.generalisation_times(metrics.assign(measure="accuracy", weights="raw", variable=""))
    assert found.loc["a", "time"] == pytest.approx(2), "the geometric mean of 1 and 4"
    assert found["time"].tolist()[1] == np.inf
    assert found["final"].tolist() == [1.0, 0.5]
    assert found["last"].tolist() == [6, 6], "where a class can last have come unseen"


def test_what_a_judge_reads_in_noise_is_no_generalisation() -> None:
    """Until it draws every training class all that it draws is read as the held-out one."""
    rows = []
    for step in range(1, 13):
        accuracy = {"00": float(step >= 6), "01": float(step >= 5), "11": float(step < 5 or step >= 8)}
        rows += [("a", cls, int(cls == "11"), step, value) for cls, value in accuracy.items()]
    metrics = pd.DataFrame(rows, columns=["member", "class", "distance", "step", "value"])
    found = across.generalisation_times(metrics.assign(measure="accuracy", weights="raw", variable=""))
    assert found["time"].tolist() == [pytest.approx(8)]
    never = metrics.assign(value=metrics["value"].mask(metrics["class"] == "00", 0.0))
    found = across.generalisation_times(never.assign(measure="accuracy", weights="raw", variable=""))
    assert found["time"].tolist() == [np.inf]


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_networks_are_those_of_the_other_papers(scale: Scale) -> None:
    networks, separations = okawa2023.ablation(scale, (0, 1)), park2024.sweep(scale, (0, 1))
    mine = across._recipes(scale, (0, 1))
    shared = {recipe.hash for recipe in networks}
    assert any(recipe.hash in shared for recipe in mine)
    # Those of park2024 are trained once more, with what is asked of their inside.
    trained = {replace(recipe, evaluation=separations[0].evaluation).hash for recipe in separations}
    for recipe in mine:
        asked = {part["name"] for part in recipe.evaluation.measurements}
        assert {"accuracy", "locality", "orthogonality"} <= asked
        plain = replace(recipe, evaluation=separations[0].evaluation)
        assert recipe.hash in shared or plain.hash in trained
        assert recipe.evaluation_steps() in [r.evaluation_steps() for r in (networks[0], separations[0])]
    named = {across.setting_of(recipe, scale) for recipe in networks + separations}
    assert {study for study, _ in named} == {"okawa2023", "park2024"}
    assert len(named) == len(networks + separations) / 2


def test_reach_leaves_out_the_pixel_itself() -> None:
    rows = [("4", "pixel_reach", 0.3), ("4", "condition_share", 0.9), ("4|0", "pixel_mass", 0.4)]
    rows += [
        ("4|1", "pixel_mass", 0.5),
        ("-4", "pixel_reach", 0.0),
        ("-4", "condition_share", 0.1),
        ("-4|0", "pixel_mass", 1),
    ]
    metrics = pd.DataFrame(rows, columns=["variable", "measure", "value"]).assign(member="a")
    found = across.reach_by_level(metrics).set_index("level")
    assert found.loc[4, "pixel_reach"] == pytest.approx(0.5)
    assert np.isnan(found.loc[-4, "pixel_reach"]), "of nothing there is no share"
    assert found["condition_share"].to_dict() == {-4: 0.1, 4: 0.9}


def test_locality_without_its_measurement_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locality, "measured", lambda _: pd.DataFrame({"measure": ["share_met"]}))
    with pytest.raises(InputError, match="needs the measurement 'locality'"):
        STUDY.figure("locality").tables(Results([], "tiny", [0]))


def pixel_rows(own: float, near: float, reach: float) -> pd.DataFrame:
    """What is measured of a model's pixels: shares of the response to the pixel itself and within a cell, its reach."""
    rows = [
        ("pixel_mass", 0, np.nan, own),
        ("pixel_mass", 4, np.nan, near),
        ("pixel_reach", np.nan, np.nan, reach),
    ]
    rows += [("pixel_map", 0, 0, 1.0), ("pixel_map", 0, 1, 0.3), ("far_near", np.nan, np.nan, 0.2)]
    table = pd.DataFrame(rows, columns=["measure", "first", "second", "value"])
    return table.assign(seed=0, experiment="1", trained=3, reach=-1, level=-4.0)


def test_a_pixel_is_not_its_own_neighbour() -> None:
    found = locality.of_other_pixels(pixel_rows(own=0.6, near=0.9, reach=0.1))
    assert found["value"].tolist() == pytest.approx([0, 0.75, 0.25, np.nan, 0.3, 0.2], nan_ok=True)
    untrained = locality.of_other_pixels(pixel_rows(own=1.0, near=1.0, reach=0.0))
    assert untrained["value"].isna().tolist() == [True, True, True, True, False, False]


def test_across_runs_tiny(tmp_path: Path) -> None:
    order = Order(STUDY, (STUDY.figure("across"),), "tiny", (0,), {})
    (made,) = run(order, Store(tmp_path), torch.device("cpu"), lambda *_, **__: None)
    assert len(made.verdicts) == 3
    members, levels = made.tables["members"], made.tables["levels"]
    assert set(members["study"]) == {"okawa2023", "park2024"}
    found = members[["reach", "orthogonality_pixels", "orthogonality_bottleneck", "last"]]
    assert np.isfinite(found.to_numpy(dtype=float)).all()
    assert sorted(levels["level"]) == [-4, -4, 4, 4]


def drawn_across(seeds: dict[str, int]) -> str:
    """The caption of `across` for so many seeds of each study."""
    rows = [(study, "1", seed) for study, count in seeds.items() for seed in range(count)]
    members = pd.DataFrame(rows, columns=["study", "setting", "seed"]).assign(
        reach=0.5, orthogonality_bottleneck=0.1, orthogonality_pixels=0.1, time=50.0, last=100.0
    )
    levels = members.assign(level=0.0, pixel_reach=0.5)
    results = Results([], "tiny", list(range(max(seeds.values()))))
    page = draw_across(results, {"members": members, "levels": levels})
    return " ".join(page.get_supxlabel().split())


def test_the_caption_of_across_counts_the_seeds_of_each_study() -> None:
    band = "2 seeds; band: ± 1 standard deviation over seeds"
    assert drawn_across({"okawa2023": 2, "park2024": 2}).startswith(f"{band} (left). Time")
    found = drawn_across({"okawa2023": 1, "park2024": 2})
    assert found.startswith(f"okawa2023: 1 seed, no band; park2024: {band} (left). Time")
    assert drawn_across({"okawa2023": 1, "park2024": 1}).startswith("1 seed, no band (left). Time")

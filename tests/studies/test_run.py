from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure as Picture

from conceptlab.studies import Figure, Order, Study
from tests.tiny import tiny_recipe


def recipes(scale, seeds):
    before = tiny_recipe()
    return [before, tiny_recipe(start=before.to_dict(), train={"111": 20})]


FIGURE = Figure(
    "f",
    "title",
    "shows",
    tables=lambda results: {"t": pd.DataFrame()},
    draw=lambda r, t: Picture(),
    recipes=recipes,
)
STUDY = Study("s", "title", "paper", (FIGURE,))


def test_a_changed_setting_reaches_the_member_that_others_start_from():
    before, after = Order(STUDY, (FIGURE,), "tiny", (0,), {"steps": 8}).recipes(FIGURE)
    assert before.steps == after.steps == 8
    assert after.before is not None
    assert after.before.hash == before.hash
    assert dict(after.train) == {"111": 20}


def test_the_command_says_what_was_asked_for():
    order = Order(STUDY, (FIGURE,), "tiny", (0, 1), {"optimiser.learning_rate": 0.01})
    assert order.command == "conceptlab run s --scale tiny --seeds 2 --set optimiser.learning_rate=0.01"

"""park2024: "Hidden Learning Dynamics of Capability before Behavior in Diffusion Models", whole.

Models learn to draw big and small, red and blue circles, and never see a small blue one. When can they draw it, when
do they, and what tells the difference? All numbered figures share one sweep of colour separations and seeds.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure as Picture

from conceptlab.claims import Claim
from conceptlab.errors import InputError
from conceptlab.studies.park2024 import claims, sampling, twins, width
from conceptlab.studies.park2024.draw_capability import (
    draw_elicitation,
    draw_fig2,
    draw_fig3,
    draw_fig7,
    draw_fig8,
    draw_fig9,
)
from conceptlab.studies.park2024.draw_probes import draw_probe
from conceptlab.studies.park2024.draw_space import draw_fig1, draw_fig4, draw_fig6, draw_masking
from conceptlab.studies.park2024.recipes import TARGET, elicited_sweep, masking_sweep, sweep
from conceptlab.studies.park2024.tables import figure_tables, winners
from conceptlab.studies.study import Figure, Results, Study, Tables

_CAPABILITY = ("accuracy", "prompt_capability", "best_prompt")


def _figure(
    id_: str,
    title: str,
    shows: str,
    measures: tuple[str, ...],
    draw: Callable[[Results, Tables], Picture],
    judged: tuple[Claim, ...] = (),
) -> Figure:
    return Figure(id_, title, shows, figure_tables(*measures), draw, sweep, judged)


def _norms(id_: str, measure: str, variable: str, title: str) -> Figure:
    label = f"{measure.replace('_', ' ')}, {variable}"
    return _figure(
        id_,
        title,
        f"{label} over training, beside training accuracy, behaviour and capability",
        ("accuracy", "prompt_capability", measure),
        draw_probe(measure, variable, label=label),
    )


def _disentanglement(id_: str, cls: str, directions: str, judged: tuple[Claim, ...] = ()) -> Figure:
    return _figure(
        id_,
        f"Embedding disentanglement, {directions}",
        f"1 - |cos| of the directions of size and colour ({directions}) over training, mean over embeddings",
        ("accuracy", "prompt_capability", "disentanglement", "disentanglement_spread"),
        draw_probe("disentanglement", "", cls, "1 − |cos|", "disentangled" if judged else ""),
        judged,
    )


def _elicitation_tables(results: Results) -> dict[str, pd.DataFrame]:
    found = figure_tables("agreed_capability", "agreed_best")(results)
    if "agreed_capability" not in set(found["curves"]["measure"]):
        raise InputError(
            "park2024.elicitation: these members were not asked in other ways, or before both probes judged it; "
            "train them in a folder of their own (--out)"
        )
    return {**found, "winners": winners(results)}


STUDY = Study(
    name="park2024",
    title="Capability before behaviour",
    paper="park2024",
    figures=(
        _figure(
            "fig1",
            "Concept-space dynamics",
            "trajectories of all classes through concept space, coloured by colour separation",
            ("coordinate",),
            draw_fig1,
            claims.FIG1,
        ),
        _figure(
            "fig2",
            "Capability and behaviour",
            f"accuracy of class {TARGET} when asked plainly and when over-prompted, with seed bands, by separation",
            _CAPABILITY,
            draw_fig2,
            claims.FIG2,
        ),
        _figure(
            "fig3",
            "Capability time and behaviour time",
            "steps to one half of each, with a censored linear fit and its interval",
            _CAPABILITY,
            draw_fig3,
            claims.FIG3,
        ),
        _figure(
            "fig4",
            "What loss, accuracy and concept space tell",
            "the three side by side with the time of capability marked",
            ("loss", "accuracy", "coordinate"),
            draw_fig4,
            claims.FIG4,
        ),
        _disentanglement("fig5", "00", "e01 − e00 and e10 − e00", claims.FIG5),
        _figure(
            "fig6", "The data", "real images of the two extreme separations; concept signal", (), draw_fig6
        ),
        _figure(
            "fig7",
            "Capability and behaviour, all separations",
            "learning curves of both, coloured by separation",
            _CAPABILITY,
            draw_fig7,
        ),
        _figure(
            "fig8",
            "Spread over seeds",
            "standard deviation over seeds of capability and behaviour",
            _CAPABILITY,
            draw_fig8,
            claims.FIG8,
        ),
        _figure(
            "fig9",
            "Every seed's way",
            "capability, behaviour and step in three dimensions, a line for each seed",
            _CAPABILITY,
            draw_fig9,
            claims.FIG9,
        ),
        _norms("fig10", "weight_norm", "colour", "Condition MLP: weights of colour"),
        _norms("fig11", "weight_norm", "size", "Condition MLP: weights of size"),
        _norms("fig12", "gradient_norm", "colour", "Condition MLP: gradients of colour"),
        _norms("fig13", "gradient_norm", "size", "Condition MLP: gradients of size"),
        _norms("fig14", "weight_norm", "convolutions", "Convolutions: weights"),
        _norms("fig15", "gradient_norm", "convolutions", "Convolutions: gradients"),
        _disentanglement("fig16", TARGET, "e11 − e10 and e11 − e01"),
        Figure(
            "elicitation",
            "Other ways to elicit the capability",
            "capability by over-prompting, search, latent intervention, guidance and a patched embedding",
            _elicitation_tables,
            draw_elicitation,
            elicited_sweep,
            claims.ELICITATION,
            measures=("agreed_capability",),
        ),
        Figure(
            "masking",
            "Underspecification",
            f"class {TARGET} when a share of the red images hide their colour: when it comes, and how it ends",
            figure_tables("accuracy", "coordinate"),
            draw_masking,
            masking_sweep,
            claims.MASKING,
        ),
        sampling.FIGURE,
        twins.FIGURE,
        width.FIGURE,
    ),
    seeds={"tiny": 2, "small": 4, "paper": 5},
)

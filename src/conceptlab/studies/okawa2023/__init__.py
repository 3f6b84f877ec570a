"""okawa2023: Okawa, Lubana, Dick, Tanaka, "Compositional abilities emerge multiplicatively" (NeurIPS 2023).

Every figure but the first (which shows samples of Stable Diffusion), and named figures for what the text claims or asks
without one. `docs/okawa2023.md` says what each shows, and where paper and public code disagree, what we do.
"""

from __future__ import annotations

from conceptlab.studies.okawa2023 import (
    ablation,
    celeba,
    claims,
    data,
    data_claims,
    draw_data,
    draw_order,
    draw_sweeps,
    draw_world,
    order,
    recipes,
    spread,
    sweep_claims,
)
from conceptlab.studies.okawa2023.settings import (
    COUNT_SEEDS,
    ORDER_SEEDS,
    PAPER,
    RARITY_SEEDS,
    SEEDS,
    SWEEP_SEEDS,
    base,
)
from conceptlab.studies.okawa2023.signatures import summary
from conceptlab.studies.sampling_check import agreement_claim, draw_sampling
from conceptlab.studies.study import Figure, Study

__all__ = ["STUDY"]

_ILLUSTRATIONS = (
    Figure("fig2", "The task", "tuples with images; one element altered; tuples never seen",
           draw_world.class_tables, draw_world.draw_fig2),
    Figure("fig3", "Concept graph", "classes as nodes, edges at distance 1, objects of a class",
           draw_world.graph_tables, draw_world.draw_fig3),
    Figure("fig4", "Lattices", "three and four variables, classes by their distance from training",
           draw_world.graph_tables, draw_world.draw_fig4),
)  # fmt: skip

_EMERGENCE = (
    Figure("fig5", "Distance governs the order", "trajectories in the cube, accuracy by distance, samples over time",
           order.emergence_tables, draw_order.draw_emergence, base, claims.FIG5, seeds=ORDER_SEEDS),
    Figure("fig6", "Abilities multiply", "product against mean, single variables, capability along edges",
           order.multiplicative_tables, draw_order.draw_multiplicative, base, claims.FIG6, seeds=ORDER_SEEDS),
    Figure("fig7", "Toy model", "P(n), critical times, and measured curves told from distance 1",
           order.toy_tables, draw_order.draw_toy, order.toy_recipes, claims.FIG7),
)  # fmt: skip

_DATA = (
    Figure("fig8", "Critical frequency", "accuracy against the number of samples of one class",
           data.sample_tables, draw_data.draw_samples,
           lambda scale, seeds: recipes.samples(scale, seeds, ("001", "100")), data_claims.FIG8,
           seeds=COUNT_SEEDS),
    Figure("fig9", "Adversarial training and fine-tuning", "misgeneralisation, and what fine-tuning does to it",
           data.tuning_tables, draw_data.draw_adversarial, recipes.figure9, data_claims.FIG9),
    Figure("fig10", "CelebA", "order by distance and the rarer gender, on photographs",
           celeba.tables, celeba.draw, celeba.recipes, claims.FIG10, celeba.NEEDS),
)  # fmt: skip

_APPENDIX = (
    Figure("fig11", "Examples", "images of every class", draw_world.class_tables, draw_world.draw_fig11),
    *(
        Figure(name, f"Probes: {variable}", f"mean generated image of each class, and how its {variable} is read",
               order.probe_tables, draw_order.draw_probes(variable), base, found, samples=True)
        for name, variable, found in (("fig13", "shape", claims.FIG13), ("fig14", "colour", ()), ("fig15", "size", ()))
    ),
    Figure("fig16", "Four variables", "order by distances 1, 2 and 3, with the background as a variable",
           order.emergence_tables, draw_order.draw_emergence, recipes.four, claims.FIG16),
)  # fmt: skip

_NAMED = (
    Figure("frequency", "Rarity", "emergence time against the share of a class: rarely drawn, few images, balanced",
           data.frequency_tables, draw_sweeps.draw_frequency, recipes.frequency, sweep_claims.FREQUENCY,
           seeds=RARITY_SEEDS),
    Figure("centres", "Every corner as centre", "does the order by distance hold whichever class is in the middle?",
           data.centre_tables, draw_sweeps.draw_centres, recipes.centres, sweep_claims.CENTRES,
           seeds=SWEEP_SEEDS),
    Figure("correlation", "Correlated concepts", "where joint accuracy leaves the product",
           data.correlation_tables, draw_sweeps.draw_correlation, recipes.correlation, sweep_claims.CORRELATION,
           seeds=SWEEP_SEEDS),
    Figure("finetune", "Fine-tuning at large", "four adversarial sets, three learning rates, both data modes",
           data.tuning_tables, draw_data.draw_finetune, recipes.finetune, data_claims.FINETUNE,
           seeds=COUNT_SEEDS),
    Figure("distance", "Beyond Hamming", "distance weighted by concept signal as a predictor of emergence",
           data.distance_tables, draw_sweeps.draw_distance, recipes.centres, sweep_claims.DISTANCE,
           seeds=SWEEP_SEEDS),
    Figure("threshold", "Critical numbers foretold", "critical sample numbers from concept signal, before training",
           data.threshold_tables, draw_sweeps.draw_threshold, recipes.samples, data_claims.THRESHOLDS,
           seeds=COUNT_SEEDS),
    Figure("spread", "Points or ranges", "what is composed against how widely sizes spread within a class",
           spread.SIZES.tables, spread.SIZES.draw, spread.SIZES.recipes, spread.CLAIMS, seeds=SWEEP_SEEDS),
    Figure("unseen", "A value never shown", "is blue drawn without any blue, and how widely must red vary for it?",
           spread.COLOURS.tables, spread.COLOURS.draw, spread.COLOURS.recipes, spread.UNSEEN_CLAIMS,
           seeds=SWEEP_SEEDS),
    Figure("ablation", "Where paper and code disagree", "emergence times of Figure 5 under each switch",
           ablation.tables, ablation.draw, recipes.ablation, sweep_claims.ABLATION,
           seeds=SWEEP_SEEDS),
    Figure("sampling", "Few steps against full sampling", "accuracy of every class drawn in few steps and in full",
           order.agreement_tables, draw_sampling, base, (agreement_claim(PAPER),)),
)  # fmt: skip

STUDY = Study(
    name=PAPER,
    title="Compositional abilities emerge multiplicatively",
    paper=PAPER,
    figures=(*_ILLUSTRATIONS, *_EMERGENCE, *_DATA, *_APPENDIX, *_NAMED),
    seeds=SEEDS,
    signatures=summary,
)

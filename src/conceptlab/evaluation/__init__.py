"""What needs a live model: generation and the measurements made while it trains."""

from conceptlab.evaluation.accuracy import Accuracy
from conceptlab.evaluation.angles import Orthogonality
from conceptlab.evaluation.composition import Composition
from conceptlab.evaluation.cost import drawn_images, evaluation_flops, first_images
from conceptlab.evaluation.edges import Edges
from conceptlab.evaluation.embeddings import Disentanglement
from conceptlab.evaluation.full_sampling import FullSampling
from conceptlab.evaluation.generate import Drawing, draw_one, generate
from conceptlab.evaluation.interventions import Guided, Latent, Patch
from conceptlab.evaluation.length import Length
from conceptlab.evaluation.locality_rows import Locality
from conceptlab.evaluation.measurement import (
    Context,
    Edit,
    Guidance,
    Live,
    Measurement,
    Prompt,
    Row,
    all_prompts,
    build,
    class_prompt,
    names,
    observe,
    read,
    register,
)
from conceptlab.evaluation.norms import Norms
from conceptlab.evaluation.prompts import Family, OverPrompting, PromptSearch, Redraws
from conceptlab.evaluation.rows import all_rows

__all__ = [
    "Accuracy",
    "Composition",
    "Context",
    "Disentanglement",
    "Drawing",
    "Edges",
    "Edit",
    "Family",
    "FullSampling",
    "Guidance",
    "Guided",
    "Latent",
    "Length",
    "Live",
    "Locality",
    "Measurement",
    "Norms",
    "Orthogonality",
    "OverPrompting",
    "Patch",
    "Prompt",
    "PromptSearch",
    "Redraws",
    "Row",
    "all_prompts",
    "all_rows",
    "build",
    "class_prompt",
    "draw_one",
    "drawn_images",
    "evaluation_flops",
    "first_images",
    "generate",
    "names",
    "observe",
    "read",
    "register",
]

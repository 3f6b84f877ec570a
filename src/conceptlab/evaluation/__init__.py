"""What needs a live model: generation and the measurements made while it trains."""

from conceptlab.evaluation.accuracy import Accuracy
from conceptlab.evaluation.edges import Edges
from conceptlab.evaluation.generate import Drawing, draw_one, generate
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

__all__ = [
    "Accuracy",
    "Context",
    "Drawing",
    "Edges",
    "Live",
    "Measurement",
    "Prompt",
    "Row",
    "all_prompts",
    "build",
    "class_prompt",
    "draw_one",
    "generate",
    "names",
    "observe",
    "read",
    "register",
]

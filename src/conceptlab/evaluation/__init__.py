"""What needs a live model: generation and the measurements made while it trains."""

from conceptlab.evaluation.accuracy import Accuracy
from conceptlab.evaluation.edges import Edges
from conceptlab.evaluation.generate import Drawing, generate
from conceptlab.evaluation.measurement import (
    Context,
    Live,
    Measurement,
    Prompt,
    Row,
    all_prompts,
    build,
    class_prompt,
    names,
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
    "generate",
    "names",
    "read",
    "register",
]

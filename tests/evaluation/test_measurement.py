"""Prompts of several measurements, drawn together."""

from __future__ import annotations

import torch

from conceptlab.evaluation import Prompt
from conceptlab.evaluation.measurement import once_each


def test_of_prompts_with_one_name_the_one_with_most_images_is_drawn():
    few, many = (Prompt("class 11", torch.zeros(4), images, stream="11") for images in (4, 32))
    other = Prompt("class 00", torch.zeros(4), 1, stream="00")
    for asked in ([few, other, many], [many, other, few]):
        assert [(prompt.name, prompt.images) for prompt in once_each(asked)] == [
            ("class 11", 32),
            ("class 00", 1),
        ]

"""The best of several prompts, told honestly.

park2024 defines the capability of a model as its best accuracy over prompts. The largest of several noisy
accuracies is too large, and so is early: with five equal prompts it leads the single prompt in almost every run.
Here a prompt is chosen on one half of its images and scored on the other, so that choosing gains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Best:
    """`held_out`: accuracy of the chosen prompt on images not used to choose it; `naive`: the largest accuracy;
    `winner`: which prompt has it (the first of equals), or where a half chooses, which it chose."""

    held_out: float
    naive: float
    winner: int


def best_prompt(hits: Sequence[ArrayLike]) -> Best:
    """From hits, one array of booleans for each prompt: was this image right?

    Images of even number choose and those of odd number score; then the other way round, and the mean of both. Where
    prompts tie, the score is the mean over them: the order of the prompts decides nothing.
    """
    halves = [_means([np.asarray(h, dtype=float)[first::2] for h in hits]) for first in (0, 1)]
    whole = _means([np.asarray(h, dtype=float) for h in hits])
    scores = [_chosen(choose, score) for choose, score in (halves, halves[::-1])]
    return Best(float(np.mean(scores)), float(whole.max()), int(whole.argmax()))


def chosen_on_half(hits: Sequence[ArrayLike]) -> int:
    """Which prompt the even images choose: for a search whose next round must not see the images it is scored on."""
    return int(_means([np.asarray(h, dtype=float)[::2] for h in hits]).argmax())


def best_on_half(hits: Sequence[ArrayLike]) -> Best:
    """The prompt that the even images choose, scored on the odd ones."""
    winner = chosen_on_half(hits)
    score = np.asarray(hits[winner], dtype=float)[1::2].mean()
    return Best(float(score), float(_means([np.asarray(h, dtype=float) for h in hits]).max()), winner)


def _means(arrays: Sequence[NDArray[np.floating]]) -> NDArray[np.floating]:
    return np.array([array.mean() for array in arrays])


def _chosen(choose: NDArray[np.floating], score: NDArray[np.floating]) -> float:
    return float(score[choose == choose.max()].mean())

"""The states that a cohort can go on from after a kill, written beside its training.

Copying tens of large networks to the host takes a moment, writing them seconds: only the copy holds the training up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from torch import Tensor

from conceptlab.store import MemberWriter

# Writing may go on for this share of the time: small networks write a state at every evaluation, while many large ones
# would keep the disk busy with little else.
SHARE = 0.05


class States:
    """One state of a cohort is written at a time, by a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="states")
        self._writing: Future[float] | None = None
        self._begun = self._ended = 0.0

    def due(self) -> bool:
        """Has the last state taken no more than its share of the time since it was begun? One that is still being
        written has taken all of it."""
        now = time.perf_counter()
        if self._writing is not None and self._writing.done():
            self.wait()
        ended = now if self._writing is not None else self._ended
        return SHARE * (now - self._begun) >= ended - self._begun

    def write(
        self, step: int, writers: Sequence[MemberWriter], states: Callable[[], Sequence[dict[str, Tensor]]]
    ) -> None:
        """Copy the states of these members now, and begin to write them."""
        self.wait()
        self._begun = time.perf_counter()
        self._writing = self._thread.submit(_write, step, writers, states())

    def wait(self) -> None:
        """Until nothing is being written; what went wrong there is raised here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            self._ended = writing.result()

    def close(self) -> None:
        """Leave nothing running behind, whatever the training died of."""
        self._thread.shutdown()


def _write(step: int, writers: Sequence[MemberWriter], states: Sequence[dict[str, Tensor]]) -> float:
    for writer, state in zip(writers, states):
        writer.write_state(step, state)
    for writer in writers:  # once all are safe: members go on from a step they have in common
        writer.drop_states(keep=step)
    return time.perf_counter()

"""Everything that is wrong with a data set, told at once instead of one thing per attempt."""

from __future__ import annotations

from conceptlab.errors import InputError

# Examples of one kind of problem that are named; the rest are counted.
_NAMED = 4


class Problems:
    """Collects what is wrong; `stop` raises it as one list, a line for each kind of problem."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._found: dict[tuple[str, str], list[str]] = {}

    def add(self, what: str, example: str, remedy: str) -> None:
        """One more case of a kind of problem (`missing files`), what it is (`a.png, line 4`) and how to mend it."""
        self._found.setdefault((what, remedy), []).append(example)

    def __len__(self) -> int:
        return sum(len(examples) for examples in self._found.values())

    @property
    def lines(self) -> list[str]:
        found = []
        for (what, remedy), examples in self._found.items():
            named = "; ".join(examples[:_NAMED])
            more = f"; and {len(examples) - _NAMED} more" if len(examples) > _NAMED else ""
            found.append(f"{what} ({len(examples)}): {named}{more}. {remedy}")
        return found

    def stop(self) -> None:
        """Raise an `InputError` if anything was found."""
        if not self._found:
            return
        if len(self._found) == 1:
            raise InputError(f"{self.where}: {self.lines[0]}")
        raise InputError(
            "\n  - ".join([f"{self.where} has {len(self._found)} kinds of problems:", *self.lines])
        )

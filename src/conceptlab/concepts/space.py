"""Concept spaces: named variables with named values, and the classes they span.

The definitions are those of okawa2023: variables and values (Def 1, 2), classes (Def 3) and concept distance
(Def 4). The declared order of the variables is data: it decides how a class such as ``011`` reads.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from conceptlab.errors import InputError, unknown

Class = tuple[int, ...]


@dataclass(frozen=True)
class Variable:
    """A property of an object. Without values it is continuous (a location, an angle) and always free."""

    name: str
    values: tuple[str, ...] = ()

    def index(self, value: str | int) -> int:
        """The position of a value given by its name, or by its position (a number or digits)."""
        if isinstance(value, str) and value in self.values:
            return self.values.index(value)
        if _is_position(str(value)) and int(value) < len(self.values):
            return int(value)
        if str(value) in self.values:
            raise InputError(
                f"'{self.name}' has no value at place {value}, only at 0 to {len(self.values) - 1}; write "
                f"{self.name}={value} for the one of that name, and name all variables so"
            )
        raise unknown(f"value of '{self.name}'", value, self.values)


class ConceptSpace:
    """Ordered variables; those not declared free are the concepts a class fixes (Def 3)."""

    def __init__(self, variables: Sequence[Variable], free: Collection[str] = ()) -> None:
        names = [variable.name for variable in variables]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"variable '{name}' is declared twice; give every variable its own name")
        for name in free:
            if name not in names:
                raise unknown("free variable", name, names)
        for variable in variables:
            if len(set(variable.values)) < len(variable.values):
                raise InputError(f"variable '{variable.name}' lists a value twice: {variable.values}")
        self.variables = tuple(variables)
        self.concepts = tuple(v for v in variables if v.values and v.name not in free)
        self.free = tuple(v for v in variables if not v.values or v.name in free)
        if not self.concepts:
            raise InputError("a concept space needs at least one variable with values that is not free")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the concept variables, in declared order."""
        return tuple(variable.name for variable in self.concepts)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(variable.values) for variable in self.concepts)

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """All classes in lexicographic order."""
        return tuple(itertools.product(*(range(size) for size in self.sizes)))

    def __iter__(self) -> Iterator[Class]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConceptSpace):
            return NotImplemented
        return self.variables == other.variables and self.free == other.free

    def __hash__(self) -> int:
        return hash((self.variables, self.free))

    def __repr__(self) -> str:
        concepts = ", ".join(f"{v.name}={{{', '.join(v.values)}}}" for v in self.concepts)
        free = ", ".join(v.name for v in self.free)
        return f"ConceptSpace({concepts}" + (f"; free: {free})" if free else ")")

    def variable(self, name: str) -> int:
        """The position of a concept variable in a class tuple."""
        if name not in self.names:
            raise unknown("concept variable", name, self.names)
        return self.names.index(name)

    def parse(self, given: str | Sequence[int | str] | Mapping[str, str]) -> Class:
        """A class from ``011``, ``0-1-1``, ``shape=triangle,size=small``, a tuple or a mapping."""
        said = f"'{given}'" if isinstance(given, str) else f"{given!r}"
        if isinstance(given, str):
            given = self._split(given.strip())
        if isinstance(given, Mapping):
            for name in given:
                self.variable(name)
            missing = [name for name in self.names if name not in given]
            if missing:
                raise InputError(
                    f"class {dict(given)} leaves out {', '.join(missing)}; name all of {self.order}"
                )
            given = [given[name] for name in self.names]
        if len(given) != len(self.concepts):
            many = f"{len(given)} value{'s' if len(given) != 1 else ''}"
            raise InputError(f"class {said} has {many}; name one for each of {self.order}")
        return tuple(v.index(value) for v, value in zip(self.concepts, given))

    def _split(self, text: str) -> Sequence[int | str] | Mapping[str, str]:
        if "=" in text:
            pairs = [part.partition("=") for part in text.split(",")]
            if len({name for name, _, _ in pairs}) < len(pairs):
                raise InputError(f"class '{text}' names a variable twice")
            return {name.strip(): value.strip() for name, _, value in pairs}
        if len(self.concepts) == 1 and text in self.concepts[0].values and not _is_position(text):
            return [text]
        # Names may hold a hyphen, as in `t-shirt,red`; what a comma parts is parted by nothing else.
        for separator in (",", "-"):
            if separator in text:
                return [_position(part) for part in text.split(separator)]
        # Digits alone are unambiguous only while every variable has at most ten values.
        if text.isdecimal() and max(self.sizes) <= 10:
            return [int(digit) for digit in text]
        return [_position(text)]

    @property
    def order(self) -> str:
        """The declared order, to print wherever a tuple is shown: ``(shape, size, colour)``."""
        return f"({', '.join(self.names)})"

    def code(self, cls: Class) -> str:
        """``011``; joined by ``-`` once a variable has more than ten values."""
        return ("" if max(self.sizes) <= 10 else "-").join(str(value) for value in cls)

    def name(self, cls: Class) -> str:
        """``shape=triangle,size=small,colour=blue``."""
        return ",".join(f"{v.name}={v.values[value]}" for v, value in zip(self.concepts, cls))

    def words(self, cls: Class) -> str:
        """``triangle, small, blue``: for captions."""
        return ", ".join(v.values[value] for v, value in zip(self.concepts, cls))

    def distance(self, a: Class, b: Class) -> int:
        """Concept distance (Def 4): the number of variables in which two classes differ."""
        return sum(x != y for x, y in zip(a, b, strict=True))

    def neighbours(self, cls: Class) -> tuple[Class, ...]:
        """The classes at distance 1: one variable altered."""
        return tuple(
            (*cls[:i], value, *cls[i + 1 :])
            for i, size in enumerate(self.sizes)
            for value in range(size)
            if value != cls[i]
        )

    def altered(self, cls: Class) -> dict[str, Class]:
        """For each variable the class in which it alone is altered, to its next value (the first after the last)."""
        return {
            name: (*cls[:place], (cls[place] + 1) % size, *cls[place + 1 :])
            for place, (name, size) in enumerate(zip(self.names, self.sizes))
        }


def _position(part: str) -> int | str:
    """In a tuple, of one too, digits are positions, even where a value happens to be named by digits."""
    return int(part) if _is_position(part.strip()) else part.strip()


def _is_position(text: str) -> bool:
    """Whether `int` takes a text for a number: a superscript is a digit too, and thousands of digits are too many."""
    return text.isdecimal() and len(text) < 10

"""The rows of all measurements: checked where a measurement gives them, since a table knows nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real

from conceptlab.errors import InputError
from conceptlab.evaluation.measurement import Live, Measurement, Row


def all_rows(measurements: Sequence[Measurement], live: Live) -> list[Row]:
    """What all measurements found. Two numbers under one name cannot be told apart: claims would be judged on both."""
    rows: list[Row] = []
    finders: dict[Row, str] = {}
    drawn = {name: images._version for name, images in live.images.items()}
    for measurement, part in zip(measurements, live.context.recipe.evaluation.measurements, strict=True):
        found = measurement.rows(live)
        if not isinstance(found, Iterable):
            raise _no_row(found, part["name"])
        for row in found:
            _check_row(row, part["name"])
            name = row._replace(value=0.0)
            if name in finders:
                raise InputError(
                    f"measurement '{part['name']}' finds {_subject(row)}, which '{finders[name]}' found already; leave "
                    "one of them out, or let yours call its measure otherwise"
                )
            finders[name] = part["name"]
            rows.append(row)
        if any(live.images[name]._version != version for name, version in drawn.items()):
            raise InputError(
                f"measurement '{part['name']}' changes images that were drawn, and others look at them next; compute "
                "without changing them in place, e.g. x = 2 * x instead of x *= 2"
            )
    return rows


def _check_row(row: object, name: str) -> None:
    """What is no number would only be found out when the table is written, which knows nothing of its measurement."""
    if not isinstance(row, Row):
        raise _no_row(row, name)
    for field_, given in zip(("cls", "variable", "measure"), row):
        if not isinstance(given, str):
            example = ", e.g. live.context.world.space.code(cls)" if field_ == "cls" else ""
            raise InputError(
                f"measurement '{name}' gives a Row whose {field_} is a {type(given).__name__}; give a word{example}"
            )
    if row.step is not None and not isinstance(row.step, Integral):
        raise InputError(
            f"measurement '{name}' finds {_subject(row)} at step {row.step!r}; give a whole number"
        )
    if not isinstance(row.value, Real):
        raise InputError(
            f"measurement '{name}' finds {_subject(row)} to be a {type(row.value).__name__}; give a number, e.g. with "
            ".item()"
        )


def _no_row(given: object, name: str) -> InputError:
    what = "None" if given is None else f"a {type(given).__name__}"
    return InputError(f"measurement '{name}' gives {what}; let rows give conceptlab.evaluation.Row")


def _subject(row: Row) -> str:
    about = ", ".join(word for word in (f"class {row.cls}" if row.cls else "", row.variable) if word)
    return f"'{row.measure}' ({about or 'of no class'})"

"""From the columns of a table to concept variables: which values there are, and which images have which.

A user writes variables in a short form:

| text | meaning |
|---|---|
| `colour` | every value in the column |
| `colour=red,blue` | these two, in this order; other images belong to no class |
| `hair=dark:black+brown,light:blond` | values put together under a name |
| `size@0.3,0.6` | numbers cut at .3 and .6 (a number on the cut belongs above) |
| `size/3` | three bins of about as many images each |
| `size@0.5=small,large`, `size/2=small,large` | bins with names |

`resolve` turns this, with the table at hand, into the explicit form that a world keeps as a setting: for each variable
its column and its values, each with the texts it stands for or with the interval [low, high) of numbers.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from conceptlab.errors import InputError, unknown
from conceptlab.worlds.problems import Problems

# A value's name with the texts it stands for, or with the interval [low, high) of its numbers.
Value = tuple[str, tuple[Any, ...]]
Variables = tuple[tuple[str, tuple[Value, ...]], ...]

MOST_VALUES = 20
"""A column with more values than this must be binned."""


def resolve(texts: Sequence[str], table: pd.DataFrame, where: str) -> Variables:
    """The explicit form of variables that are written in the short form."""
    return tuple(_resolve(text.strip(), table, where) for text in texts)


def suggest(table: pd.DataFrame, most: int = 6) -> list[str]:
    """Columns that can be variables as they are: those with a few values each."""
    plain = [str(name) for name in table.columns if _several(table[name]) is None]
    return [name for name in plain if 2 <= texts_of(table[name]).nunique() <= 10][:most]


def passed_over(table: pd.DataFrame, suggested: Sequence[str]) -> list[str]:
    """Columns that are not suggested and could be variables all the same: others with a few values, and, as they would
    have to be written, numbers in two bins."""
    few = [name for name in suggest(table, len(table.columns)) if name not in suggested]
    others = [str(name) for name in table.columns if name not in (*suggested, *few)]
    plain = [name for name in others if _several(table[name]) is None and table[name].nunique() > 1]
    return few + [f"{name}/2" for name in plain if _can_be_halved(table[name])]


def _can_be_halved(column: pd.Series) -> bool:
    """Whether two bins of about as many numbers each are possible: of a column that is mostly zero they are not."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    return bool(np.isfinite(numbers).all() and np.median(numbers) > numbers.min())


def column_of(table: pd.DataFrame, name: str, where: str) -> pd.Series:
    """A column that is used. Others may hold whatever they like; this one has a single value in each row."""
    if name not in table.columns:
        raise unknown("column", name, table.columns, where=where)
    row = _several(table[name])
    if row is not None:
        raise InputError(
            f"{where}: '{name}' holds several values in row {row + 1}; give each row one, or name another column"
        )
    return table[name]


def _several(column: pd.Series) -> int | None:
    """The first row that holds a list or the like, as JSON and Parquet allow."""
    if column.dtype != object:
        return None
    compound = (list, tuple, dict, set, np.ndarray)
    return next((row for row, value in enumerate(column) if isinstance(value, compound)), None)


def labels_of(variables: Variables, table: pd.DataFrame) -> np.ndarray:
    """Each image's value of each variable, (images, variables); -1 where it has none of them."""
    columns = [_labels(table[name], values) for name, values in variables]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), dtype=np.int64)


def _labels(column: pd.Series, values: Sequence[Value]) -> np.ndarray:
    """The place of each row's value; -1 where it has none."""
    labels = np.full(len(column), -1, dtype=np.int64)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    places = {
        _composed(text): index
        for index, (_, given) in enumerate(values)
        if not is_interval(given)
        for text in given
    }
    if places:
        labels = texts_of(column).map(places).fillna(-1).to_numpy(np.int64)
    for index, (_, given) in enumerate(values):
        if is_interval(given):
            low, high = (
                (-math.inf if given[0] is None else given[0]),
                (math.inf if given[1] is None else given[1]),
            )
            labels[(numbers >= low) & (numbers < high)] = index
    return labels


def check_labels(problems: Problems, variables: Variables, table: pd.DataFrame, labels: np.ndarray) -> None:
    """Attributes that are missing, and variables that do not vary."""
    for place, (name, values) in enumerate(variables):
        for row in np.flatnonzero(table[name].isna().to_numpy()):
            remedy = "Fill them in, take these lines out of the table, or choose --variables without it."
            problems.add(f"'{name}' has no value", f"row {row + 1}", remedy)
        counts = [int((labels[:, place] == index).sum()) for index in range(len(values))]
        present = [value for (value, _), count in zip(values, counts) if count]
        for (value, given), count in zip(values, counts):
            if not count:
                problems.add("values without images", f"{name}={value}", _remedy(table[name], name, given))
        if len(present) < 2:
            shown = present[0] if present else "nothing"
            remedy = "A variable needs two values or more: leave it out, or bin it differently."
            problems.add("single-valued variables", f"{name} (always {shown})", remedy)


def _remedy(column: pd.Series, name: str, given: tuple[Any, ...]) -> str:
    """What to do about a value that no image has: a text can be left out, a bin only by other cuts."""
    if is_interval(given):
        numbers = pd.to_numeric(column, errors="coerce").dropna()
        return f"Cut elsewhere; '{name}' runs from {_text(numbers.min())} to {_text(numbers.max())}."
    known = ", ".join(_in_order(texts_of(column).dropna().unique().tolist())[:8])
    return f"Leave them out; '{name}' has: {known}."


def texts_of(column: pd.Series) -> pd.Series:
    """A column as texts; whole numbers without a point, gaps stay gaps."""
    codes, uniques = pd.factorize(column)
    texts = np.array([*(_text(value) for value in uniques), None], dtype=object)
    return pd.Series(texts[codes], index=column.index, dtype=object)


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number):
        return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
    return _composed(str(value))


def _composed(text: str) -> str:
    """On some systems ü is written as u and two dots. Nobody who reads or types it could tell the two apart."""
    return unicodedata.normalize("NFC", text.strip())


def is_interval(given: tuple[Any, ...]) -> bool:
    """Whether a value stands for an interval of numbers, not for texts."""
    return len(given) == 2 and all(part is None or isinstance(part, int | float) for part in given)


def is_binned(values: Sequence[Value]) -> bool:
    """Whether the values of a variable are bins of numbers."""
    return all(is_interval(given) for _, given in values)


def _resolve(text: str, table: pd.DataFrame, where: str) -> tuple[str, tuple[Value, ...]]:
    columns = [str(name) for name in table.columns]
    head, _, names = text.partition("=") if text not in columns else (text, "", "")
    for sign, cut in (("@", _edges), ("/", _quantiles)):
        if head not in columns and sign in head:
            name, _, amount = head.rpartition(sign)
            numbers = _numbers(name, table, where)
            return name, _bins(text, cut(text, amount, numbers), names, numbers)
    column = column_of(table, head, where)
    if names:
        return head, _each_once(text, tuple(_named(text, part) for part in names.split(",")))
    values = _in_order(texts_of(column).dropna().unique().tolist())
    if len(values) > MOST_VALUES:
        raise InputError(f"{where}: '{head}' has {len(values)} different values; {_fewer(head, values)}")
    return head, tuple((value, (value,)) for value in values)


def _fewer(name: str, values: list[str]) -> str:
    """How to come to a few values: numbers can be cut, words only chosen or put together."""
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
    choice = f"'{name}={values[0]},{values[1]}' to choose values"
    if numbers.notna().all():
        cut = values[len(values) // 2]  # they are in their order
        return f"bin it, e.g. '{name}/2' for two bins of equal count, '{name}@{cut}' to cut at {cut}, or {choice}"
    return f"write {choice}, or '{name}=one:{values[0]}+{values[1]},other:{values[2]}' to put some together"


def _in_order(texts: list[str]) -> list[str]:
    """Numbers in their order, texts in the alphabet's."""
    numbers = dict(zip(texts, pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").tolist()))
    if not all(map(math.isfinite, numbers.values())):
        return sorted(texts)
    return sorted(texts, key=lambda text: (numbers[text], text))


def _numbers(name: str, table: pd.DataFrame, where: str) -> np.ndarray:
    column = column_of(table, name, where)
    numbers = pd.to_numeric(column, errors="coerce").replace([math.inf, -math.inf], math.nan)
    if (numbers.isna() & column.notna()).any() or column.isna().all():
        raise InputError(f"{where}: {_not_numbers(name, column, numbers)}")
    return numbers.dropna().to_numpy(float)


def _not_numbers(name: str, column: pd.Series, numbers: pd.Series) -> str:
    """What is in the way: slips among numbers, a comma in place of the point, or words."""
    others = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    if not len(others):
        return f"'{name}' is not a column of numbers (it is empty); choose another"
    value, row = str(column.iloc[others[0]]), f"row {others[0] + 1}"
    if re.fullmatch(r"\s*[+-]?\d*,\d+\s*", value):
        return f"'{name}' has commas in its numbers ('{value}' in {row}); write them with a point"
    if len(others) < numbers.notna().sum():
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        return (
            f"'{name}' is not a number in {len(others)} of {len(column)} rows ({row}: '{value}'{more}); "
            "write numbers there, or take these lines out of the table"
        )
    return f"'{name}' is not a column of numbers (it holds '{value}'); choose values: {name}=a,b"


def _edges(text: str, amount: str, numbers: np.ndarray) -> list[float]:
    try:
        edges = [float(part) for part in amount.split(",")]
    except ValueError:
        edges = [math.nan]
    if not all(map(math.isfinite, edges)):
        raise InputError(f"variable '{text}': after @ write the cuts as numbers, e.g. size@0.3,0.6")
    if sorted(set(edges)) != edges:
        raise InputError(f"variable '{text}': the cuts must rise")
    return edges


def _quantiles(text: str, amount: str, numbers: np.ndarray) -> list[float]:
    if not amount.isdecimal() or len(amount) > 9 or not 2 <= int(amount) <= MOST_VALUES:
        raise InputError(f"variable '{text}': after / write the number of bins, 2 to {MOST_VALUES}")
    shares = np.arange(1, int(amount)) / int(amount)
    edges = [float(edge) for edge in np.quantile(numbers, shares)]
    if len(set(edges)) < len(edges) or edges[0] <= numbers.min():
        raise InputError(f"variable '{text}': too many equal numbers for {amount} bins; name the cuts with @")
    return edges


def _bins(text: str, edges: list[float], names: str, numbers: np.ndarray) -> tuple[Value, ...]:
    bounds = [None, *edges, None]
    pairs = list(itertools.pairwise(bounds))
    given = [part.strip() for part in names.split(",")] if names else _bin_names(edges, numbers)
    if len(given) != len(pairs):
        raise InputError(f"variable '{text}': {len(pairs)} bins need as many names, not {len(given)}")
    return tuple(zip(given, pairs))


def _bin_names(edges: list[float], numbers: np.ndarray) -> list[str]:
    """Bins by their cuts, in four digits: members are found by these names. In more where two cuts would read alike, or
    one as if it parted nothing."""
    low, high = float(numbers.min()), float(numbers.max())
    cuts: list[str] = []
    for digits in range(4, 18):  # 17 tell any two numbers apart
        cuts = [f"{edge:.{digits}g}" for edge in edges]
        told = [float(cut) for cut in cuts]
        parts = all((low < cut <= high) == (low < edge <= high) for cut, edge in zip(told, edges))
        if parts and len(set(told)) == len(told):
            break
    return [f"<{cuts[0]}", *(f"{a}–{b}" for a, b in itertools.pairwise(cuts)), f"≥{cuts[-1]}"]


def _each_once(text: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values, of which no two may claim the same images."""
    given = [member for _, members in values for member in members]
    twice = [member for member in dict.fromkeys(given) if given.count(member) > 1]
    if twice:
        raise InputError(f"variable '{text}': '{twice[0]}' is named twice; an image can have one value only")
    return values


def _named(text: str, part: str) -> Value:
    name, colon, members = part.partition(":")
    given = [_composed(member) for member in (members if colon else name).split("+")]
    if not name.strip() or not all(given):
        raise InputError(f"variable '{text}': write values as a,b or name:a+b,other:c")
    return _composed(name), tuple(given)

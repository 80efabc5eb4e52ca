"""Columns as named on the command line, with a hint for what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SHOWN = 20


def column_named(name: str, columns: Sequence[str], path: str) -> str:
    """The column of that name; the error lists what there is.

    Examples
    --------
    >>> column_named("colour", ["colour", "size"], "few.csv")
    'colour'
    >>> column_named("color", ["colour", "size"], "few.csv")
    Traceback (most recent call last):
    ValueError: few.csv has no column 'color'; did you mean 'colour'? (its columns: colour, size)
    """
    if name in columns:
        return name
    lower = {column.lower(): column for column in columns}
    near = get_close_matches(name.lower(), lower, n=1)
    hint = f"; did you mean {lower[near[0]]!r}?" if near else ""
    more = ", ..." if len(columns) > SHOWN else ""
    raise ValueError(f"{path} has no column {name!r}{hint} (its columns: {', '.join(columns[:SHOWN])}{more})")


def chosen_columns(given: Iterable[str] | None, columns: Sequence[str], path: str) -> list[str]:
    """Columns from options that may be repeated, each one name or several with commas between them."""
    names: list[str] = []
    for text in given or ():
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        names += [column_named(part, columns, path) for part in parts if part]
    return names

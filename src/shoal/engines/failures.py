"""What goes wrong alike in every engine.

Columns that do not fit, a source that changed, values that a target or DuckDB cannot hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from pyarrow.types import is_floating

from shoal.errors import BadData, BadOutput, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.engines.base import Source


CHANGED = "shoal: a value that was not counted"
"""The message by which a query stops when it meets a value that has no label."""


def source_changed(name: str) -> BadData:
    """A source that has values now which were not counted."""
    return BadData(
        f"{name} has values now that it did not have when it was counted",
        code="source-changed",
        hint="the source changed while it was read; run again when nobody writes to it",
    )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table without columns, with a column without a name, or with a name twice."""
    if not names:
        raise BadData(
            f"{source} has no columns",
            code="no-columns",
            hint="check that it is the right file, and that its first row has the column names",
        )
    for number, name in enumerate(names, start=1):
        if not name:
            raise BadData(
                f"column {number} of {source} has no name",
                code="unnamed-column",
                hint="name it in the first row, or say header: false if there is no such row",
            )
    for name, count in Counter(names).items():
        if count > 1:
            raise BadData(
                f"{source} has {count} columns named {name!r}",
                code="repeated-column",
                hint="give each column a name of its own",
            )


def names_differing_in_case(names: Sequence[str]) -> tuple[str, str] | None:
    """Two names that differ in case alone, for a target that does not distinguish them."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            return other, name
    return None


def unknown_column(name: str, source: str, known: Collection[str]) -> BadData:
    """A column that a source does not have."""
    return BadData(
        f"no column {name!r} in {source}{did_you_mean(name, known)}",
        code="unknown-column",
        hint=f"its columns are {quoted(known)}",
    )


def check_same_columns(
    first: tuple[str, Collection[str]], other: tuple[str, Collection[str]], hint: str
) -> None:
    """Refuse a part of a table that has other columns than the first part.

    Each part is its name for messages and its columns.
    """
    lacks = [name for name in first[1] if name not in other[1]]
    adds = [name for name in other[1] if name not in first[1]]
    differences = [f"lacks {quoted(lacks)}"] if lacks else []
    differences += [f"adds {quoted(adds)}"] if adds else []
    if differences:
        raise BadData(
            f"{other[0]} has other columns than {first[0]}: it {' and '.join(differences)}",
            code="different-columns",
            hint=hint,
        )


def not_releasable(name: str, source: str, fault: str) -> BadData:
    """A column whose values cannot be read as they are."""
    return BadData(
        f"column {name!r} of {source} cannot be released: {fault}",
        code="unsupported-type",
        hint="drop the column, or make it text or another simple type first",
    )


LONGEST_DECIMAL = 38
"""Digits of the longest decimals that DuckDB has; it reads longer ones as doubles."""

_NANOSECONDS = r"\.\d{7}"
_INFINITE = ("inf", "-inf")
_NEGATIVE_ZERO = ("-0.0",)


def check_nanoseconds(source: Source, released: Collection[str], target: str) -> None:
    """Refuse times with nanoseconds, for a target that holds no more than microseconds.

    Only columns of such a type are counted; their texts have no more digits than they need.
    """
    for column in source.columns():
        if column.name in released and getattr(column.arrow, "unit", None) == "ns":
            texts = source.count_by([column.name]).column(0)
            if pc.any(pc.match_substring_regex(texts, _NANOSECONDS)).as_py():
                raise BadOutput(
                    f"column {column.name!r} has nanoseconds, which {target} cannot hold",
                    code="unstorable-value",
                    hint="make the column text in the source, drop it, or write to another kind of"
                    " output",
                )


def check_finite(source: Source, released: Collection[str], target: str, code: str) -> None:
    """Refuse infinite numbers, for a target that holds none."""
    name = _number_with(_INFINITE, source, released)
    if name is not None:
        raise BadOutput(
            f"column {name!r} has infinite numbers, which {target} cannot hold",
            code=code,
            hint="drop the column, or write a CSV or Parquet file",
        )


def check_negative_zeros(source: Source, released: Collection[str], target: str) -> None:
    """Refuse -0.0, for a target that makes 0.0 of it, which is another value."""
    name = _number_with(_NEGATIVE_ZERO, source, released)
    if name is not None:
        raise BadOutput(
            f"column {name!r} has negative zeros, which {target} cannot hold",
            code="unstorable-value",
            hint="write 0.0 in place of -0.0 in the source, make the column text there, or write to"
            " another kind of output",
        )


def _number_with(texts: Sequence[str], source: Source, released: Collection[str]) -> str | None:
    """The first released column of floating numbers that has one of these texts.

    Where a column has some, fewer records have a value besides them than have one at all.
    """
    for column in source.columns():
        if column.name in released and column.arrow is not None and is_floating(column.arrow):
            every, others = (
                source.count_by((), missing, complete=(column.name,)).column(0)[0].as_py()
                for missing in ((), texts)
            )
            if others < every:
                return column.name
    return None

"""Values that a target or DuckDB cannot hold, refused before the search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from pyarrow.types import is_floating

from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.base import Source

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

"""Whether a place can hold the values of a table, asked before the search."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.engines.base import Source

_NANOSECONDS = r"\.\d{7}"


def check_nanoseconds(source: Source, released: Collection[str], place: str) -> None:
    """Refuse times with nanoseconds, for a place that holds no more than microseconds.

    Only columns of such a type are counted; their texts have no more digits than they need.
    """
    for column in source.columns():
        if column.name in released and getattr(column.arrow, "unit", None) == "ns":
            texts = source.count_by([column.name]).column(0)
            if pc.any(pc.match_substring_regex(texts, _NANOSECONDS)).as_py():
                raise BadOutput(
                    f"column {column.name!r} has nanoseconds, which {place} cannot hold",
                    code="unstorable-value",
                    hint="make the column text in the source, drop it, or write to another kind of"
                    " output",
                )

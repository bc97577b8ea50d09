"""What kind of values a column has, and how they are spread, in a few numbers without any value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from shoal.values import Ints

ValueType: TypeAlias = Literal[
    "no values", "yes or no", "whole numbers", "numbers", "codes", "dates", "times", "text"
]

BARS = 16
"""Bars of a histogram."""

_WHOLE = r"^[+-]?[0-9]{1,18}$"
_CODE = r"^0[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_DATE = r"^([0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4})$"
_TIME = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4})[ T][0-9]{1,2}:"
_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
_PAIRS = tuple(
    frozenset(pair.split())
    for pair in ("yes no", "y n", "true false", "t f", "0 1", "ja nein", "j n", "oui non", "si no")
)


def type_of(values: pa.Array) -> ValueType:
    """The type of distinct values that are not missing."""
    if not len(values):
        return "no values"
    if len(values) <= 2:
        texts = frozenset(text.lower() for text in values.to_pylist())
        if any(texts <= pair for pair in _PAIRS) and len(texts) == 2:
            return "yes or no"
    if _all(values, _WHOLE):
        codes = pc.match_substring_regex(values, _CODE)
        return "codes" if pc.any(codes).as_py() else "whole numbers"
    if _all(values, _NUMBER):
        return "numbers"
    if _all(values, _DATE):
        return "dates"
    if _all(values, _TIME):
        return "times"
    return "text"


def histogram(values: pa.Array, counts: Ints, kind: ValueType) -> tuple[int, ...]:
    """Records in ranges of equal width where values have an order, else of the frequent values."""
    if not len(values):
        return ()
    numbers = _numbers(values, kind)
    if numbers is not None and np.isfinite(numbers).all() and numbers.min() < numbers.max():
        bars = min(BARS, len(values))
        found = np.histogram(numbers, bins=bars, weights=counts)[0]
        return tuple(found.astype(np.int64).tolist())
    return tuple(np.sort(counts)[::-1][:BARS].tolist())


def _all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _numbers(values: pa.Array, kind: ValueType) -> np.ndarray | None:
    """The values as numbers that order them; None where they have no order."""
    if kind in ("whole numbers", "numbers"):
        return np.asarray(values.cast(pa.float64()))
    if kind == "dates":
        for form in _FORMATS:
            parsed = pc.strptime(values, format=form, unit="s", error_is_null=True)
            if parsed.null_count == 0:
                return np.asarray(parsed.cast(pa.int64()), np.float64)
    if kind == "times":
        days = pc.replace_substring_regex(values, r"[ T].*", "")
        return _numbers(days, "dates")
    return None

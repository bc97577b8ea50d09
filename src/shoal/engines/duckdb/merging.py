"""The type of a column that several files hold, which may hold it in different types.

DuckDB itself would make a double of a long integer and lose digits, or of two texts of one value
two values. Here a type is found that holds every value of all files as it is, else text.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from shoal.engines.duckdb.relation import SPELLED
from shoal.engines.duckdb.session import INEXACT, literal

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_INTEGERS = {*_SIGNED, *_UNSIGNED}
_FLOATS = {"FLOAT", "DOUBLE"}
_WHOLE = "DECIMAL(20,0)"
"""Holds all integers of 64 bits, with a sign and without."""
_EXACT = 2**53
"""Up to here every integer is a double."""


@dataclass(frozen=True)
class Merging:
    """How the values of a column in files become values of one type.

    `told_apart` says that the text of a value names the type it is stored in.
    """

    type: str
    told_apart: bool = False

    def value(self, value: str, kind: str) -> str:
        """SQL for a value that a file holds in the type `kind`."""
        if self.told_apart:
            return f"{literal(kind + ' ')} || CAST({value} AS VARCHAR)"
        if kind == self.type:
            return value
        cast = f"CAST({value} AS {self.type})"
        if self.type == "DOUBLE" and kind in _INTEGERS:
            return f"CASE WHEN abs({value}::HUGEINT) > {_EXACT} THEN {_stop()} ELSE {cast} END"
        return cast


def _stop() -> str:
    return f"error({literal(INEXACT)})"


def merging(kinds: Collection[str], *, stored: bool) -> Merging:
    """One type for values of these types; with `stored`, texts then tell the types apart."""
    present = set(kinds) - {'"NULL"'}
    common = _common(present)
    if common is not None:
        return Merging(common)
    return Merging("VARCHAR", told_apart=stored)


def _common(kinds: set[str]) -> str | None:
    """A type in which every value of these types stays the same value; None where there is none."""
    if not kinds:
        return '"NULL"'
    if len(kinds) == 1:
        (kind,) = kinds
        return "VARCHAR" if kind in SPELLED else kind
    for widths in (_SIGNED, _UNSIGNED):
        if kinds <= set(widths):
            return max(kinds, key=widths.index)
    if kinds <= _INTEGERS:
        return _WHOLE
    return "DOUBLE" if kinds <= _INTEGERS | _FLOATS else None

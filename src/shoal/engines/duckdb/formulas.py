"""Cells of a CSV file that a spreadsheet would run as a formula, and how they are made harmless.

A spreadsheet runs a cell that begins with one of STARTS, whether it is quoted or not. Numbers with
a sign are no formulas. An apostrophe before the cell makes it text. It is put before every formula
that has any number of apostrophes in front, and taken away from the same texts when the release is
read: so no two texts become one, and what is read is what was released.
"""

from __future__ import annotations

from shoal.engines.duckdb.session import literal

ESCAPE = "escape"
"""What an output says so that formulas are made harmless."""

STARTS = r"=+\-@\t\r\n＝＋－＠"
FORMULA = rf"(?s)[{STARTS}].+"
NUMBER = r"[+-]?\.?[0-9][0-9., ]*([eE][+-]?[0-9]+)?%?"
"""A cell that is run matches FORMULA as a whole, and not NUMBER."""

_FORMULA, _NUMBER = literal(FORMULA), literal(NUMBER)
_APOSTROPHE = literal("'")


def is_formula(text: str) -> str:
    """SQL that is true where a text, which is SQL too, would be run."""
    return f"(regexp_full_match({text}, {_FORMULA}) AND NOT regexp_full_match({text}, {_NUMBER}))"


def escaped(text: str) -> str:
    """SQL for a text as it is written."""
    return f"CASE WHEN {_is_marked(text)} THEN {_APOSTROPHE} || {text} ELSE {text} END"


def unescaped(text: str) -> str:
    """SQL for a text as it was before it was written."""
    marked = f"starts_with({text}, {_APOSTROPHE}) AND {_is_marked(text)}"
    return f"CASE WHEN {marked} THEN substr({text}, 2) ELSE {text} END"


def _is_marked(text: str) -> str:
    """SQL that is true for a formula with any number of apostrophes before it."""
    return is_formula(f"ltrim({text}, {_APOSTROPHE})")

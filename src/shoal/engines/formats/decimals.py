"""Numbers as people write them in other countries, and the one way in which we read them.

With `decimal: ","` a text such as `1.234,56` is the number 1234.56. It is read as that text: marks
between thousands are taken out and the decimal mark becomes a point; the digits stay. So two ways
to write a number are one value when they are counted, and that value is what is released. Any other
text stays as it is.

A text is such a number only if it can be nothing else of everyday use: marks between thousands
stand before every group of three digits, the first of which does not begin with 0. So dates such as
31.12.2026, telephone numbers and version numbers are not changed. Blanks between thousands need
decimals, since `030 123 456` is no number.
"""

from __future__ import annotations

import re

_OTHER = {",": ".", ".": ","}
_TYPED_MARKS = "'’\u00a0\u202f"
"""Marks between thousands whatever the decimal mark is: apostrophes, and blanks of typesetting."""
_BLANKS = " \t"
_EXPONENT = r"(?:[eE][+-]?[0-9]{1,4})?"


def pattern(decimal: str) -> str:
    """A regular expression, for Python and DuckDB, of the whole text of a number."""
    mark = re.escape(decimal)
    fraction = rf"{mark}[0-9]+"
    marks = (re.escape(_OTHER[decimal]), *_TYPED_MARKS)
    grouped = [rf"[1-9][0-9]{{0,2}}(?:{each}[0-9]{{3}})+(?:{fraction})?" for each in marks]
    blank = rf"[1-9][0-9]{{0,2}}(?: [0-9]{{3}})+{fraction}"
    plain = rf"[0-9]+(?:{mark}[0-9]*)?|{fraction}"
    return rf"[{_BLANKS}]*[+-]?(?:{'|'.join([*grouped, blank, plain])}){_EXPONENT}[{_BLANKS}]*"


def removed(decimal: str) -> str:
    """The characters that are taken out of a number."""
    return _OTHER[decimal] + _TYPED_MARKS + _BLANKS


class Decimals:
    """Texts of numbers with this decimal mark, as they are read."""

    def __init__(self, decimal: str) -> None:
        self._number = re.compile(pattern(decimal))
        self._spelling = str.maketrans({decimal: ".", **dict.fromkeys(removed(decimal))})

    def is_number(self, text: str) -> bool:
        """Whether a text is a number written with this mark."""
        return self._number.fullmatch(text) is not None

    def canonical(self, text: str) -> str:
        """A number with a point and no other marks; any other text as it is."""
        return text.translate(self._spelling) if self.is_number(text) else text

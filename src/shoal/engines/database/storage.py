"""SQLite's storage classes: a raw text that tells all stored values apart, and its way back.

SQLite stores a value of any class in nearly any column. The raw text of the class that is usual in
a column is plain; every other one begins with MARK and a letter for its class. So `1` and `'1'`, a
text and a BLOB of the same bytes, 0.3 and 0.1 + 0.2 have different raw texts. What they have in
common, if anything, is decided by their spelling.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy as sa

from shoal.engines.database.fields import BOOLEAN, DECIMAL, INTEGER, REAL, TIME, TIMESTAMP, Field

if TYPE_CHECKING:
    Expression = sa.ColumnElement[Any]

Value: TypeAlias = int | float | str | bytes
"""A value as SQLite stores it and as its driver gives it."""

MARK = "\x01"
"""What begins a raw text of a class that is not the usual one of its column."""

_USUAL: Mapping[str, str] = MappingProxyType(
    {INTEGER: "integer", BOOLEAN: "integer", REAL: "real", DECIMAL: "real"}
)
"""The usual class of a kind of column; text for all others."""

_OF_LETTER: Mapping[str, Callable[[str], Value]] = MappingProxyType(
    {"i": int, "r": float, "t": str, "b": bytes.fromhex}
)


def raw_text(value: Expression, kind: str) -> Expression:
    """The raw text of a stored value, null for null.

    `shoal_real` is ours and gives the shortest decimal that is this double: what SQLite makes of
    one has too few digits, or wrong ones where it is very large.
    """
    usual = _USUAL.get(kind, "text")
    texts: dict[str, Expression] = {
        "integer": sa.cast(value, sa.Text),
        "real": sa.func.shoal_real(value),
        "text": value,
        "blob": sa.func.hex(value),
    }
    for name, text in texts.items():
        marked = sa.literal(MARK + name[0], sa.Text).concat(text)
        if name != usual:
            texts[name] = marked
        elif name == "text":
            texts[name] = sa.case((sa.func.substr(value, 1, 1) == MARK, marked), else_=text)
    return sa.collate(sa.case(texts, value=sa.func.typeof(value)), "BINARY")


def value_of(raw: str, kind: str) -> Value:
    """The stored value that has this raw text."""
    if raw.startswith(MARK):
        return _OF_LETTER[raw[1]](raw[2:])
    return _OF_LETTER[_USUAL.get(kind, "text")[0]](raw)


def as_raw(text: str, kind: str) -> str:
    """The raw text of a text in a column of this kind."""
    plain = kind not in _USUAL and not text.startswith(MARK)
    return text if plain else f"{MARK}t{text}"


def text_of(value: Value, field: Field) -> str:
    """The text of a stored value, by the kind of its column."""
    if isinstance(value, bytes):
        return rf"\x{value.hex()}"
    if isinstance(value, str):
        return trimmed(value) if field.kind in (TIMESTAMP, TIME) else value
    if field.kind == BOOLEAN and value in (0, 1) and isinstance(value, int):
        return "true" if value else "false"
    if field.kind == DECIMAL:
        return _fixed(repr(value), field.scale or 0)
    return repr(value)


def trimmed(moment: str) -> str:
    """A time without the zeros at the end of its fraction."""
    return re.sub(r"(:\d\d)(?:\.0*|(\.\d*[1-9])0*)$", r"\1\2", moment)


def _fixed(text: str, scale: int) -> str:
    """A decimal with the digits its column declares, where it has no more than these."""
    try:
        number = decimal.Decimal(text)
        fixed = number.quantize(decimal.Decimal(1).scaleb(-scale))
    except decimal.InvalidOperation:
        return text
    return f"{fixed:f}" if fixed == number else text


def representatives(raws: Collection[str], field: Field) -> dict[str, str]:
    """The raw texts that share their text with another, each with the one that stands for both.

    That is one of the usual class if there is one, spelled as its text if there is one. So every
    record whose value has a text can be given one and the same stored value.
    """
    chosen: dict[str, str] = {}

    def rank(raw: str) -> tuple[bool, bool, str]:
        return raw.startswith(MARK), raw != text_of(value_of(raw, field.kind), field), raw

    for raw in sorted(raws, key=rank):
        chosen.setdefault(text_of(value_of(raw, field.kind), field), raw)
    stands_for = {raw: chosen[text_of(value_of(raw, field.kind), field)] for raw in raws}
    return {raw: other for raw, other in stands_for.items() if raw != other}

"""How the verifier reads a release in a database: by what is stored, not by what was counted.

Two values that are stored differently have different texts here, storage class included; an empty
text and NaN are values, not missing ones. So no class has more records than somebody sees who
groups the table with the database's own client. Nothing of the spelling that a release is counted
and recoded by is used: a mistake there cannot hide here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shoal.engines.database.fields import (
    BLANK_PADDED,
    BOOLEAN,
    DECIMAL,
    OTHER,
    REAL,
    SINGLE,
    TEXT,
    TIME,
    TIMESTAMP,
    Field,
)

if TYPE_CHECKING:
    Expression = sa.ColumnElement[Any]

SYSTEMS = ("postgresql", "mysql", "mariadb", "sqlite")
"""Systems that have such a reading."""


def stored_raw(system: str, value: Expression, field: Field) -> Expression:
    """A text that tells all stored values of a column apart, byte by byte; null for null alone."""
    if system == "sqlite":
        return _sqlite(value)
    if system in ("mysql", "mariadb"):
        return _mysql(value, field)
    if field.declared == BLANK_PADDED:
        shown = sa.func.format("%s", value)  # a cast would drop the spaces at the end
        return sa.collate(sa.case((value.is_(None), sa.null()), else_=shown), "C")
    return sa.collate(sa.cast(value, sa.Text), "C")


def _sqlite(value: Expression) -> Expression:
    """The storage class and the value; a double with more digits than it takes."""
    texts: dict[str, Expression] = {
        "integer": sa.cast(value, sa.Text),
        "real": sa.func.printf("%!.20e", value),
        "text": value,
        "blob": sa.func.hex(value),
    }
    told = {name: sa.literal(f"{name}:", sa.Text).concat(text) for name, text in texts.items()}
    return sa.collate(sa.case(told, value=sa.func.typeof(value)), "BINARY")


def _mysql(value: Expression, field: Field) -> Expression:
    """The bytes: those of the character set for a text, hexadecimal ones for what has none."""
    if field.kind == TEXT:
        text: Expression = sa.func.convert(value.op("USING")(sa.literal_column("utf8mb4")))
    elif field.kind == OTHER:
        text = sa.func.hex(value)
    elif field.kind == SINGLE:
        text = sa.cast(sa.cast(value, sa.Double), sa.CHAR)
    else:
        text = sa.cast(value + 0 if field.padded else value, sa.CHAR)
    return sa.cast(text, sa.BINARY)


def stored_labels(system: str, field: Field, raws: Collection[str]) -> dict[str, str]:
    """The label of each of the raw texts of a column, another one for each.

    It is the text of the value, so that a release can be held against the values of its source.
    Where two stored values would have one label, the second is told with its raw text: that is no
    value of the source, so the release does not pass.
    """
    told: dict[str, str] = {}
    taken: set[str] = set()
    for raw in sorted(raws):
        label = _label(system, field, raw)
        while label in taken:
            label += f" stored as {raw}"
        taken.add(label)
        told[raw] = label
    return told


def _label(system: str, field: Field, raw: str) -> str:
    """The text of a stored value."""
    if system == "sqlite":
        name, _, text = raw.partition(":")
        return _of_class(name, text, field)
    if system == "postgresql":
        if field.kind in (REAL, SINGLE):
            return repr(float(raw))
        return raw.rstrip(" ") if field.declared == BLANK_PADDED else raw
    if field.kind == OTHER:
        return f"\\x{raw.lower()}"
    return _OF_KIND.get(field.kind, str)(raw)


def _of_class(name: str, text: str, field: Field) -> str:
    """The text of a value of one of SQLite's storage classes."""
    if name == "blob":
        return f"\\x{text.lower()}"
    if name == "text":
        return _moment(text) if field.kind in (TIMESTAMP, TIME) else text
    if name == "integer" and field.kind == BOOLEAN:
        return _truth(text)
    number = text if name == "integer" else repr(float(text))
    if field.kind == DECIMAL and number.strip("+-.0123456789e") == "":
        digits = f"{Decimal(number):.{field.scale or 0}f}"
        return digits if Decimal(digits) == Decimal(number) else number
    return number


def _truth(text: str) -> str:
    return {"0": "false", "1": "true"}.get(text, text)


def _moment(text: str) -> str:
    """A time without the zeros that end its fraction."""
    whole, point, fraction = text.rpartition(".")
    if not point or not re.search(r":\d\d$", whole) or not re.fullmatch(r"\d*", fraction):
        return text
    digits = fraction.rstrip("0")
    return f"{whole}.{digits}" if digits else whole


def _single(text: str) -> str:
    """The shortest decimal that is this single, which is told with the digits of a double."""
    number = float(text)
    as_single = struct.pack("f", number)
    rounded = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return repr(next((r for r in rounded if struct.pack("f", r) == as_single), number))


_OF_KIND: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        BOOLEAN: _truth,
        TIMESTAMP: _moment,
        TIME: _moment,
        REAL: lambda text: repr(float(text)),
        SINGLE: _single,
    }
)
"""How MySQL's text of a value is read, where it is not the text itself."""

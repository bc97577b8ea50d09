"""Values of SQLite: kinds, texts as they are counted, and texts as they are stored.

SQLite stores a value of any storage class (integer, real, text, blob) in nearly any column. The raw
text of the class that is usual in a column is plain; every other one begins with a mark and a
letter for its class. So `1` and `'1'`, a text and a BLOB of the same bytes, 0.3 and 0.1 + 0.2 have
different raw texts. What they have in common, if anything, is decided by their spelling.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy as sa

from shoal.engines.database.dialects.stored import StoredTexts, moment, truth
from shoal.engines.database.dialects.values import (
    STOP,
    Expression,
    Spelling,
    Values,
    without_trailing_zeros,
)
from shoal.engines.database.fields import Field, Kind

if TYPE_CHECKING:
    from shoal.engines.database.connection import Connection

StoredValue: TypeAlias = int | float | str | bytes
"""A value as SQLite stores it and as its driver gives it."""

_KINDS = (
    ("BOOL", Kind.BOOLEAN),
    ("INT", Kind.INTEGER),
    ("CHAR|CLOB|TEXT", Kind.TEXT),
    ("REAL|FLOA|DOUB", Kind.REAL),
    ("^(DATETIME|TIMESTAMP)", Kind.TIMESTAMP),
    ("^DATE$", Kind.DATE),
    ("^TIME$", Kind.TIME),
)
"""The kind for the name of a declared type, by SQLite's rules of affinity; the first one counts."""
_MARK = "\x01"
"""What begins a raw text of a class that is not the usual one of its column."""
_USUAL: Mapping[str, str] = MappingProxyType(
    {Kind.INTEGER: "integer", Kind.BOOLEAN: "integer", Kind.REAL: "real", Kind.DECIMAL: "real"}
)
"""The usual storage class of a kind of column; text for all others."""
_FROM_TEXT: Mapping[str, Callable[[str], StoredValue]] = MappingProxyType(
    {"i": int, "r": float, "t": str, "b": bytes.fromhex}
)
"""How a value is read from its raw text, by the first letter of its storage class."""
_LARGEST_EXACT = 15
"""So many digits of a decimal a double keeps."""


class StoredInSQLite(StoredTexts):
    """The storage class and the value."""

    def raw(self, value: Expression, field: Field) -> Expression:
        """The class and the text; a double with more digits than it takes."""
        texts: dict[str, Expression] = {
            "integer": sa.cast(value, sa.Text),
            "real": sa.func.printf("%!.20e", value),
            "text": value,
            "blob": sa.func.hex(value),
        }
        named = {name: sa.literal(f"{name}:", sa.Text).concat(text) for name, text in texts.items()}
        return sa.collate(sa.case(named, value=sa.func.typeof(value)), "BINARY")

    def label(self, field: Field, raw: str) -> str:
        """The text of the value, by its storage class and the kind of its column."""
        storage, _, text = raw.partition(":")
        if storage == "blob":
            return f"\\x{text.lower()}"
        if storage == "text":
            return moment(text) if field.kind in (Kind.TIMESTAMP, Kind.TIME) else text
        if storage == "integer" and field.kind == Kind.BOOLEAN:
            return truth(text)
        number = text if storage == "integer" else repr(float(text))
        if field.kind == Kind.DECIMAL and number.strip("+-.0123456789e") == "":
            digits = f"{decimal.Decimal(number):.{field.scale or 0}f}"
            return digits if decimal.Decimal(digits) == decimal.Decimal(number) else number
        return number


class SQLiteValues(Values):
    """Values of SQLite; all records whose values have one text are released with one of them."""

    stored = StoredInSQLite()
    stores_variants = True
    holds_negative_zero = False
    holds_singles = False
    longest_decimal = (15, 15)
    """Decimals are doubles, which hold 15 digits."""

    def described(self, cursor: Any) -> tuple[Field, ...]:
        """The names alone; the driver knows no types."""
        return tuple(Field(column[0], Kind.OTHER) for column in cursor.description or ())

    def declared(
        self, connection: Connection, source: sa.FromClause, fields: tuple[Field, ...]
    ) -> tuple[Field, ...]:
        """SQLite has declared types of tables and views alone, so the source becomes a view."""
        view = "shoal_described"
        every = connection.sql(sa.select(sa.literal_column("*")).select_from(source))
        connection.run(f"CREATE TEMP VIEW {view} AS {every}")
        described = connection.rows(f"PRAGMA temp.table_info({view})")
        connection.run(f"DROP VIEW temp.{view}")
        return tuple(
            _field(field.name, str(row[2])) for field, row in zip(fields, described, strict=True)
        )

    def fits(self, value: Expression, field: Field) -> Expression:
        """By the storage class, and by the form of dates and times."""
        return sa.or_(value.is_(None), sa.func.coalesce(_fits(value, field), sa.false()))

    def has_nul(self, value: Expression, field: Field) -> Expression:
        """A NUL byte in a text; in a BLOB it is no character."""
        position = sa.func.instr(sa.cast(value, sa.BLOB), sa.literal_column("X'00'"))
        return (sa.func.typeof(value) == "text") & (position > 0)

    def raw(self, value: Expression, field: Field) -> Expression:
        """The raw text by the storage class.

        `shoal_real` is ours and gives the shortest decimal that is this double: what SQLite makes
        of one has too few digits, or wrong ones where it is very large.
        """
        usual = _USUAL.get(field.kind, "text")
        texts: dict[str, Expression] = {
            "integer": sa.cast(value, sa.Text),
            "real": sa.func.shoal_real(value),
            "text": value,
            "blob": sa.func.hex(value),
        }
        for storage, text in texts.items():
            marked = sa.literal(_MARK + storage[0], sa.Text).concat(text)
            if storage != usual:
                texts[storage] = marked
            elif storage == "text":
                texts[storage] = sa.case((sa.func.substr(value, 1, 1) == _MARK, marked), else_=text)
        return sa.collate(sa.case(texts, value=sa.func.typeof(value)), "BINARY")

    def literal(self, text: str) -> Expression:
        """A text as it is."""
        return sa.literal(text, sa.String)

    def raw_of_label(self, field: Field, label: str) -> Expression:
        """The raw text of a text in a column of this kind."""
        is_plain = field.kind not in _USUAL and not label.startswith(_MARK)
        return self.literal(label if is_plain else f"{_MARK}t{label}")

    def spelling(self, field: Field) -> Spelling:
        """The text of the value that has the raw text."""
        return lambda raw: text_of(value_of(raw, field.kind), field)

    def without_missing(self, column: Expression, field: Field) -> Expression:
        """Empty text can be in any column; NaN is null already."""
        return sa.case((sa.collate(column, "BINARY") == "", sa.null()), else_=column)

    def may_be_empty(self, field: Field) -> bool:
        """Any column can have empty text."""
        return True

    def stop(self, text: str) -> Expression:
        """A function of ours that fails."""
        return sa.func.shoal_stop()

    def representatives(self, raws: Collection[str], field: Field) -> dict[str, str]:
        """The one of the usual class if there is one, spelled as its text if there is one."""
        texts = {raw: text_of(value_of(raw, field.kind), field) for raw in raws}
        chosen: dict[str, str] = {}
        for raw in sorted(raws, key=lambda raw: (raw.startswith(_MARK), raw != texts[raw], raw)):
            chosen.setdefault(texts[raw], raw)
        return {raw: chosen[text] for raw, text in texts.items() if raw != chosen[text]}

    def restored(self, raw: Expression, field: Field) -> Expression:
        """The value in the database itself, by a function of ours."""
        return sa.func.shoal_value(raw, field.kind.value)

    def streamed_text(self, value: Expression, field: Field) -> Expression:
        """The text, spelled in SQLite itself by a function of ours."""
        spelled: Expression = sa.func.shoal_text(value, field.kind.value, field.scale or 0)
        if field.kind in (Kind.TEXT, Kind.OTHER):
            spelled = sa.case((sa.func.typeof(value) == "text", value), else_=spelled)
        return sa.collate(spelled, "BINARY")

    def streamed_spelling(self, field: Field) -> None:
        """They are spelled already."""

    def order(self, value: Expression, field: Field, *, streamed: bool) -> Expression:
        """Dates and times are texts here."""
        if field.kind in (Kind.DATE, Kind.TIME, Kind.TIMESTAMP):
            return self.streamed_text(value, field) if streamed else self.raw(value, field)
        return super().order(value, field, streamed=streamed)


def add_functions(connection: Any, _: object) -> None:
    """Add functions for what SQLite has no expression for: to fail, and to spell values."""

    def stop() -> None:
        raise ValueError(STOP)

    def text(value: StoredValue | None, kind: str, scale: int) -> str | None:
        return None if value is None else text_of(value, Field("", Kind(kind), scale=scale))

    connection.create_function("shoal_stop", 0, stop)
    connection.create_function("shoal_real", 1, repr, deterministic=True)
    connection.create_function("shoal_text", 3, text, deterministic=True)
    connection.create_function("shoal_value", 2, value_of, deterministic=True)


def value_of(raw: str, kind: str) -> StoredValue:
    """The stored value that has this raw text in a column of a kind."""
    if raw.startswith(_MARK):
        return _FROM_TEXT[raw[1]](raw[2:])
    return _FROM_TEXT[_USUAL.get(kind, "text")[0]](raw)


def text_of(value: StoredValue, field: Field) -> str:
    """The text of a stored value, by the kind of its column."""
    if isinstance(value, bytes):
        return rf"\x{value.hex()}"
    if isinstance(value, str):
        return without_trailing_zeros(value) if field.kind in (Kind.TIMESTAMP, Kind.TIME) else value
    if field.kind == Kind.BOOLEAN and value in (0, 1) and isinstance(value, int):
        return "true" if value else "false"
    if field.kind == Kind.DECIMAL:
        return _fixed(repr(value), field.scale or 0)
    return repr(value)


def _fixed(text: str, scale: int) -> str:
    """A decimal with the digits its column declares, where it has no more than these."""
    try:
        number = decimal.Decimal(text)
        fixed = number.quantize(decimal.Decimal(1).scaleb(-scale))
    except decimal.InvalidOperation:
        return text
    return f"{fixed:f}" if fixed == number else text


def _field(name: str, declared: str) -> Field:
    """A column by its declared type."""
    word = declared.upper()
    numbers = [int(number) for number in re.findall(r"\d+", word.partition("(")[2])]
    if re.match(r"(DEC|NUMERIC)", word) and numbers:
        return Field(name, Kind.DECIMAL, numbers[0], (*numbers, 0)[1], declared=declared)
    kind = next((kind for pattern, kind in _KINDS if re.search(pattern, word)), Kind.OTHER)
    return Field(name, kind, declared=declared)


def _fits(value: Expression, field: Field) -> Expression:
    stored = sa.func.coalesce(sa.func.typeof(value), "null")
    if field.kind == Kind.INTEGER:
        return stored == "integer"
    if field.kind == Kind.BOOLEAN:
        return (stored == "integer") & value.in_([0, 1])
    if field.kind == Kind.REAL:
        return stored == "real"
    if field.kind == Kind.DECIMAL:
        return _fits_decimal(value, field)
    if field.kind == Kind.DATE:
        return (stored == "text") & (sa.func.date(value) == value) & (value > "0000-12-31")
    timestamp = sa.func.strftime("%Y-%m-%d %H:%M:%S", value)
    digits = sa.func.rtrim(sa.func.substr(value, 20), "0123456789")
    is_short = sa.func.length(value).between(19, 26) & digits.in_(["", "."])
    is_exact = (timestamp == sa.func.substr(value, 1, 19)) & (value > "0001")
    return (stored == "text") & is_short & is_exact


def _fits_decimal(value: Expression, field: Field) -> Expression:
    """Whole numbers and doubles that are decimals of so many digits."""
    scale, precision = field.scale or 0, field.precision or 0
    if precision > _LARGEST_EXACT:
        return sa.false()
    rounded: Expression = sa.cast(sa.func.printf(f"%.{scale}f", value), sa.REAL)
    return sa.and_(
        sa.func.typeof(value).in_(["integer", "real"]),
        sa.func.abs(value) < 10 ** (precision - scale),
        rounded == value,
    )

"""How values are read from columns, and turned from one kind into another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.engines.duckdb.session import literal
from shoal.mart.expressions.functions import date_pattern
from shoal.mart.expressions.tokens import EXACT
from shoal.mart.expressions.values import Kind, Program, Value, combined, missing

if TYPE_CHECKING:
    from shoal.errors import UserError
    from shoal.mart.expressions.tree import Column, Node

_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(\d+,\s*0\)")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*\d+\)|FLOAT")
_TIMESTAMP = re.compile(r"TIMESTAMP(_S|_MS|_NS)?")
_TEXT = re.compile(r"VARCHAR|UUID|ENUM\(.*\)", re.DOTALL)

_NUMBER_TEXT = "[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?"
"""How a number is written in a text: no spaces, no separators of thousands, a point."""

_ISO = "yyyy-mm-dd"

_REMEDIES = {
    Kind.WHOLE: "compare it, as in `x = 1`; write dates as texts, as in `date('2005-08-15')`",
    Kind.NUMBER: "compare it, as in `x > 0.5`; write dates as texts, as in `date('2005-08-15')`",
    Kind.TEXT: "compare it, as in `x = 'a'`",
    Kind.DATE: "take a part of the date, as in `year(x)`, or the days between two: `days(x, y)`",
    Kind.TRUTH: "turn it into a value, as in `case when x then 1 else 0 end`",
    Kind.MISSING: "write a value",
}
"""What helps where a value of a kind stands in the wrong place."""


@dataclass(frozen=True)
class Input:
    """A column that an expression reads: its SQL over the relation, and its DuckDB type.

    Missing values are NULL, or an empty text or NaN, as everywhere in Shoal.
    """

    sql: str
    type: str


def read_column(program: Program, node: Column, given: Input) -> Value:
    """The values of a column, in the kind that belongs to its type."""
    raw = program.named(Value(Kind.MISSING, given.sql))
    x, kind = raw.sql, given.type.upper()
    if _WHOLE.fullmatch(kind):
        beyond = program.failing(f"{x} > {EXACT} OR {x} < -{EXACT}", "overflow", node, x)
        return combined(Kind.WHOLE, f"CAST({x} AS DOUBLE)", [raw], beyond)
    if _DECIMAL.fullmatch(kind):
        return _finite_double(program, node, f"CAST(CAST({x} AS VARCHAR) AS DOUBLE)", raw)
    if kind == "DOUBLE":
        return _finite_double(program, node, x, raw)
    if kind == "DATE" or _TIMESTAMP.fullmatch(kind):
        return in_calendar(program, node, combined(Kind.DATE, f"TRY_CAST({x} AS DATE)", [raw]))
    if kind == "BOOLEAN":
        return combined(Kind.TRUTH, x, [raw])
    if _TEXT.fullmatch(given.type):
        return combined(Kind.TEXT, f"nullif(CAST({x} AS VARCHAR), '')", [raw])
    if kind.strip('"') == "NULL":
        return missing(Kind.MISSING)
    raise program.mistake(
        node,
        f"the column `{node.name}` has the type {given.type}, which expressions do not read",
        "read the source by a query that casts it to a number, text or date",
    )


def to_number(program: Program, node: Node, value: Value) -> Value:
    """A value as a number; a text must be written as one."""
    if value.kind.numeric:
        return value
    if value.kind is Kind.MISSING:
        return missing(Kind.NUMBER, [value])
    if value.kind is not Kind.TEXT:
        raise needs(program, node, value, "a number")
    text = program.named(value)
    matches = f"regexp_full_match({text.sql}, {literal(_NUMBER_TEXT)})"
    sql = f"CASE WHEN {matches} THEN TRY_CAST({text.sql} AS DOUBLE) END"
    number = program.named(combined(Kind.NUMBER, sql, [text]))
    wrong = f"{text.sql} IS NOT NULL AND {number.sql} IS NULL"
    not_a_number = program.failing(wrong, "not-a-number", node, text.sql)
    infinite = program.failing(f"isinf({number.sql})", "overflow", node, text.sql)
    return combined(Kind.NUMBER, number.sql, [number], not_a_number, infinite)


def to_whole(program: Program, node: Node, value: Value, what: str) -> Value:
    """A number that is whole by its kind, such as days that are added to a date."""
    if value.kind is Kind.MISSING:
        return missing(Kind.WHOLE, [value])
    if value.kind is Kind.WHOLE:
        return value
    what = f"{what} must be a whole number, not {_article(value.kind)}"
    raise program.mistake(node, what, "use `round(...)`, `floor(...)` or `ceil(...)`")


def to_date(program: Program, node: Node, value: Value, layout: str = _ISO) -> Value:
    """A value as a date; a text must have the layout, and be a day of the calendar."""
    if value.kind is Kind.DATE:
        return value
    if value.kind is Kind.MISSING:
        return missing(Kind.DATE, [value])
    pattern = date_pattern(layout)
    if value.kind is not Kind.TEXT or pattern is None:
        raise needs(program, node, value, "a date")
    text = program.named(value)
    matches = f"regexp_full_match({text.sql}, {literal(pattern[0])})"
    iso = f"regexp_replace({text.sql}, {literal(pattern[0])}, {literal(pattern[1])})"
    sql = f"CASE WHEN {matches} THEN TRY_CAST({iso} AS DATE) END"
    date = program.named(combined(Kind.DATE, sql, [text]))
    wrong = f"{text.sql} IS NOT NULL AND ({date.sql} IS NULL OR {date.sql} < DATE '0001-01-01')"
    failure = program.failing(wrong, "not-a-date", node, text.sql)
    return combined(Kind.DATE, date.sql, [date], failure)


def to_text(program: Program, value: Value) -> Value:
    """A value as a text: whole numbers without a point, dates as yyyy-mm-dd."""
    if value.kind is Kind.TEXT:
        return value
    if value.kind is Kind.MISSING:
        return missing(Kind.TEXT, [value])
    if value.kind in (Kind.DATE, Kind.TRUTH):
        return combined(Kind.TEXT, f"CAST({value.sql} AS VARCHAR)", [value])
    value = program.named(value)
    whole = f"CAST(TRY_CAST({value.sql} AS BIGINT) AS VARCHAR)"
    is_whole = f"{value.sql} = floor({value.sql}) AND abs({value.sql}) <= {EXACT}"
    sql = f"CASE WHEN {is_whole} THEN {whole} ELSE CAST({value.sql} AS VARCHAR) END"
    return combined(Kind.TEXT, sql, [value])


def to_truth(program: Program, node: Node, value: Value) -> Value:
    """A condition."""
    if value.kind is Kind.MISSING:
        return missing(Kind.TRUTH, [value])
    if value.kind is not Kind.TRUTH:
        raise needs(program, node, value, "a condition, true or false,")
    return value


def in_calendar(program: Program, node: Node, value: Value) -> Value:
    """A date of the years 1 to 9999; others fail, and are NULL: DuckDB cannot add days to all."""
    value = program.named(value)
    within = f"{value.sql} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
    beyond = program.failing(f"NOT ({within})", "overflow", node, value.sql)
    sql = f"CASE WHEN {within} THEN {value.sql} END"
    return combined(Kind.DATE, sql, [value], beyond)


def bounded(program: Program, node: Node, value: Value) -> Value:
    """A number that is finite and, where it is whole, exact; others fail."""
    value = program.named(value)
    x = value.sql
    beyond = f"abs({x}) > {EXACT}" if value.kind is Kind.WHOLE else f"isinf({x}) OR isnan({x})"
    failure = program.failing(beyond, "overflow", node, x)
    return combined(value.kind, x, [value], failure)


def needs(program: Program, node: Node, value: Value, what: str) -> UserError:
    """The mistake of a value of the wrong kind."""
    found = f"{what} is needed here, not {_article(value.kind)}"
    return program.mistake(node, found, _REMEDIES[value.kind])


def _article(kind: Kind) -> str:
    return kind.value if kind in (Kind.TRUTH, Kind.MISSING) else f"a {kind.value}"


def _finite_double(program: Program, node: Node, sql: str, raw: Value) -> Value:
    """A double of a column: NaN is missing, an infinite number fails."""
    double = program.named(combined(Kind.NUMBER, sql, [raw]))
    infinite = program.failing(f"isinf({double.sql})", "not-a-number", node, double.sql)
    present = f"CASE WHEN NOT isnan({double.sql}) THEN {double.sql} END"
    return combined(Kind.NUMBER, present, [double], infinite)

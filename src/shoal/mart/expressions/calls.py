"""The functions as SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from shoal.engines.duckdb.session import literal
from shoal.errors import did_you_mean
from shoal.mart.expressions.operators import alike, days_between, first_present, ordered
from shoal.mart.expressions.reading import bounded, to_date, to_number, to_text
from shoal.mart.expressions.tree import Call, ListOf, MapName, Number, Text
from shoal.mart.expressions.values import Kind, Program, Value, combined, first, missing

Maps: TypeAlias = Mapping[str, Mapping[str, str]]
Compile: TypeAlias = Callable[[Program, Call, Sequence[Value]], Value]

_DATE_PARTS = {
    "year": "year({})",
    "quarter": "quarter({})",
    "month": "month({})",
    "day": "day({})",
    "weekday": "isodow({})",
    "decade": "year({0}) - year({0}) % 10",
}

_TEXT_FUNCTIONS = {"lower": "lower({})", "upper": "upper({})", "trim": "trim({}, ' ')"}

_EXTREMES = {"least": "least", "greatest": "greatest"}

_DECIMAL = "DECIMAL(38,23)"
"""Holds every double below 10^15 with more digits than tell it from its neighbours.

For a half at the 6th place the next double is 5.5e-24 away, which 23 digits still show.
"""


def call(program: Program, node: Call, values: Sequence[Value], maps: Maps) -> Value:
    """A function of these values; arguments that the text states are read from the node."""
    name = node.function
    if name == "lookup":
        return _lookup(program, node, values, maps)
    if name in _DATE_PARTS:
        date = program.named(to_date(program, node.arguments[0], values[0]))
        part = _DATE_PARTS[name].format(date.sql)
        return combined(Kind.WHOLE, f"CAST({part} AS DOUBLE)", [date])
    if name in _TEXT_FUNCTIONS:
        text = to_text(program, values[0])
        return combined(Kind.TEXT, _TEXT_FUNCTIONS[name].format(text.sql), [text])
    if name in _EXTREMES:
        return _extreme(program, node, values)
    return _CALLS[name](program, node, values)


def _extreme(program: Program, node: Call, values: Sequence[Value]) -> Value:
    """`least` or `greatest`; missing where one value is, which SQL would leave out."""
    values = alike(program, node.arguments, ordered(program, node.arguments, values))
    values = [program.named(value) for value in values]
    present = " AND ".join(f"{value.sql} IS NOT NULL" for value in values)
    chosen = f"{_EXTREMES[node.function]}({', '.join(value.sql for value in values)})"
    return combined(values[0].kind, f"CASE WHEN {present} THEN {chosen} END", values)


def _abs(program: Program, node: Call, values: Sequence[Value]) -> Value:
    number = to_number(program, node.arguments[0], values[0])
    return combined(number.kind, f"abs({number.sql})", [number])


def _floor(program: Program, node: Call, values: Sequence[Value]) -> Value:
    """`floor` or `ceil`."""
    number = to_number(program, node.arguments[0], values[0])
    return bounded(program, node, combined(Kind.WHOLE, f"{node.function}({number.sql})", [number]))


def _round(program: Program, node: Call, values: Sequence[Value]) -> Value:
    """Half away from zero, of the number as it is written, not of the double that is near it.

    The shortest text of the double becomes a decimal, which is rounded. From 10^15 on a double has
    at most one digit after the point, and the rounding of the double itself is exact.
    """
    number = program.named(to_number(program, node.arguments[0], values[0]))
    digits = node.arguments[1] if len(node.arguments) > 1 else Number(0)
    places = int(digits.value) if isinstance(digits, Number) else 0
    if number.kind is Kind.WHOLE:
        return number
    decimal = f"TRY_CAST(CAST({number.sql} AS VARCHAR) AS {_DECIMAL})"
    rounded = f"TRY_CAST(CAST(round({decimal}, {places}) AS VARCHAR) AS DOUBLE)"
    large = number.sql if places else f"round({number.sql})"
    kind = Kind.NUMBER if places else Kind.WHOLE
    return bounded(program, node, combined(kind, f"coalesce({rounded}, {large})", [number]))


def _number(program: Program, node: Call, values: Sequence[Value]) -> Value:
    return to_number(program, node.arguments[0], values[0])


def _text(program: Program, node: Call, values: Sequence[Value]) -> Value:  # noqa: ARG001
    return to_text(program, values[0])


def _date(program: Program, node: Call, values: Sequence[Value]) -> Value:
    layout = [argument.value for argument in node.arguments[1:] if isinstance(argument, Text)]
    return to_date(program, node.arguments[0], values[0], *layout)


def _days(program: Program, node: Call, values: Sequence[Value]) -> Value:
    return days_between(program, node.arguments, values)


def _coalesce(program: Program, node: Call, values: Sequence[Value]) -> Value:
    return first_present(program, node.arguments, values)


def _part(program: Program, node: Call, values: Sequence[Value]) -> Value:
    """`left` or `right`: so many characters."""
    text, count = to_text(program, values[0]), node.arguments[1]
    taken = int(count.value) if isinstance(count, Number) else 0
    return combined(Kind.TEXT, f"{node.function}({text.sql}, {taken})", [text])


def _length(program: Program, node: Call, values: Sequence[Value]) -> Value:  # noqa: ARG001
    text = to_text(program, values[0])
    return combined(Kind.WHOLE, f"CAST(length({text.sql}) AS DOUBLE)", [text])


def _replace(program: Program, node: Call, values: Sequence[Value]) -> Value:
    text = to_text(program, values[0])
    old, new = (literal(each.value) for each in node.arguments[1:] if isinstance(each, Text))
    return combined(Kind.TEXT, f"replace({text.sql}, {old}, {new})", [text])


def _band(program: Program, node: Call, values: Sequence[Value]) -> Value:
    """The label of the band in which a number lies; a bound belongs to the band above it."""
    number = program.named(to_number(program, node.arguments[0], values[0]))
    bounds, labels = (list(each.items) for each in node.arguments[1:] if isinstance(each, ListOf))
    pairs = zip(bounds, labels, strict=False)
    below = " ".join(
        f"WHEN {number.sql} < {float(bound.value)!r}::DOUBLE THEN {literal(str(label.value))}"
        for bound, label in pairs
    )
    last = literal(str(labels[-1].value))
    sql = f"CASE WHEN {number.sql} IS NULL THEN NULL {below} ELSE {last} END"
    return combined(Kind.TEXT, sql, [number])


def _lookup(program: Program, node: Call, values: Sequence[Value], maps: Maps) -> Value:
    """The entry of a map; a value without one gets the default, or fails where there is none."""
    argument = node.arguments[1]
    name = argument.name if isinstance(argument, MapName) else ""
    if name not in maps:
        what = f"there is no map `{name}`"
        remedy = f"name it under `maps` of the catalog{did_you_mean(name, maps)}"
        raise program.mistake(argument, what, remedy)
    key = program.named(to_text(program, values[0]))
    entry = program.looked_up(key, maps[name])
    unknown = f"{key.sql} IS NOT NULL AND {entry.sql} IS NULL"
    if len(values) < 3:
        failure = program.failing(unknown, "not-in-map", node, key.sql)
        return combined(Kind.TEXT, entry.sql, [entry], failure)
    default = values[2]
    if default.kind is Kind.MISSING:
        default = missing(Kind.TEXT, [default])
    (default,) = alike(program, node.arguments[2:], [to_text(program, default)])
    sql = f"CASE WHEN {unknown} THEN {default.sql} ELSE {entry.sql} END"
    later = f"CASE WHEN {unknown} THEN {default.failure} END" if default.failure else None
    return Value(Kind.TEXT, sql, first([entry.failure, later]), max(entry.layer, default.layer))


_CALLS: Mapping[str, Compile] = {
    "abs": _abs,
    "band": _band,
    "ceil": _floor,
    "coalesce": _coalesce,
    "date": _date,
    "days": _days,
    "floor": _floor,
    "left": _part,
    "length": _length,
    "number": _number,
    "replace": _replace,
    "right": _part,
    "round": _round,
    "text": _text,
}

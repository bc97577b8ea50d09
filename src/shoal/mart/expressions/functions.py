"""The functions: how each is called, and which of its arguments must be stated in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from shoal.errors import did_you_mean
from shoal.mart.expressions.tokens import mistake
from shoal.mart.expressions.tree import Call, ListOf, MapName, Node, Number, Text

MOST_DIGITS = 6
"""Decimal places to which `round` is exact."""

LONGEST_PART = 10_000
"""Characters that `left` and `right` may take."""

_DATE_PARTS = {"yyyy": "[0-9]{4}", "mm": "[0-9]{2}", "dd": "[0-9]{2}", "m": "", "d": ""}
_ONE_OR_TWO = "[0-9]{1,2}"


@dataclass(frozen=True)
class Function:
    """A function: its arguments as the docs write them, the fewest and the most of them.

    `stated` names what each argument must be that the expression itself states: `digits`,
    `length`, `format`, `search`, `text`, `map`, `bounds` or `labels`.
    """

    usage: str
    fewest: int
    most: int
    stated: tuple[tuple[int, str], ...] = ()


MANY = 1_000

FUNCTIONS = {
    "abs": Function("abs(x)", 1, 1),
    "band": Function("band(x, [bounds], [labels])", 3, 3, ((1, "bounds"), (2, "labels"))),
    "ceil": Function("ceil(x)", 1, 1),
    "coalesce": Function("coalesce(x, y, ...)", 2, MANY),
    "date": Function("date(x) or date(x, 'dd.mm.yyyy')", 1, 2, ((1, "format"),)),
    "day": Function("day(x)", 1, 1),
    "days": Function("days(later, earlier)", 2, 2),
    "decade": Function("decade(x)", 1, 1),
    "floor": Function("floor(x)", 1, 1),
    "greatest": Function("greatest(x, y, ...)", 2, MANY),
    "least": Function("least(x, y, ...)", 2, MANY),
    "left": Function("left(x, 3)", 2, 2, ((1, "length"),)),
    "length": Function("length(x)", 1, 1),
    "lookup": Function("lookup(x, map) or lookup(x, map, default)", 2, 3, ((1, "map"),)),
    "lower": Function("lower(x)", 1, 1),
    "month": Function("month(x)", 1, 1),
    "number": Function("number(x)", 1, 1),
    "quarter": Function("quarter(x)", 1, 1),
    "replace": Function("replace(x, 'old', 'new')", 3, 3, ((1, "search"), (2, "text"))),
    "right": Function("right(x, 3)", 2, 2, ((1, "length"),)),
    "round": Function("round(x) or round(x, 1)", 1, 2, ((1, "digits"),)),
    "text": Function("text(x)", 1, 1),
    "trim": Function("trim(x)", 1, 1),
    "upper": Function("upper(x)", 1, 1),
    "weekday": Function("weekday(x)", 1, 1),
    "year": Function("year(x)", 1, 1),
}


def check_name(name: str, where: str, position: int) -> None:
    """The function exists."""
    if name not in FUNCTIONS:
        near = did_you_mean(name, FUNCTIONS)
        remedy = f"the functions are {', '.join(FUNCTIONS)}{near}"
        raise mistake(where, position, f"there is no function `{name}`", remedy)


def check_call(call: Call, where: str) -> None:
    """The number of the arguments is right, and so are those that the text itself states."""
    function = FUNCTIONS[call.function]
    if not function.fewest <= len(call.arguments) <= function.most:
        what = f"`{call.function}` with {len(call.arguments)} arguments"
        raise mistake(where, call.position, what, f"write {function.usage}")
    for index, demand in function.stated:
        if index < len(call.arguments):
            argument = call.arguments[index]
            problem = _problem(argument, demand)
            if problem:
                what = f"`{call.function}`: {problem}"
                raise mistake(where, argument.position, what, f"write {function.usage}")
    if call.function == "band":
        _, bounds, labels = call.arguments
        if isinstance(bounds, ListOf) and isinstance(labels, ListOf):
            _check_band(call, len(bounds.items), len(labels.items), where)


def date_pattern(layout: str) -> tuple[str, str] | None:
    """A layout such as `dd.mm.yyyy` as a regular expression and how its groups make an ISO date.

    None where it is no layout: year, month and day must each be there once. `d` and `m` take one or
    two digits, so something must stand between them and other digits.
    """
    pieces = re.findall(r"yyyy|mm|dd|m|d|[-./, ]", layout)
    parts = [piece for piece in pieces if piece in _DATE_PARTS]
    if "".join(pieces) != layout or sorted(piece[0] for piece in parts) != ["d", "m", "y"]:
        return None
    if any(
        (a in "dm" and b in _DATE_PARTS) or (b in "dm" and a in _DATE_PARTS)
        for a, b in pairwise(pieces)
    ):
        return None
    pattern = "".join(
        f"({_DATE_PARTS[piece] or _ONE_OR_TWO})" if piece in _DATE_PARTS else f"[{piece}]"
        for piece in pieces
    )
    groups = {piece[0]: index for index, piece in enumerate(parts, 1)}
    return pattern, rf"\{groups['y']}-\{groups['m']}-\{groups['d']}"


def _problem(argument: Node, demand: str) -> str | None:
    """What is wrong with an argument that must be stated in the text."""
    match demand, argument:
        case "digits", Number(value=int(value)) if value <= MOST_DIGITS:
            return None
        case "digits", _:
            return f"the digits must be a whole number from 0 to {MOST_DIGITS}"
        case "length", Number(value=int(value)) if value <= LONGEST_PART:
            return None
        case "length", _:
            return f"the number of characters must be a whole number from 0 to {LONGEST_PART:,}"
        case "format", Text(value=value) if date_pattern(value) is not None:
            return None
        case "format", _:
            return "the form of a date must have dd, mm and yyyy once, with - . / , or spaces"
        case ("search", Text(value=value)) if value:
            return None
        case "text", Text():
            return None
        case (("search" | "text"), _):
            return (
                "what is replaced must be a text in quotes that is not empty, by a text in quotes"
            )
        case "map", MapName():
            return None
        case "map", _:
            return "the second argument must be the name of a map"
        case "bounds", ListOf(items=items) if _rising(items):
            return None
        case "bounds", _:
            return "the bounds must be a list of rising numbers"
        case "labels", ListOf(items=items) if all(isinstance(item, Text) for item in items):
            return None
    return "the labels must be a list of texts"


def _rising(items: tuple[Number | Text, ...]) -> bool:
    values = [item.value for item in items if isinstance(item, Number)]
    return len(values) == len(items) and all(a < b for a, b in pairwise(values))


def _check_band(call: Call, bounds: int, labels: int, where: str) -> None:
    if labels != bounds + 1:
        what = f"`band` has {bounds} bounds and {labels} labels"
        remedy = f"give {bounds + 1} labels: one below the first bound, and one from each bound on"
        raise mistake(where, call.position, what, remedy)

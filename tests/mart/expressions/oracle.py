"""A plain evaluator of expressions, written from the page on expressions: slow, row by row.

Values are None, bool, str, date, int (whole numbers) and float. Whole numbers are computed as
Python integers, so that their exactness is judged too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from shoal.mart.expressions.tree import (
    Binary,
    Call,
    Case,
    Column,
    In,
    IsMissing,
    ListOf,
    MapName,
    Missing,
    Node,
    Number,
    Text,
    Truth,
    Unary,
)

LARGEST = 2**53 - 1
Value = Any
NUMBERS = {"whole", "number"}
RESULTS = {
    **dict.fromkeys(("floor", "ceil", "days", "year", "quarter", "month", "day"), "whole"),
    **dict.fromkeys(("weekday", "decade", "length"), "whole"),
    **dict.fromkeys(("band", "text", "lower", "upper", "trim", "left", "right"), "text"),
    **dict.fromkeys(("replace", "lookup"), "text"),
    "date": "date",
}


class Fails(Exception):
    """The expression has no value for this row."""


class Oracle:
    """The kinds and values of expressions over columns of these kinds."""

    def __init__(self, kinds: Mapping[str, str], maps: Mapping[str, Mapping[str, str]]) -> None:
        self.kinds = kinds
        self.maps = maps
        self.row: Mapping[str, Value] = {}

    def evaluate(self, node: Node, row: Mapping[str, Value]) -> Value:
        """The value of a whole expression for one row."""
        self.row = row
        value = self.value(node)
        return None if value == "" else value

    def kind(self, node: Node) -> str:
        match node:
            case Number(value=value):
                return "whole" if isinstance(value, int) else "number"
            case Text():
                return "text"
            case Missing():
                return "missing"
            case Column(name=name):
                return self.kinds[name]
            case Unary(operator="-", operand=operand):
                return "whole" if self.kind(operand) == "whole" else "number"
            case Binary(operator="||"):
                return "text"
            case Binary(operator=operator) if operator in "+-*/%^":
                return self.kind_of_arithmetic(node)
            case Case(branches=branches, otherwise=otherwise):
                last = [] if otherwise is None else [otherwise]
                return self.common_kind([*(then for _, then in branches), *last])
            case Call(function=function, arguments=arguments):
                return RESULTS.get(function) or self.kind_of_call(function, arguments)
        return "truth"

    def kind_of_arithmetic(self, node: Binary) -> str:
        left, right = self.kind(node.left), self.kind(node.right)
        if "missing" in (left, right):
            return "missing"
        if "date" in (left, right):
            return "whole" if node.operator == "-" and right in ("date", "text") else "date"
        whole = left == right == "whole" and node.operator != "/"
        if node.operator == "^":
            whole = whole and isinstance(node.right, Number)
        return "whole" if whole else "number"

    def kind_of_call(self, function: str, arguments: Sequence[Node]) -> str:
        kinds = {self.kind(argument) for argument in arguments}
        if function == "coalesce":
            return self.common_kind(arguments)
        if function == "round" and (len(arguments) == 1 or arguments[1] == Number(0)):
            return "whole"
        if "date" in kinds:
            return "date"
        return "whole" if self.kind(arguments[0]) == "whole" and kinds == {"whole"} else "number"

    def common_kind(self, nodes: Sequence[Node]) -> str:
        kinds = {self.kind(node) for node in nodes} - {"missing"}
        return "number" if kinds == NUMBERS else next(iter(kinds), "missing")

    def value(self, node: Node) -> Value:
        value = self.bare_value(node)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return float(value) if is_whole and self.kind(node) == "number" else value

    def bare_value(self, node: Node) -> Value:
        match node:
            case Number(value=value) | Text(value=value) | Truth(value=value):
                return value
            case Missing():
                return None
            case Column(name=name):
                return None if self.row[name] == "" else self.row[name]
            case Unary(operator="-", operand=operand):
                number = as_number(self.value(operand))
                return None if number is None else -number
            case Unary(operand=operand):
                truth = self.value(operand)
                return None if truth is None else not truth
            case Binary(operator="and" | "or"):
                return self.logical(node)
            case Binary(left=left, right=right):
                return self.binary(node, self.value(left), self.value(right))
            case IsMissing(operand=operand, negated=negated):
                return (self.value(operand) is None) != negated
            case In(operand=operand, items=items, negated=negated):
                return self.membership(operand, items, negated)
            case Case(branches=branches, otherwise=otherwise):
                for when, then in branches:
                    if self.value(when) is True:
                        return self.value(then)
                return None if otherwise is None else self.value(otherwise)
            case Call():
                return self.call(node)
        raise AssertionError(node)

    def logical(self, node: Binary) -> Value:
        decisive = node.operator == "or"
        left = self.value(node.left)
        if left is decisive:
            return decisive
        right = self.value(node.right)
        if right is decisive:
            return decisive
        return None if left is None or right is None else not decisive

    def binary(self, node: Binary, left: Value, right: Value) -> Value:
        operator, kinds = node.operator, (self.kind(node.left), self.kind(node.right))
        if operator in ("=", "!=", "<", "<=", ">", ">="):
            left, right = self.comparable([node.left, node.right])
            return None if left is None or right is None else compare(operator, left, right)
        if operator == "||":
            return None if left is None or right is None else as_text(left) + as_text(right)
        if "missing" in kinds:
            return None
        if "date" in kinds and operator == "-" and kinds[1] in ("date", "text"):
            return days(left, right)
        if "date" in kinds:
            return later(operator, left, right)
        a, b = as_number(left), as_number(right)
        if a is None or b is None:
            return None
        return arithmetic(operator, a, b, exact=self.kind(node) == "whole")

    def membership(self, operand: Node, items: tuple[Node, ...], negated: bool) -> Value:
        x, *values = self.comparable([operand, *items])
        if x is None:
            return None
        if x in [value for value in values if value is not None]:
            return not negated
        return None if None in values else negated

    def comparable(self, nodes: Sequence[Node]) -> list[Value]:
        """Beside a number a text is read as a number, beside a date as a date."""
        kinds = {self.kind(node) for node in nodes}
        values = [self.value(node) for node in nodes]
        if kinds & NUMBERS:
            return [as_number(value) for value in values]
        return [as_date(value) for value in values] if "date" in kinds else values

    def call(self, node: Call) -> Value:
        name, arguments = node.function, node.arguments
        if name == "coalesce":
            found = (value for value in map(self.value, arguments) if value is not None)
            return next(found, None)
        if name == "lookup":
            return self.lookup(*arguments)
        if name == "band":
            return self.band(*arguments)
        if name in ("least", "greatest"):
            values = self.comparable(arguments)
            if None in values:
                return None
            return min(values) if name == "least" else max(values)
        values = [self.value(argument) for argument in arguments]
        if name == "days":
            return days(*values)
        return None if values[0] is None else function(name, *values)

    def band(self, x: Node, bounds: Node, labels: Node) -> Value:
        assert isinstance(bounds, ListOf)
        assert isinstance(labels, ListOf)
        number = as_number(self.value(x))
        if number is None:
            return None
        return labels.items[sum(number >= bound.value for bound in bounds.items)].value

    def lookup(self, key: Node, name: Node, *default: Node) -> Value:
        assert isinstance(name, MapName)
        value = self.value(key)
        if value is None:
            return None
        entries = self.maps[name.name]
        if as_text(value) in entries:
            return entries[as_text(value)]
        if not default:
            raise Fails
        found = self.value(default[0])
        return None if found is None else as_text(found)


def compare(operator: str, left: Value, right: Value) -> bool:
    order = int(left > right) - int(left < right)
    wanted = {"=": [0], "!=": [-1, 1], "<": [-1], "<=": [-1, 0], ">": [1], ">=": [0, 1]}
    return order in wanted[operator]


def days(left: Value, right: Value) -> int | None:
    a, b = as_date(left), as_date(right)
    return None if a is None or b is None else (a - b).days


def later(operator: str, left: Value, right: Value) -> Value:
    if isinstance(right, date) or isinstance(left, int):
        left, right = right, left
    if left is None or right is None:
        return None
    try:
        return left + timedelta(days=right if operator == "+" else -right)
    except OverflowError:
        raise Fails from None


def arithmetic(operator: str, a: float, b: float, *, exact: bool) -> float:
    if operator in "/%" and b == 0:
        raise Fails
    try:
        match operator:
            case "+":
                result = a + b
            case "-":
                result = a - b
            case "*":
                result = a * b
            case "/":
                result = float(a) / float(b)
            case "%":
                result = remainder(a, b)
            case _:
                result = power(int(a), int(b)) if exact else math.pow(a, b)
    except (OverflowError, ValueError):
        raise Fails from None
    return bounded(result)


def remainder(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return math.fmod(a, b)


def power(a: int, b: int) -> int:
    if abs(a) > 1 and b > 100:
        raise OverflowError
    return int(a**b)


def bounded(number: float) -> float:
    if isinstance(number, int):
        if abs(number) > LARGEST:
            raise Fails
        return number
    if not math.isfinite(number):
        raise Fails
    return number


def function(name: str, x: Value, *more: Value) -> Value:
    match name:
        case "round":
            return rounded(as_number(x), more[0] if more else 0)
        case "floor" | "ceil":
            return bounded(getattr(math, name)(as_number(x)))
        case "abs":
            return abs(as_number(x))
        case "number":
            return as_number(x)
        case "text":
            return as_text(x)
        case "date":
            return as_date(x, *more)
        case "year" | "month" | "day":
            return getattr(as_date(x), name)
        case "quarter":
            return (as_date(x).month + 2) // 3
        case "weekday":
            return as_date(x).isoweekday()
        case "decade":
            return as_date(x).year // 10 * 10
        case "lower" | "upper":
            return getattr(as_text(x), name)()
        case "trim":
            return as_text(x).strip(" ")
        case "left":
            return as_text(x)[: more[0]]
        case "right":
            return as_text(x)[max(0, len(as_text(x)) - more[0]) :]
        case "length":
            return len(as_text(x))
        case "replace":
            return as_text(x).replace(*more)
    raise AssertionError(name)


def rounded(number: float, digits: int) -> float:
    if isinstance(number, int):
        return number
    unit = Decimal(1).scaleb(-digits)
    written = Decimal(repr(number))
    if written.adjusted() < 26:
        written = written.quantize(unit, ROUND_HALF_UP)
    return float(written) if digits else bounded(int(written))


def as_number(value: Value) -> Any:
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?", value):
        raise Fails
    return bounded(float(value))


def as_date(value: Value, layout: str = "yyyy-mm-dd") -> Any:
    if value is None or isinstance(value, date):
        return value
    pattern = re.escape(layout).replace("yyyy", "(?P<y>[0-9]{4})")
    for letter in "md":
        two = pattern.replace(letter * 2, f"(?P<{letter}>[0-9]{{2}})")
        one = re.sub(rf"(?<![<]){letter}(?!>)", f"(?P<{letter}>[0-9]{{1,2}})", pattern)
        pattern = two if letter * 2 in pattern else one
    found = re.fullmatch(pattern, value)
    try:
        return date(int(found["y"]), int(found["m"]), int(found["d"])) if found else fail()
    except ValueError:
        raise Fails from None


def fail() -> date:
    raise Fails


def as_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) <= LARGEST else repr(value)
    return str(value)

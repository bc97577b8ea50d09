"""Operators, conditions and `case` as SQL."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.mart.expressions.reading import (
    bounded,
    in_calendar,
    needs,
    to_date,
    to_number,
    to_text,
    to_truth,
    to_whole,
)
from shoal.mart.expressions.tree import Binary, Case, In, Missing, Node, Number
from shoal.mart.expressions.values import Kind, Program, Value, combined, first, missing

ORDERED = ("<", "<=", ">", ">=")
EQUAL = ("=", "!=")
_SQL = {"!=": "<>"}

_LONGEST_SPAN = 4_000_000
"""Days beyond which a sum with a date is certainly outside the calendar, and DuckDB still adds."""


def binary(program: Program, node: Binary, left: Value, right: Value) -> Value:
    """An operator with two operands."""
    operator = node.operator
    if operator in ("and", "or"):
        return _logical(program, node, left, right)
    if operator in (*EQUAL, *ORDERED):
        return _comparison(program, node, left, right)
    if operator == "||":
        texts = [to_text(program, left), to_text(program, right)]
        return combined(Kind.TEXT, f"({texts[0].sql} || {texts[1].sql})", texts)
    if Kind.MISSING in (left.kind, right.kind):
        return missing(Kind.MISSING, [left, right])
    if operator in "+-" and Kind.DATE in (left.kind, right.kind):
        return _date_arithmetic(program, node, left, right)
    if operator == "-" and left.kind is right.kind is Kind.TEXT:
        what = "texts are subtracted, which can mean numbers or dates"
        remedy = "write `days(later, earlier)` for dates, `number(x) - y` for numbers"
        raise program.mistake(node, what, remedy)
    return _arithmetic(program, node, left, right)


def negative(program: Program, node: Node, value: Value) -> Value:
    """The number with the other sign."""
    number = to_number(program, node, value)
    return combined(number.kind, f"(- {number.sql})", [number])


def membership(program: Program, node: In, operand: Value, items: Sequence[Value]) -> Value:
    """`in`: equal to one of the items; missing where that depends on a missing one."""
    _check_no_missing(program, (node.operand, *node.items))
    nodes = [node.operand, *node.items]
    x, *values = comparable(program, nodes, [operand, *items])
    x = program.named(x)
    word = "NOT IN" if node.negated else "IN"
    sql = f"({x.sql} {word} ({', '.join(value.sql for value in values)}))"
    return combined(Kind.TRUTH, sql, [x, *values])


def comparable(program: Program, nodes: Sequence[Node], values: Sequence[Value]) -> list[Value]:
    """Values of one kind: beside a number a text is read as one, beside a date as a date."""
    kinds = {value.kind for value in values} - {Kind.MISSING}
    numeric = any(kind.numeric for kind in kinds)
    if not kinds:
        return [missing(Kind.TEXT, [value]) for value in values]
    if numeric and kinds <= {Kind.WHOLE, Kind.NUMBER, Kind.TEXT}:
        return [to_number(program, *pair) for pair in zip(nodes, values, strict=True)]
    if Kind.DATE in kinds and kinds <= {Kind.DATE, Kind.TEXT}:
        return [to_date(program, *pair) for pair in zip(nodes, values, strict=True)]
    return alike(program, nodes, values)


def alike(program: Program, nodes: Sequence[Node], values: Sequence[Value]) -> list[Value]:
    """Values that are of one kind already; missing ones become missing values of that kind."""
    kinds = {value.kind for value in values} - {Kind.MISSING}
    if kinds == {Kind.WHOLE, Kind.NUMBER}:
        kinds = {Kind.NUMBER}
    if len(kinds) > 1:
        found = " and ".join(sorted(kind.value for kind in kinds))
        remedy = "turn them into one kind by `number(...)`, `date(...)` or `text(...)`"
        raise program.mistake(nodes[-1], f"values of different kinds: {found}", remedy)
    kind = next(iter(kinds), Kind.MISSING)
    return [
        missing(kind, [value])
        if value.kind is Kind.MISSING
        else Value(kind, value.sql, value.failure, value.layer)
        for value in values
    ]


def ordered(program: Program, nodes: Sequence[Node], values: Sequence[Value]) -> list[Value]:
    """Comparable values that have an order: numbers or dates."""
    found = comparable(program, nodes, values)
    if found[0].kind in (Kind.TEXT, Kind.TRUTH) and any(v.kind is not Kind.MISSING for v in values):
        what = f"values that are {found[0].kind.value} have no order"
        remedy = "compare numbers or dates: `number(x) < number(y)`, `date(x) < date(y)`"
        raise program.mistake(nodes[0], what, remedy)
    return found


def either(
    program: Program, node: Case, branches: Sequence[tuple[Value, Value]], last: Value
) -> Value:
    """`case`: the value of the first condition that is true; what is not reached cannot fail."""
    conditions = [
        to_truth(program, at, condition)
        for (at, _), (condition, _) in zip(node.branches, branches, strict=True)
    ]
    nodes = [then for _, then in node.branches]
    nodes.append(node.otherwise or node)
    *values, last = alike(program, nodes, [*(then for _, then in branches), last])
    everything = [*conditions, *values, last]
    can_fail = any(value.failure for value in everything)
    if can_fail:
        conditions = [program.named(condition) for condition in conditions]
    pairs = list(zip(conditions, values, strict=True))
    whens = " ".join(f"WHEN {when.sql} THEN {then.sql}" for when, then in pairs)
    sql = f"CASE {whens} ELSE {last.sql} END"
    layer = max(value.layer for value in (*conditions, *values, last))
    if not can_fail:
        return Value(last.kind, sql, None, layer)
    failing = " ".join(_reached(when, then) for when, then in pairs)
    return Value(last.kind, sql, f"CASE {failing} ELSE {last.failure or 'NULL'} END", layer)


def first_present(program: Program, nodes: Sequence[Node], values: Sequence[Value]) -> Value:
    """`coalesce`: the first value that is not missing; those after it cannot fail."""
    values = alike(program, nodes, values)
    if any(value.failure for value in values[1:]):
        values = [program.named(value) for value in values]
    failure = values[-1].failure
    for value in reversed(values[:-1]):
        later = None if failure is None else f"CASE WHEN {value.sql} IS NULL THEN {failure} END"
        failure = first([value.failure, later])
    sql = f"coalesce({', '.join(value.sql for value in values)})"
    return Value(values[0].kind, sql, failure, max(value.layer for value in values))


def _reached(condition: Value, value: Value) -> str:
    """The failure of a branch: that of its condition, or where it is true, that of its value."""
    own = (
        f"WHEN {condition.failure} IS NOT NULL THEN {condition.failure} "
        if condition.failure
        else ""
    )
    return f"{own}WHEN {condition.sql} THEN {value.failure or 'NULL'}"


def _logical(program: Program, node: Binary, left: Value, right: Value) -> Value:
    """`and`, `or` as SQL has them; where the left side decides, the right one cannot fail."""
    a, b = to_truth(program, node.left, left), to_truth(program, node.right, right)
    if b.failure is None:
        return combined(Kind.TRUTH, f"({a.sql} {node.operator} {b.sql})", [a, b])
    a = program.named(a)
    undecided = f"{a.sql} IS DISTINCT FROM {'false' if node.operator == 'and' else 'true'}"
    failure = first([a.failure, f"CASE WHEN {undecided} THEN {b.failure} END"])
    sql = f"({a.sql} {node.operator} {b.sql})"
    return Value(Kind.TRUTH, sql, failure, max(a.layer, b.layer))


def _comparison(program: Program, node: Binary, left: Value, right: Value) -> Value:
    nodes, values = [node.left, node.right], [left, right]
    _check_no_missing(program, nodes)
    order = node.operator in ORDERED
    a, b = (ordered if order else comparable)(program, nodes, values)
    return combined(
        Kind.TRUTH, f"({a.sql} {_SQL.get(node.operator, node.operator)} {b.sql})", [a, b]
    )


def _check_no_missing(program: Program, nodes: Sequence[Node]) -> None:
    for node in nodes:
        if isinstance(node, Missing):
            what = "a comparison with `missing` is never true"
            raise program.mistake(node, what, "write `is missing` or `is not missing`")


def _arithmetic(program: Program, node: Binary, left: Value, right: Value) -> Value:
    """`+ - * / % ^` with doubles, which SQL computes as Python does."""
    a = program.named(to_number(program, node.left, left))
    b = program.named(to_number(program, node.right, right))
    whole = a.kind is b.kind is Kind.WHOLE
    if node.operator == "^":
        return _power(program, node, a, b)
    reasons = []
    if node.operator in "/%":
        by_zero = f"{b.sql} = 0 AND {a.sql} IS NOT NULL"
        reasons = [program.failing(by_zero, "division-by-zero", node, b.sql)]
    kind = Kind.WHOLE if whole and node.operator != "/" else Kind.NUMBER
    return bounded(
        program, node, combined(kind, f"({a.sql} {node.operator} {b.sql})", [a, b], *reasons)
    )


def _power(program: Program, node: Binary, a: Value, b: Value) -> Value:
    exact = a.kind is Kind.WHOLE and isinstance(node.right, Number) and b.kind is Kind.WHOLE
    inverse = f"{a.sql} = 0 AND {b.sql} < 0"
    by_zero = program.failing(inverse, "division-by-zero", node, a.sql)
    root = f"{a.sql} < 0 AND {b.sql} <> floor({b.sql})"
    no_root = program.failing(root, "not-a-number", node, a.sql)
    kind = Kind.WHOLE if exact else Kind.NUMBER
    value = combined(kind, f"pow({a.sql}, {b.sql})", [a, b], by_zero, no_root)
    return bounded(program, node, value)


def _date_arithmetic(program: Program, node: Binary, left: Value, right: Value) -> Value:
    """Days between two dates, or a date some days later or earlier."""
    if node.operator == "-" and right.kind in (Kind.DATE, Kind.TEXT):
        return days_between(program, [node.left, node.right], [left, right])
    if node.operator == "+" and right.kind is Kind.DATE:
        if left.kind is Kind.DATE:
            raise needs(program, node.right, right, "a number of days")
        left, right = right, left
    left = program.named(left)
    days = program.named(to_whole(program, node.right, right, "a number of days"))
    span = f"CAST(CASE WHEN abs({days.sql}) <= {_LONGEST_SPAN} THEN {days.sql} END AS INTEGER)"
    beyond = f"abs({days.sql}) > {_LONGEST_SPAN} AND {left.sql} IS NOT NULL"
    too_far = program.failing(beyond, "overflow", node, days.sql)
    sql = f"({left.sql} {node.operator} {span})"
    return in_calendar(program, node, combined(Kind.DATE, sql, [left, days], too_far))


def days_between(program: Program, nodes: Sequence[Node], values: Sequence[Value]) -> Value:
    """The days from the second date to the first, negative where the first is earlier."""
    a, b = (to_date(program, *pair) for pair in zip(nodes, values, strict=True))
    return combined(Kind.WHOLE, f"CAST({a.sql} - {b.sql} AS DOUBLE)", [a, b])

"""Random expressions over typed columns: DuckDB and a plain evaluator agree on every row."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mart.expressions.deriving import derived
from mart.expressions.oracle import Fails, Oracle
from shoal.mart.expressions import Expression, parse
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

MAPS = {"m": {"a": "A", "7": "seven", "it's": "x'; DROP TABLE t; --"}, "empty": {}}

POOLS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "whole": ("whole", pa.int64(), [None, 0, 1, -1, 7, 30, 2**53 - 1, -(2**53) + 1, 100_000]),
    "small": ("whole", pa.int8(), [None, 0, 1, 2, -3]),
    "number": ("number", pa.float64(), [None, 0.0, 0.5, -2.5, 1.005, 1e-7, 24.84, 1e16, -1e300]),
    "text": ("text", pa.string(), [None, "", "a", "it's", "B c", " 7 ", 'é"`', "12", "x\\y%_"]),
    "digits": ("text", pa.string(), [None, "7", "-2.50", "1e3", "0", "12", "1e400", "1,5"]),
    "days": ("text", pa.string(), [None, "2005-08-15", "2004-02-29", "2003-02-29", "0001-01-01"]),
    "german": ("text", pa.string(), [None, "15.08.2005", "29.02.2000", "1.1.2001", "31.12.9999"]),
    "day": ("date", pa.date32(), [None, date(1, 1, 1), date(2005, 8, 15), date(9999, 12, 31)]),
    "flag": ("truth", pa.bool_(), [None, True, False]),
}
KINDS = {name: kind for name, (kind, _, _) in POOLS.items()}
DATES, NUMBERS = ["date"], ["whole", "number"]


def table() -> pa.Table:
    choose = random.Random(20050815)
    columns = {
        name: pa.array([choose.choice(pool) for _ in range(60)], kind)
        for name, (_, kind, pool) in POOLS.items()
    }
    return pa.table({"row": pa.array(range(60)), **columns})


class Build:
    """Draws nodes of a kind, never deeper than asked."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def pick(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def node(self, kind: str, depth: int) -> Node:
        if depth <= 1 or self.pick([False, False, False, True]):
            return self.leaf(kind)
        if self.pick([True, False, False]):
            return self.any_kind(kind, depth - 1)
        return getattr(self, kind)(depth - 1)  # type: ignore[no-any-return]

    def leaf(self, kind: str) -> Node:
        if self.pick([True, True, False]):
            return Column(None, self.pick([name for name in KINDS if KINDS[name] == kind]))
        match kind:
            case "whole":
                return Number(self.pick([0, 1, 2, 10, 2**53 - 1]))
            case "number":
                return Number(self.pick([0.5, 2.5, 1e-9, 0.1]))
            case "text":
                return Text(self.pick(["", "a", "it's", "12", "2005-08-15", "'; SELECT 1 --"]))
            case "date":
                return Call("date", (Text("2004-02-29"),))
        return Truth(self.pick([True, False]))

    def any_kind(self, kind: str, depth: int) -> Node:
        """`case` or `coalesce`, whose values may be missing."""
        values = [self.node(kind, depth) for _ in range(2)]
        if self.pick([True, False, False]):
            values[1] = Missing()
        if self.pick([True, False]):
            return Call("coalesce", tuple(values))
        otherwise = self.pick([None, values[1]])
        return Case(((self.truth(depth), values[0]),), otherwise)

    def numeric(self, depth: int) -> Node:
        if self.pick([True, False, False, False]):
            return Column(None, self.pick(["digits", "digits", "text"]))
        return self.node(self.pick(NUMBERS), depth)

    def dated(self, depth: int) -> Node:
        return self.pick([Column(None, "days"), self.node("date", depth)])  # type: ignore[no-any-return]

    def whole(self, depth: int) -> Node:
        functions = ["floor", "ceil", "round", "length", "days", "part", "operator", "minus", "^"]
        match self.pick(functions):
            case "length":
                return Call("length", (self.node("text", depth),))
            case "days":
                return Call("days", (self.dated(depth), self.dated(depth)))
            case "part":
                parts = ["year", "quarter", "month", "day", "weekday", "decade"]
                return Call(self.pick(parts), (self.dated(depth),))
            case "operator":
                pair = self.node("whole", depth), self.node("whole", depth)
                return Binary(self.pick(["+", "-", "*", "%"]), *pair)
            case "minus":
                if self.pick([True, False]):
                    return Binary("-", self.node("date", depth), self.dated(depth))
                return Unary("-", self.node("whole", depth))
            case "^":
                return Binary("^", self.node("whole", depth), Number(self.pick([0, 1, 2, 3, 40])))
            case function:
                return Call(function, (self.numeric(depth),))

    def number(self, depth: int) -> Node:
        match self.pick(["/", "+", "-", "*", "%", "^", "round", "number", "abs", "least", "u"]):
            case "round":
                return Call("round", (self.numeric(depth), Number(self.pick([1, 2, 6]))))
            case "number" | "abs" as function:
                return Call(function, (self.node("number", depth),))
            case "least":
                three = (self.node("number", depth), self.numeric(depth), self.numeric(depth))
                return Call(self.pick(["least", "greatest"]), three)
            case "u":
                return Unary("-", self.node("number", depth))
            case operator:
                pair = [self.node("number", depth), self.numeric(depth)]
                return Binary(operator, *(pair if self.pick([True, False]) else pair[::-1]))

    def text(self, depth: int) -> Node:
        functions = ["||", "text", "lower", "upper", "trim", "left", "right", "replace"]
        everything = ["whole", "number", "text", "date", "truth"]
        x = self.node(self.pick(everything), depth)
        match self.pick([*functions, "lookup", "band"]):
            case "||":
                return Binary("||", x, self.node(self.pick(everything), depth))
            case "left" | "right" as function:
                return Call(function, (x, Number(self.pick([0, 1, 3]))))
            case "replace":
                return Call("replace", (x, Text(self.pick(["1", "it", "'"])), Text("''x")))
            case "lookup":
                name = MapName(self.pick(["m", "m", "empty"]))
                default = (self.node("text", depth),) if self.pick([True, True, False]) else ()
                return Call("lookup", (x, name, *default))
            case "band":
                bounds, labels = (Number(-2.5), Number(0), Number(7)), (Text(c) for c in "abcd")
                return Call("band", (self.numeric(depth), ListOf(bounds), ListOf(tuple(labels))))
            case function:
                return Call(function, (x,))

    def date(self, depth: int) -> Node:
        match self.pick(["+", "-", "german", "iso", "least"]):
            case "german":
                return Call(
                    "date", (Column(None, "german"), Text(self.pick(["dd.mm.yyyy", "d.m.yyyy"])))
                )
            case "iso":
                return Call("date", (self.dated(depth),))
            case "least":
                pair = (self.node("date", depth), self.dated(depth))
                return Call(self.pick(["least", "greatest"]), pair)
            case operator:
                return Binary(operator, self.node("date", depth), self.node("whole", depth))

    def truth(self, depth: int) -> Node:
        match self.pick(["and", "or", "not", "is", "in", "=", "!=", "<", "<=", ">", ">="]):
            case "and" | "or" as operator:
                return Binary(operator, self.node("truth", depth), self.node("truth", depth))
            case "not":
                return Unary("not", self.node("truth", depth))
            case "is":
                kind = self.pick([*DATES, *NUMBERS, "text", "truth"])
                return IsMissing(self.node(kind, depth), self.pick([True, False]))
            case "in":
                kind = self.pick([*DATES, *NUMBERS, "text"])
                items = tuple(self.node(kind, depth) for _ in range(2))
                return In(self.node(kind, depth), items, self.pick([True, False]))
            case "=" | "!=" as operator if self.pick([True, False]):
                kind = self.pick(["text", "truth"])
                return Binary(operator, self.node(kind, depth), self.node(kind, depth))
            case operator:
                if self.pick([True, False]):
                    return Binary(operator, self.node("date", depth), self.dated(depth))
                return Binary(operator, self.numeric(depth), self.node(self.pick(NUMBERS), depth))


@st.composite
def trees(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Node:
    kind = draw(st.sampled_from(["whole", "number", "text", "date", "truth"]))
    return Build(draw).node(kind, draw(st.integers(2, 5)))


TABLE = table()
ROWS = TABLE.to_pylist()
CONNECTION = duckdb.connect()
CONNECTION.register("given", TABLE)
CONNECTION.execute("CREATE TABLE t AS SELECT * FROM given")


@pytest.mark.slow
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees())
def test_random_expressions_have_the_values_and_failures_of_a_plain_evaluator(tree: Node) -> None:
    expression = parse(str(Expression(tree, "derive")), "derive")
    assert expression.root == tree
    oracle = Oracle(KINDS, MAPS)
    expected = {}
    for row in ROWS:
        try:
            expected[row["row"]] = oracle.evaluate(tree, row)
        except Fails:
            continue
    column = derived(CONNECTION, expression, "t", MAPS)
    failures = CONNECTION.sql(column.failures("t")).fetchall()
    assert sum(rows for _, rows, _ in failures) == len(ROWS) - len(expected), str(expression)
    kept = f'(SELECT * FROM t WHERE "row" IN ({", ".join(map(str, [-1, *expected]))}))'
    found = CONNECTION.sql(column.query(kept)).fetchall()
    assert {row[0]: row[-1] for row in found} == expected, str(expression)
    types = {type(value) for value in expected.values()} - {type(None)}
    assert types <= {
        {"BIGINT": int, "DOUBLE": float, "VARCHAR": str, "DATE": date}.get(column.type, bool)
    }

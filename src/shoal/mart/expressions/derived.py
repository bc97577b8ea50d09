"""A derived column: a query that computes it, and one that counts what fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from shoal.engines.duckdb.session import identifier, literal
from shoal.errors import BadData
from shoal.mart.expressions.calls import Maps, call
from shoal.mart.expressions.operators import binary, either, membership, negative
from shoal.mart.expressions.reading import Input, read_column, to_text, to_truth
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
from shoal.mart.expressions.values import Failure, Kind, Program, Value, combined, missing
from shoal.mart.expressions.writing import write

if TYPE_CHECKING:
    from shoal.mart.expressions.expression import Expression

Inputs: TypeAlias = Callable[[str | None, str], Input]

FAILED = "shoal: a derived column has no value"
"""The message of a query that meets a row without a value because `check` was not called."""

_TYPES = {
    Kind.WHOLE: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TRUTH: "BOOLEAN",
    Kind.MISSING: "VARCHAR",
}

_SHOWN = 80
"""Characters of a part of an expression that a message shows."""


@dataclass(frozen=True)
class DerivedColumn:
    """A column that an expression computes from those of a relation.

    A relation is what may follow FROM in DuckDB: the quoted name of a table, or a query in
    parentheses.
    """

    name: str
    type: str
    _program: Program
    _value: Value

    def query(self, relation: str) -> str:
        """All columns of the relation, and this one.

        A row for which the expression fails is an error with the message `FAILED`, so that no
        wrong or missing value takes the place of a failure. `check` says what is wrong.
        """
        sql = self._value.sql
        if self._value.failure is not None:
            error = f"error({literal(FAILED)})"
            sql = f"CASE WHEN {self._value.failure} IS NULL THEN {sql} ELSE {error} END"
        steps = ", ".join(self._program.names)
        kept = f"r.* EXCLUDE ({steps})" if steps else "r.*"
        return self._program.query(relation, f"{kept}, {sql} AS {identifier(self.name)}")

    def failures(self, relation: str) -> str:
        """The way to fail, the rows that do, and how many different values are to blame."""
        if self._value.failure is None:
            return "SELECT 0, 0, 0 WHERE false"
        blamed = " ".join(
            f"WHEN {number} THEN CAST({failure.culprit} AS VARCHAR)"
            for number, failure in enumerate(self._program.failures)
        )
        code = identifier(f"{self._program.prefix}code")
        rows = self._program.query(relation, f"r.*, {self._value.failure} AS {code}")
        return (
            f"SELECT {code}, count(*), count(DISTINCT CASE {code} {blamed} END) FROM ({rows}) "
            f"WHERE {code} IS NOT NULL GROUP BY {code} ORDER BY {code}"
        )

    def check(self, counted: Iterable[tuple[int, int, int]]) -> None:
        """An error where the rows of the query `failures` say that the expression fails."""
        for number, rows, values in counted:
            raise _error(self.name, self._program.failures[number], rows, values)


def derive(
    name: str,
    expression: Expression,
    column: Inputs,
    maps: Maps,
    taken: Collection[str],
    *,
    present: str | None = None,
) -> DerivedColumn:
    """The column that an expression computes; an error where its kinds do not fit together.

    `column` says what each column that the expression reads is in the relation. `taken` are the
    names of all columns of the relation. `present` is SQL that is true where the source of the
    column is there; in other rows the column is missing, and cannot fail.
    """
    program = Program(expression.where, _free_prefix(taken))
    value = _output(_Compiler(program, column, maps).value(expression.root), program)
    if present is not None:
        value = _where(program, Value(Kind.TRUTH, f"({present})"), value)
    return DerivedColumn(name, _TYPES[value.kind], program, value)


@dataclass(frozen=True)
class _Compiler:
    program: Program
    column: Inputs
    maps: Maps
    known: dict[Node, Value] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """The value of a node; equal nodes are computed once."""
        if node not in self.known:
            self.known[node] = self.compiled(node)
        return self.known[node]

    def compiled(self, node: Node) -> Value:
        """The SQL of a node; the tree is at most as deep as the parser lets it be."""
        program = self.program
        match node:
            case Number(value=number):
                kind = Kind.WHOLE if isinstance(number, int) else Kind.NUMBER
                return Value(kind, f"CAST({number!r} AS DOUBLE)")
            case Text(value=text):
                return Value(Kind.TEXT, literal(text))
            case Truth(value=truth):
                return Value(Kind.TRUTH, str(truth).lower())
            case Missing() | MapName() | ListOf():
                return missing(Kind.MISSING)
            case Column(source=source, name=name):
                return read_column(program, node, self.column(source, name))
            case Unary(operator="-", operand=operand):
                return negative(program, operand, self.value(operand))
            case Unary(operand=operand):
                truth_value = to_truth(program, operand, self.value(operand))
                return combined(Kind.TRUTH, f"(NOT {truth_value.sql})", [truth_value])
            case Binary(left=left, right=right):
                return binary(program, node, self.value(left), self.value(right))
            case IsMissing(operand=operand, negated=negated):
                inner = self.value(operand)
                test = "IS NOT NULL" if negated else "IS NULL"
                return combined(Kind.TRUTH, f"({inner.sql} {test})", [inner])
            case In(operand=operand, items=items):
                values = [self.value(item) for item in items]
                return membership(program, node, self.value(operand), values)
            case Case(branches=branches, otherwise=otherwise):
                pairs = [(self.value(when), self.value(then)) for when, then in branches]
                last = missing(Kind.MISSING) if otherwise is None else self.value(otherwise)
                return either(program, node, pairs, last)
            case Call(arguments=arguments):
                return call(program, node, [self.value(each) for each in arguments], self.maps)


def _where(program: Program, condition: Value, value: Value) -> Value:
    """The value in the rows of a condition, and a missing one in the others."""
    condition = program.named(condition)
    sql = f"CASE WHEN {condition.sql} THEN {value.sql} END"
    failure = value.failure and f"CASE WHEN {condition.sql} THEN {value.failure} END"
    return Value(value.kind, sql, failure, max(condition.layer, value.layer))


def _output(value: Value, program: Program) -> Value:
    """A value as it is stored: whole numbers as integers, no negative zero, no empty text."""
    if value.kind is Kind.WHOLE:
        return combined(value.kind, f"TRY_CAST({value.sql} AS BIGINT)", [value])
    if value.kind is Kind.NUMBER:
        value = program.named(value)
        sql = f"CASE WHEN {value.sql} = 0 THEN CAST(0 AS DOUBLE) ELSE {value.sql} END"
        return combined(value.kind, sql, [value])
    if value.kind in (Kind.TEXT, Kind.MISSING):
        return combined(value.kind, f"nullif({to_text(program, value).sql}, '')", [value])
    return value


def _free_prefix(taken: Collection[str]) -> str:
    """What no name of a column begins with; DuckDB's names do not differ by case."""
    prefix = "shoal_step_"
    while any(name.casefold().startswith(prefix) for name in taken):
        prefix += "_"
    return prefix


def _error(name: str, failure: Failure, rows: int, values: int) -> BadData:
    """What fails, in how many rows; never a value."""
    part = write(failure.node)
    part = f"`{part}`" if len(part) <= _SHOWN else f"`{part[:_SHOWN]}...`"
    where = f"derived column {name!r}: "
    many = f"in {rows:,} rows" if rows > 1 else "in 1 row"
    different = f"{values:,} different values" if values > 1 else "1 value"
    guard = "leave out such rows by `case when ... then ... end`"
    if failure.code == "division-by-zero":
        return BadData(f"{where}{part} divides by zero {many}", code="division-by-zero", hint=guard)
    if failure.code == "not-a-date":
        return BadData(
            f"{where}{part} is no date {many} ({different})",
            code="not-a-date",
            hint="dates are read as yyyy-mm-dd; state others: `date(x, 'dd.mm.yyyy')`; or " + guard,
        )
    if failure.code == "not-in-map":
        return BadData(
            f"{where}{part} finds no entry {many} ({different})",
            code="not-in-map",
            hint="add the entries to the map, or a default: `lookup(x, map, 'other')`",
        )
    if failure.code == "not-a-number":
        return BadData(
            f"{where}{part} is no number {many} ({different})",
            code="not-a-number",
            hint="numbers are written as -12.5, without spaces and separators; or " + guard,
        )
    return BadData(
        f"{where}{part} is too large {many}",
        code="overflow",
        hint=f"whole numbers go up to 2^53 - 1, dates from 0001-01-01 to 9999-12-31; or {guard}",
    )

"""What the parts of an expression become: values of a kind, as SQL.

SQL is built so that no query ever fails and no text grows without bound:

- Every operation is total: where it has no answer, SQL gives NULL or an infinite number, and the
  *failure* of the value says which part of the expression failed. NULL there means that none did.
- SQL that is used more than once becomes a *step*: a column of its own, computed in a layer below.
  So the text of a query grows with the number of nodes, however deep they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from shoal.engines.duckdb.session import identifier, literal
from shoal.mart.expressions.tokens import mistake

if TYPE_CHECKING:
    from shoal.errors import UserError
    from shoal.mart.expressions.tree import Node


MOST_STEPS = 1_500
"""Steps that an expression may have: DuckDB plans as many in a second and 150 MB."""


class Kind(Enum):
    """What a value is. Both kinds of numbers are doubles in SQL; whole ones are exact."""

    WHOLE = "whole number"
    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    TRUTH = "true or false"
    MISSING = "missing"

    @property
    def numeric(self) -> bool:
        return self in (Kind.WHOLE, Kind.NUMBER)


STORED = {
    Kind.WHOLE: "DOUBLE",
    Kind.NUMBER: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TRUTH: "BOOLEAN",
    Kind.MISSING: "VARCHAR",
}
"""The type that a value of each kind has in SQL."""


@dataclass(frozen=True)
class Value:
    """The SQL of a value and of its failure, and the layer of steps that they read from."""

    kind: Kind
    sql: str
    failure: str | None = None
    layer: int = 0


@dataclass(frozen=True)
class Failure:
    """One way in which a row can fail: the code of the error, and the part that fails.

    `culprit` is SQL of the value that is to blame, which is counted and never shown.
    """

    code: str
    node: Node
    culprit: str


@dataclass(frozen=True)
class Join:
    """A map as a table: which column of the layer is looked up in it."""

    key: str
    entries: Mapping[str, str]


@dataclass
class Program:
    """The steps of one expression, by layer, and the ways in which it can fail."""

    where: str
    prefix: str
    steps: list[dict[str, str | Join]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    _layers: dict[str, int] = field(default_factory=dict)

    def named(self, value: Value) -> Value:
        """The same value as a step, so that its SQL can be used several times."""
        sql = self._step(value.sql, value.layer)
        failure = None if value.failure is None else self._step(value.failure, value.layer)
        return Value(value.kind, sql, failure, self._layer(value, sql, failure))

    def looked_up(self, key: Value, entries: Mapping[str, str]) -> Value:
        """The entry of a map for a key, missing where there is none; the failure of the key."""
        key = self.named(key)
        name = self._add(Join(key.sql, entries), key.layer)
        return Value(Kind.TEXT, name, key.failure, key.layer + 1)

    def failing(self, condition: str, code: str, node: Node, culprit: str) -> str:
        """SQL of a failure: the number of this way to fail where the condition is true."""
        self.failures.append(Failure(code, node, culprit))
        return f"CASE WHEN {condition} THEN {len(self.failures) - 1} END"

    def mistake(self, node: Node, what: str, remedy: str) -> UserError:
        """A mistake at a part of the expression."""
        return mistake(self.where, node.position, what, remedy)

    def query(self, relation: str, columns: str) -> str:
        """A query of these columns over a relation with all the steps."""
        for layer in self.steps:
            added: list[str] = []
            tables: list[str] = []
            for name, step in layer.items():
                if isinstance(step, Join):
                    alias = identifier(f"{self.prefix}t{len(tables)}")
                    tables.append(f" LEFT JOIN {self._table(alias, step)}")
                    added.append(f"{alias}.{self._entry} AS {name}")
                else:
                    added.append(f"{step} AS {name}")
            relation = f"(SELECT r.*, {', '.join(added)} FROM {relation} AS r{''.join(tables)})"
        return f"SELECT {columns} FROM {relation} AS r"

    @property
    def names(self) -> list[str]:
        """The columns of all steps."""
        return [name for layer in self.steps for name in layer]

    @property
    def _entry(self) -> str:
        return identifier(f"{self.prefix}entry")

    def _table(self, alias: str, join: Join) -> str:
        """A map as a table, and how it is joined; its keys are unique, so no row is doubled."""
        key = identifier(f"{self.prefix}key")
        used = set().union(*join.entries, *join.entries.values())
        free = next(character for character in map(chr, range(1, 2**15)) if character not in used)
        columns = (join.entries, join.entries.values())
        keys, entries = (_listed(list(texts), free) for texts in columns)
        rows = f"SELECT unnest({keys}), unnest({entries})"
        return f"({rows}) AS {alias}({key}, {self._entry}) ON r.{join.key} = {alias}.{key}"

    def _layer(self, value: Value, *names: str | None) -> int:
        """The layer that reads the steps of a value: its own where no step was needed."""
        above = self.steps[value.layer] if value.layer < len(self.steps) else {}
        return value.layer + 1 if any(name in above for name in names) else value.layer

    def _step(self, sql: str, layer: int) -> str:
        """The column of a step; SQL that is a step already needs no other."""
        if sql in self._layers:
            return sql
        known = self.steps[layer].items() if layer < len(self.steps) else ()
        return next((name for name, step in known if step == sql), "") or self._add(sql, layer)

    def _add(self, step: str | Join, layer: int) -> str:
        if len(self._layers) == MOST_STEPS:
            what = f"the expression needs more than {MOST_STEPS:,} steps"
            remedy = "divide it into several derived columns, or put long lists into a map"
            raise mistake(self.where, 1, what, remedy)
        name = identifier(f"{self.prefix}{len(self._layers)}")
        if layer == len(self.steps):
            self.steps.append({})
        self.steps[layer][name] = step
        self._layers[name] = layer
        return name


def first(failures: Iterable[str | None]) -> str | None:
    """The failure that comes first, of those there are."""
    known = [failure for failure in failures if failure is not None]
    return f"coalesce({', '.join(known)})" if len(known) > 1 else next(iter(known), None)


def combined(kind: Kind, sql: str, values: Iterable[Value], *more: str | None) -> Value:
    """A value made of others, which fails where one of them does or for one more reason."""
    values = tuple(values)
    failure = first([*(value.failure for value in values), *more])
    return Value(kind, sql, failure, max((value.layer for value in values), default=0))


def missing(kind: Kind, values: Iterable[Value] = ()) -> Value:
    """A missing value of a kind, which fails where one of the values does."""
    return combined(kind, f"CAST(NULL AS {STORED[kind]})", values)


def _listed(texts: list[str], separator: str) -> str:
    """A list of texts as one literal, which DuckDB parses faster than thousands of them."""
    if not texts:
        return "CAST([] AS VARCHAR[])"
    return f"string_split({literal(separator.join(texts))}, {literal(separator)})"

"""Derived columns of small relations, as DuckDB computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from shoal.mart.expressions import DerivedColumn, Expression, Input, derive, parse

Maps = Mapping[str, Mapping[str, str]]


def derived(
    connection: duckdb.DuckDBPyConnection,
    expression: str | Expression,
    relation: str,
    maps: Maps = {},  # noqa: B006
) -> DerivedColumn:
    described = connection.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {name: kind for name, kind, *_ in described}

    def column(source: str | None, name: str) -> Input:
        return Input('"' + name.replace('"', '""') + '"', types[name])

    tree = parse(expression, "derive") if isinstance(expression, str) else expression
    return derive("derived", tree, column, maps, list(types))


def values(
    connection: duckdb.DuckDBPyConnection,
    expression: str | Expression,
    relation: str,
    maps: Maps = {},  # noqa: B006
) -> list[Any]:
    """The derived values, in the order of the first column of the relation."""
    column = derived(connection, expression, relation, maps)
    column.check(connection.sql(column.failures(relation)).fetchall())
    rows = connection.sql(f"{column.query(relation)} ORDER BY 1").fetchall()
    return [row[-1] for row in rows]

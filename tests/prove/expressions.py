"""Broken expressions of derived columns: a clear error, or the values of a plain evaluator."""

from __future__ import annotations

import contextlib
from datetime import date
from functools import partial
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from mart.expressions.oracle import Fails, Oracle
from prove.mutations import changed, kept
from prove.trial import CANARY, Declined, Failed, Kind, Trial, run_or_decline
from shoal.mart.expressions import DerivedColumn, Expression, Input, derive, parse

EXPRESSIONS = 20
"""Expressions of one trial, which share a table."""

ROWS = 12
MAPS = {"m": {"a": "A", "7": "seven", f"{CANARY} a": "known"}}
POOLS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "whole": ("whole", pa.int64(), [None, 0, 1, -1, 30, 2**53 - 1]),
    "small": ("whole", pa.int8(), [None, 0, 1, 2, -3]),
    "number": ("number", pa.float64(), [None, 0.0, 0.5, -2.5, 1.005, 1e16, -1e300]),
    "text": ("text", pa.string(), [None, "", f"{CANARY} a", f"{CANARY} it's", f" {CANARY} "]),
    "digits": ("text", pa.string(), [None, "7", "-2.50", "1e3", f"{CANARY} 12"]),
    "days": ("text", pa.string(), [None, "2005-08-15", "2003-02-29", f"{CANARY} 2005"]),
    "german": ("text", pa.string(), [None, "15.08.2005", "29.02.2000", f"{CANARY} 1.1.2001"]),
    "day": ("date", pa.date32(), [None, date(1, 1, 1), date(2005, 8, 15), date(9999, 12, 31)]),
    "flag": ("truth", pa.bool_(), [None, True, False]),
}

KINDS = {name: kind for name, (kind, _, _) in POOLS.items()}
NAMES = ["row", *POOLS]
TYPES = {
    **dict.fromkeys(("text", "digits", "days", "german"), "VARCHAR"),
    "whole": "BIGINT",
    "small": "TINYINT",
    "number": "DOUBLE",
    "day": "DATE",
    "flag": "BOOLEAN",
}


def attack(trial: Trial) -> None:
    """Break kept expressions, and compute those that still are expressions, row by row."""
    rng = trial.rng
    columns = {
        name: pa.array(rng.choices(pool, k=ROWS), kind) for name, (_, kind, pool) in POOLS.items()
    }
    table = pa.table({"row": pa.array(range(ROWS)), **columns})
    with duckdb.connect() as connection:
        connection.register("t", table)
        for _ in range(EXPRESSIONS):
            text = _text(rng)
            try:
                expression = run_or_decline(partial(parse, text, "derive"))
                read = partial(derive, "x", expression, _column, MAPS, NAMES)
                column = run_or_decline(read)
            except Declined:
                trial.seen["refused"] += 1
                continue
            _compare(connection, expression, column, table.to_pylist())
            trial.seen["computed"] += 1


def _text(rng: Random) -> str:
    lines = [line for path in kept("expressions") for line in path.read_bytes().splitlines()]
    return changed(rng, rng.choice(lines)).decode("utf-8", "replace")


def _column(source: str | None, name: str) -> Input:
    """What a name means; the product declines unknown names in the same place."""
    if source is not None or name not in POOLS:
        raise Declined("unknown-column")
    return Input(f'"{name}"', TYPES[name])


def _compare(
    connection: duckdb.DuckDBPyConnection,
    expression: Expression,
    column: DerivedColumn,
    rows: list[dict[str, Any]],
) -> None:
    """The rows that fail, and the values of the others, are those of the plain evaluator."""
    oracle = Oracle(KINDS, MAPS)
    expected = {}
    for row in rows:
        with contextlib.suppress(Fails):
            expected[row["row"]] = oracle.evaluate(expression.root, row)
    failures = connection.sql(column.failures("t")).fetchall()
    if sum(count for _, count, _ in failures) != len(rows) - len(expected):
        raise Failed(f"{expression}: {failures}, but {len(expected)} rows have values")
    if failures:
        with contextlib.suppress(Declined):
            run_or_decline(lambda: column.check(failures))
            raise Failed(f"{expression}: rows fail, but there is no error")
    chosen = ", ".join(map(str, [-1, *expected]))
    kept_rows = f'(SELECT * FROM t WHERE "row" IN ({chosen}))'
    found = {row[0]: row[-1] for row in connection.sql(column.query(kept_rows)).fetchall()}
    if found != expected:
        raise Failed(f"{expression}: {found} in place of {expected}")


KIND = Kind(
    attack,
    tries=f"{EXPRESSIONS} expressions of derived columns of a mart with characters flipped, cut, "
    "moved or mixed are computed for a table with all kinds of columns",
    fails="a traceback, a hang, a value of the data in an error, or rows that fail or have values "
    "other than a plain evaluator says",
    limits="the evaluator reads the tree that the parser of Shoal makes: it judges meaning, not "
    "grammar",
)

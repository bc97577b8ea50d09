"""Random small data marts: their tables, the files and the catalog of them, and random requests."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from mart.oracle import Column, Join, Mart, Record, Selection
from oracle import Cell, Ladder

Draw = st.DrawFn

TREE = {"ab": ["a", "b"], "cd": ["c", "d"]}
"""The hierarchy of text columns: two groups, then all."""
LETTERS = Ladder({letter: (letter, top, "*") for top, below in TREE.items() for letter in below})
NUMBERS = ("1", "2", "3", "5", "8")
FILES = ("csv", "parquet", "sqlite")


@dataclass(frozen=True)
class DrawnLink:
    """A link as the catalog says it, and as the oracle joins it."""

    join: Join
    kind: str

    def as_mapping(self) -> dict[str, Any]:
        join = self.join
        ends = {join.left: list(join.left_key), join.right: list(join.right_key)}
        optional = {} if join.optional is None else {"optional": join.optional}
        return {"between": ends, "kind": self.kind, **optional}


@dataclass(frozen=True)
class DrawnMart:
    """A random mart: what the oracle sees, and what a catalog needs beside it."""

    mart: Mart
    links: Sequence[DrawnLink]
    identifying: Sequence[Column]
    kept: Sequence[Column]
    files: Mapping[str, str]

    def write(self, folder: Path) -> dict[str, Any]:
        """Write every source in its kind of file, and give the catalog of them."""
        columns: dict[str, dict[str, Any]] = {source: {} for source in self.mart.tables}
        for source, name in self.identifying:
            is_text = self.mart.ladders[source, name] is LETTERS
            hierarchy: Any = {"tree": TREE} if is_text else "suppress"
            columns[source][name] = {"role": "quasi-identifier", "hierarchy": hierarchy}
        for source, name in self.kept:
            columns[source][name] = "keep"
        counted = {source for source, _ in self.identifying}
        source, key = self.mart.person
        return {
            "mart": "random",
            "log": str(folder / "log.jsonl"),
            "person": {"source": source, "columns": list(key)},
            "sources": {
                name: {
                    "source": _written(folder, name, kind, self.mart.tables[name]),
                    "columns": columns[name],
                    **({} if name in counted else {"untransformed": "nobody can link by it"}),
                }
                for name, kind in self.files.items()
            },
            "links": [link.as_mapping() for link in self.links],
            "policy": {"k": 2, "suppression": "50%", "overlap": "report"},
        }


def _written(folder: Path, name: str, kind: str, rows: Sequence[Record]) -> Any:
    """The location of a new source with these rows."""
    path = folder / f"{name}.{kind}"
    columns = list(rows[0])
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([row[column] or "" for column in columns] for row in rows)
        return str(path)
    if kind == "parquet":
        table = pa.table({c: pa.array([row[c] for row in rows], pa.string()) for c in columns})
        pq.write_table(table, path)
        return str(path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'{c} TEXT' for c in columns)})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(
            f"INSERT INTO t VALUES ({marks})", [tuple(row.values()) for row in rows]
        )
    connection.close()
    return {"url": f"sqlite:///{path}", "table": "t"}


@st.composite
def marts(draw: Draw) -> DrawnMart:
    """Two to four sources in a tree of links, the person's first.

    A source is linked with an earlier one by one of three kinds of links: its rows name a row of
    the other, several may name one, or each another one; or rows of the other name one of its rows.
    Only sources that have no further ones behind them may be absent.
    """
    names = ["person", *draw(st.sampled_from([["a"], ["a", "b"], ["a", "b", "c"]]))]
    parents = [0, *(draw(st.integers(0, number)) for number in range(len(names) - 1))]
    tables: dict[str, list[dict[str, Cell]]] = {
        "person": _rows(draw, "person", draw(st.integers(4, 14)))
    }
    links = []
    for number, name in enumerate(names[1:], start=1):
        parent = names[parents[number]]
        may_be_absent = number not in parents[number + 1 :] and draw(st.booleans())
        links.append(_linked(draw, tables, parent, name, may_be_absent))
    identifying = [
        (source, f"{source}_{kind}")
        for source in names
        for kind in draw(st.sampled_from([("q",), ("q", "n"), ("n",), ()]))
    ]
    ladders = {
        (source, column): LETTERS if column.endswith("q") else _numbers(tables[source], column)
        for source, column in identifying
    }
    key = draw(st.sampled_from([("person_id",), ("person_part", "person_id")]))
    mart = Mart(tables, [link.join for link in links], ("person", key), ladders)
    kept = [(source, f"{source}_v") for source in names]
    files = {name: draw(st.sampled_from(FILES)) for name in names}
    return DrawnMart(mart, links, identifying, kept, files)


def _rows(draw: Draw, source: str, number: int) -> list[dict[str, Cell]]:
    """Rows with an id of their own, a second part of it, a text, a number and a kept column."""
    texts = st.sampled_from(["a", "a", "b", "b", "c", "d", None])
    numbers = st.sampled_from([*NUMBERS, "1", "1", None])
    return [
        {
            f"{source}_id": f"{source}{i}",
            f"{source}_part": f"p{i % 2}",
            f"{source}_q": draw(texts),
            f"{source}_n": draw(numbers) if i else "1",
            f"{source}_v": f"v{i % 3}",
        }
        for i in range(number)
    ]


def _numbers(rows: Sequence[Record], column: str) -> Ladder:
    """The hierarchy `suppress` over the numbers that a source has."""
    values = {value for row in rows if (value := row[column]) is not None}
    return Ladder({value: (value, "*") for value in values})


def _linked(
    draw: Draw,
    tables: dict[str, list[dict[str, Cell]]],
    parent: str,
    name: str,
    may_be_absent: bool,
) -> DrawnLink:
    """A new source, with rows that are linked with those of an earlier one."""
    parents = tables[parent]
    shape = draw(st.sampled_from(["many", "one", "named"]))
    optional = name if may_be_absent else None
    if shape == "named":
        rows = _rows(draw, name, draw(st.integers(1, 5)))
        known: list[Cell] = [row[f"{name}_id"] for row in rows]
        nobody = [None, "nobody"] if may_be_absent else ["nobody"]
        targets = st.sampled_from([*known, *known, *known, *nobody])
        for row in parents:
            row[f"{parent}_to_{name}"] = draw(targets)
        tables[name] = rows
        join = Join(parent, (f"{parent}_to_{name}",), name, (f"{name}_id",), parent, optional)
        return DrawnLink(join, "many-to-one")
    owners = [(row[f"{parent}_id"], row[f"{parent}_part"]) for row in parents]
    if shape == "many":
        strangers = [("nobody", "p0"), (owners[0][0], "p1")]
        chosen = draw(st.lists(st.sampled_from([*owners, *strangers]), min_size=3, max_size=14))
    else:
        chosen = draw(st.lists(st.sampled_from(owners), min_size=1, unique=True))
    rows = _rows(draw, name, len(chosen))
    for row, (owner, part) in zip(rows, chosen, strict=True):
        row[f"{name}_of"], row[f"{name}_of_part"] = owner, part
    tables[name] = rows
    columns = draw(st.sampled_from([("of", "id"), ("of", "id", "of_part", "part")]))
    ours = tuple(f"{name}_{column}" for column in columns[::2])
    theirs = tuple(f"{parent}_{column}" for column in columns[1::2])
    many = name if shape == "many" else None
    return DrawnLink(
        Join(name, ours, parent, theirs, many, optional), "many-to-one" if many else "one-to-one"
    )


@dataclass(frozen=True)
class DrawnRequest:
    """A random request: its mapping, and how the oracle reads its parts."""

    mapping: Mapping[str, Any]
    identifying: Sequence[Column]
    kept: Sequence[Column]
    conditions: Sequence[Selection]
    exact: frozenset[Column]


@st.composite
def requests(draw: Draw, drawn: DrawnMart, *, plain: bool = False) -> DrawnRequest:
    """Some columns of some sources, up to two conditions, and all kinds of demands.

    A plain request asks for quasi-identifiers, if the mart has any, with k = 2 and no limits; so
    it is seldom refused.
    """
    every = [*drawn.identifying, *(() if plain and drawn.identifying else drawn.kept)]
    projected = draw(st.lists(st.sampled_from(every), min_size=1, max_size=4, unique=True))
    identifying = [column for column in projected if column in drawn.mart.ladders]
    limits = {}
    for column in identifying:
        if not plain and draw(st.integers(0, 3)) == 0:
            limits[column[1]] = draw(st.integers(0, drawn.mart.ladders[column].height))
    most = draw(st.sampled_from([0, 0, 1] if plain else [0, 0, 1, 2]))
    selected = draw(st.lists(_conditions(drawn), max_size=most, unique_by=lambda each: each[0]))
    mapping = {
        "asker": "somebody",
        "project": [column for _, column in projected],
        "select": [text for text, _, _ in selected],
        "k": 2 if plain else draw(st.sampled_from([2, 2, 3])),
        "suppression": draw(st.sampled_from([0, 0, "20%", "50%"])),
        "scope": draw(st.sampled_from(["source", "source", "joint"])),
        "search": {"strategy": draw(st.sampled_from(["box", "box", "priority-path"]))},
        "limits": limits,
        "keys": "drop" if plain else draw(st.sampled_from(["drop", "drop", "random"])),
        "priorities": {column: draw(st.sampled_from([0.2, 0.5, 1])) for _, column in identifying},
    }
    return DrawnRequest(
        mapping,
        identifying,
        [column for column in projected if column not in identifying],
        [condition for _, condition, _ in selected],
        frozenset(condition.column for _, condition, is_exact in selected if is_exact),
    )


def _conditions(drawn: DrawnMart) -> st.SearchStrategy[tuple[str, Selection, bool]]:
    """A condition as text, as the oracle reads it, and whether it names one exact value."""
    found: list[tuple[str, Selection, bool]] = []

    def add(text: str, column: Column, accepts: Callable[[Cell], bool], exact: bool) -> None:
        found.append((text, Selection(column, accepts), exact))

    for column in drawn.identifying:
        name = column[1]
        add(f"{name} is missing", column, lambda value: value is None, True)
        add(f"{name} is not missing", column, lambda value: value is not None, False)
        if drawn.mart.ladders[column] is LETTERS:
            add(f"{name} = ab", column, lambda value: value in ("a", "b"), False)
            add(f"{name} = a", column, lambda value: value == "a", True)
            add(f"{name} != b", column, lambda value: value in ("a", "c", "d"), False)
            add(f"{name} in [a, c]", column, lambda value: value in ("a", "c"), False)
        else:
            add(f"{name} >= 2", column, lambda value: value is not None and int(value) >= 2, False)
            add(f"{name} < 5", column, lambda value: value is not None and int(value) < 5, False)
    for column in drawn.kept:
        accepts: Callable[[Cell], bool] = lambda value: value == "v0"  # noqa: E731
        add(f"{column[1]} = v0", column, accepts, True)
    return st.sampled_from(found)

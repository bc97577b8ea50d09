"""Random catalogs of linked tables, and a plain join of them: dicts and lists, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Record = dict[str, Any]
Row = dict[str, Record | None]
"""A joined row: the record of each source, None where it is absent."""

MISSING = "NA"
KEYS = ["1", "01", "2", "a", "A", "a ", "é", "b,c"]


@dataclass(frozen=True)
class TestLink:
    """The child's key equals the parent's; `optional` says that the child may be absent."""

    __test__ = False
    parent: str
    child: str
    parent_columns: tuple[str, ...]
    child_columns: tuple[str, ...]
    kind: str
    optional: bool


@dataclass(frozen=True)
class Tables:
    """Sources s0 (which knows the persons), s1, ... with their records, and the links."""

    records: Mapping[str, Sequence[Record]]
    links: Sequence[TestLink]
    person: tuple[str, ...]
    numbers: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Columns (source and name) that are stored as numbers."""


def is_missing(value: Any) -> bool:
    return value in (None, "", MISSING)


def key_of(record: Record, columns: Sequence[str]) -> tuple[str, ...] | None:
    """The texts of a key; None where one is missing."""
    if any(is_missing(record[name]) for name in columns):
        return None
    return tuple(str(record[name]) for name in columns)


def path_to(tables: Tables, source: str) -> list[TestLink]:
    """The links from s0 to a source."""
    path: list[TestLink] = []
    while source != "s0":
        link = next(link for link in tables.links if link.child == source)
        path.insert(0, link)
        source = link.parent
    return path


def join(tables: Tables, used: set[str], *, outer: bool = False) -> list[Row]:
    """All rows of the sources that are used and of those on the way to s0."""
    links: list[TestLink] = []
    for source in sorted(used):
        links += [link for link in path_to(tables, source) if link not in links]
    names = ["s0", *(link.child for link in links)]
    rows: list[Row] = [{"s0": record} for record in tables.records["s0"]]
    for link in links:
        rows = _step(rows, link, tables.records[link.child], outer=outer)
    return [{name: row.get(name) for name in names} for row in rows]


def _step(rows: list[Row], link: TestLink, children: Sequence[Record], *, outer: bool) -> list[Row]:
    found: list[Row] = []
    matched: set[int] = set()
    for row in rows:
        parent = row.get(link.parent)
        key = None if parent is None else key_of(parent, link.parent_columns)
        partners = [
            (number, child)
            for number, child in enumerate(children)
            if key is not None and key_of(child, link.child_columns) == key
        ]
        matched |= {number for number, _ in partners}
        found += [{**row, link.child: child} for _, child in partners]
        if not partners and (outer or link.optional):
            found.append(row)
    if outer:
        found += [{link.child: c} for number, c in enumerate(children) if number not in matched]
    return found


def accepted(row: Row, only: Mapping[tuple[str, str], frozenset[str | None]]) -> bool:
    """Whether every selected column has an accepted value; an absent source is missing."""
    for (source, name), texts in only.items():
        record = row[source]
        value = None if record is None or is_missing(record[name]) else str(record[name])
        if value not in texts:
            return False
    return True


@st.composite
def tables(draw: st.DrawFn, most: int = 4) -> Tables:
    """Two to four sources in a tree, with keys of one or two columns, of texts or numbers."""
    size = draw(st.integers(2, most))
    names = [f"s{i}" for i in range(size)]
    rows = {name: draw(st.integers(1, 5)) for name in names}
    parents = {names[i]: names[draw(st.integers(0, i - 1))] for i in range(1, size)}
    records: dict[str, list[Record]] = {
        name: [
            {"id": f"{name}.{i}", "v": draw(st.sampled_from([None, "", MISSING, "x", "y", "y "]))}
            for i in range(rows[name])
        ]
        for name in names
    }
    links, numbers = [], set()
    for child, parent in parents.items():
        is_leaf = child not in parents.values()
        kind = draw(st.sampled_from(["one-to-one", "one-to-many", "many-to-one"]))
        optional = is_leaf and draw(st.booleans())
        width = draw(st.integers(1, 2))
        link = TestLink(
            parent,
            child,
            tuple(f"{child}_p{i}" for i in range(width)),
            tuple(f"{child}_c{i}" for i in range(width)),
            kind,
            optional,
        )
        links.append(link)
        as_numbers = [draw(st.booleans()) for _ in range(width)]
        pools = [range(1, 9) if number else KEYS for number in as_numbers]
        one_parent, one_child = (each == "one" for each in kind.split("-to-"))
        for source, columns, one, may_lack in (
            (parent, link.parent_columns, one_parent, optional),
            (child, link.child_columns, one_child, False),
        ):
            keys = draw(_keys(pools, rows[source], unique=one, may_lack=may_lack))
            for record, key in zip(records[source], keys, strict=True):
                record |= dict(zip(columns, key, strict=True))
            for name, number in zip(columns, as_numbers, strict=True):
                if number and draw(st.booleans()):
                    numbers.add((source, name))
    persons = draw(st.integers(1, 2))
    for record in records["s0"]:
        texts = st.sampled_from(["a", "a,b", "b", "1:a", "b,c"])
        record |= {f"person{i}": draw(texts) for i in range(persons)}
    return Tables(records, links, tuple(f"person{i}" for i in range(persons)), frozenset(numbers))


def _keys(
    pools: Sequence[Sequence[Any]], number: int, *, unique: bool, may_lack: bool
) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Keys of a source's records; where they may lack, some have a missing part."""
    lacking: list[Any] = [None] if may_lack else []
    parts = [st.sampled_from([*pool, *lacking]) for pool in pools]
    whole = st.tuples(*parts)
    if not unique:
        return st.lists(whole, min_size=number, max_size=number)
    distinct = st.tuples(*(st.sampled_from(list(pool)) for pool in pools))
    return st.lists(distinct, min_size=number, max_size=number, unique=True)

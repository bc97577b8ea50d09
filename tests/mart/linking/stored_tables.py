"""Tables stored in places of several kinds with their catalog, and what linking gives of them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import servers
from mart.linking.join_oracle import MISSING, Record, Row, Tables, accepted, join, tables
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.linking import LinkedTable, linked
from shoal.mart.read import catalog_from_mapping
from shoal.mart.sources import OpenSources

Only = Mapping[tuple[str, str], frozenset[str | None]]


def put(folder: Path, name: str, kind: str, records: Sequence[Record], numbers: set[str]) -> Any:
    """Store records as a table of some kind; returns what a catalog says of it."""
    columns = list(records[0])
    if kind == "csv":
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(records)
        return f"{name}.csv"
    values = {
        column: [_stored(record[column], is_number=column in numbers) for record in records]
        for column in columns
    }
    types = {c: pa.int64() if c in numbers else pa.string() for c in columns}
    table = pa.table({c: pa.array(values[c], types[c]) for c in columns})
    if kind == "parquet":
        pq.write_table(table, folder / f"{name}.parquet")
        return f"{name}.parquet"
    if kind == "spark":
        (folder / name).mkdir()
        pq.write_table(table, folder / name / "part.parquet")
        return {"spark": str(folder / name), "format": "parquet"}
    url = kind if "://" in kind else f"sqlite:///{folder / kind}.db"
    servers.load(url, name, table)
    return {"url": url, "table": name}


def _stored(value: Any, *, is_number: bool) -> Any:
    return value if value is None or is_number else str(value)


def catalog_of(folder: Path, given: Tables, kinds: Mapping[str, str]) -> Catalog:
    """The tables stored in these kinds, and their catalog."""
    described = {}
    for name, records in given.records.items():
        numbers = {column for source, column in given.numbers if source == name}
        where = put(folder, name, kinds[name], records, numbers)
        shared = {"id": "quasi-identifier", "v": "quasi-identifier"}
        described[name] = {"source": where, "columns": shared}
    links = []
    for link in given.links:
        between = {link.parent: list(link.parent_columns), link.child: list(link.child_columns)}
        optional = {"optional": link.child} if link.optional else {}
        links.append({"between": between, "kind": link.kind, **optional})
    person = {"source": "s0", "columns": list(given.person)}
    missing = {"match": "extended", "values": [MISSING]}
    mapping = {"mart": "test", "log": "log", "person": person, "sources": described}
    return catalog_from_mapping({**mapping, "links": links, "missing": missing}, folder)


def link(
    catalog: Catalog, used: Sequence[str], only: Only, *, outer: bool = False, spark: Any = None
) -> tuple[LinkedTable, list[dict[str, Any]]]:
    """The ids of the joined records and the hidden columns, as they are linked."""
    columns = {name: ColumnRef(name, "id") for name in used}
    accepts = {ColumnRef(*column): texts for column, texts in only.items()}
    with (
        OpenSources(catalog, spark=spark) as sources,
        linked(sources, columns, accepts, outer=outer) as table,
    ):
        return table, pq.read_table(table.options.path).to_pylist()


def check(
    given: Tables,
    catalog: Catalog,
    used: Sequence[str],
    only: Only,
    *,
    outer: bool = False,
    spark: Any = None,
) -> None:
    """Linking gives the rows of the plain join, and its persons are the persons."""
    table, found = link(catalog, used, only, outer=outer, spark=spark)
    sources = {*used, *(source for source, _ in only)}
    expected = [row for row in join(given, sources, outer=outer) if accepted(row, only)]
    assert Counter(tuple(row[name] for name in used) for row in found) == Counter(
        tuple(_id(row, name) for name in used) for row in expected
    )
    pairs = Counter((*(row[n] for n in used), row[table.person]) for row in found)
    assert table.rows == len(found)
    if not outer:
        assert table.persons == len({_person(given, row) for row in expected})
    assert len({row[table.random_ids] for row in found}) == len({p for *_, p in pairs})
    assert len({(row[table.random_ids], row[table.person]) for row in found}) == len(
        {p for *_, p in pairs}
    )
    if "s0" in used:
        of_id = {record["id"]: record for record in given.records["s0"]}
        both = {
            (row[table.person], row["s0"] and tuple(of_id[row["s0"]][c] for c in given.person))
            for row in found
        }
        assert len({one for one, _ in both}) == len({other for _, other in both}) == len(both)
    if outer:
        for name in used:
            for row in found:
                assert (row[table.record[name]] is None) == (row[name] is None)


def _id(row: Row, name: str) -> str | None:
    record = row[name]
    return None if record is None else str(record["id"])


def _person(given: Tables, row: Row) -> tuple[str, ...]:
    record = row["s0"]
    assert record is not None
    return tuple(record[column] for column in given.person)


@st.composite
def requests(
    draw: st.DrawFn, kinds: Sequence[str]
) -> tuple[Tables, dict[str, str], list[str], Only]:
    """Tables, where each is stored, the sources that are read, and a selection."""
    given = draw(tables())
    names = list(given.records)
    stored = {name: draw(st.sampled_from(kinds)) for name in names}
    used = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    texts = st.frozensets(st.sampled_from([None, "x", "y", "y "]))
    only = draw(st.dictionaries(st.sampled_from(names), texts, max_size=2))
    return given, stored, used, {(name, "v"): only[name] for name in only}

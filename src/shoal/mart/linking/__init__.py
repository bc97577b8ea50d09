"""Linking: the sources of a request joined to one table.

`linked` is the whole: it plans the tree of sources that are joined (plan.py), checks their keys
(keys.py), finds out which columns are read and which are computed (columns.py), checks that the
computed ones have values in whole sources (derived.py), fetches each source (units.py says which
are joined by their own engine), joins them (joining.py), and writes the rows to a private Parquet
file, which is there as long as the context lasts.

Everything after the join works on that file as on any other source. Beside the columns that were
asked for it has hidden ones: who the person is, a random id of the person, and, in an outer join,
the number of each source's record.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.engines.duckdb.session import identifier, literal
from shoal.engines.duckdb.writing import check_names_for
from shoal.engines.options import FileOptions
from shoal.mart.catalog import ColumnRef
from shoal.mart.linking.columns import is_derived, key_columns, reading_of
from shoal.mart.linking.derived import check_derived
from shoal.mart.linking.joining import Accepted, Joined, joined
from shoal.mart.linking.keys import check_keys
from shoal.mart.linking.plan import plan_of

if TYPE_CHECKING:
    from shoal.mart.linking.plan import Plan
    from shoal.mart.opened import OpenedSources


PARQUET = "FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE_BYTES '8MB', USE_TMP_FILE false"
"""How the rows are written; small row groups, so that hundreds of columns need little memory."""
RANDOM_IDS = "person_id"
"""The name of the column of random ids, where no other column has it."""


@dataclass(frozen=True)
class LinkedTable:
    """The joined rows in a private Parquet file.

    `person` and `random_ids` are hidden columns: one text for each person, also of a key of several
    columns, and a random text for each person that nobody can guess and no other link repeats. In
    an outer join `record` names, by source, the hidden column with the number of its record, null
    where the source is absent in a row. `sources` are all that were joined.
    """

    options: FileOptions
    person: str
    random_ids: str
    rows: int
    persons: int
    sources: tuple[str, ...]
    record: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def linked(
    sources: OpenedSources,
    columns: Mapping[str, ColumnRef],
    only: Accepted,
    *,
    outer: bool = False,
    also: Collection[str] = (),
) -> Iterator[LinkedTable]:
    """The sources of these columns joined to one table, with the person of each row.

    `columns` says what each column of the table is. `only` lists the accepted texts of selected
    columns, which need not be among them; a row passes when each is accepted, and an absent
    optional source counts as missing. With `outer` rows without partners stay, of every source.
    `also` are sources to join of which no column is read.
    """
    catalog = sources.catalog
    asked = reading_of(catalog, (*columns.values(), *only))
    plan = plan_of(catalog, {*asked.sources, *also})
    check_keys(sources, plan)
    reading = reading_of(catalog, (*columns.values(), *only, *key_columns(catalog, plan)))
    check_derived(sources, reading)
    with joined(sources, plan, reading, only, outer=outer) as found:
        yield _written(sources, plan, found, columns, only)


def _written(
    sources: OpenedSources,
    plan: Plan,
    found: Joined,
    columns: Mapping[str, ColumnRef],
    only: Accepted,
) -> LinkedTable:
    """The rows that pass, in a file of the session's private folder."""
    person, *records = _hidden(
        columns, ["person", *(f"record_{i}" for i in range(len(found.records)))]
    )
    random_id = _name_of_ids(columns)
    key = person_key([found.text(ref) for ref in _person(sources)])
    values = {
        **{name: found.column(ref) for name, ref in columns.items()},
        person: key,
        random_id: f"substr(sha256({literal(secrets.token_hex(32))} || {key}), 1, 32)",
        **dict(zip(records, found.records.values(), strict=True)),
    }
    check_names_for("parquet", tuple(values))
    conditions = [
        found.accepts(number, ref, texts)
        for number, (ref, texts) in enumerate(only.items())
        if found.records or ref.source in plan.optional or is_derived(sources.catalog, ref)
    ]
    selected = ", ".join(f"{sql} AS {identifier(name)}" for name, sql in values.items())
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    path = found.session.folder / "linked.parquet"
    with found.explaining():
        rows = found.session.copy(
            f"COPY (SELECT {selected} FROM ({found.relation.query}){where})"
            f" TO {literal(str(path))} ({PARQUET})"
        )
        number = f"SELECT count(DISTINCT {identifier(person)}) FROM {_file(path)}"
        persons = int(found.session.table(number).column(0)[0].as_py())
    return LinkedTable(
        options=FileOptions(str(path), "parquet"),
        person=person,
        random_ids=random_id,
        rows=rows,
        persons=persons,
        sources=plan.sources,
        record=dict(zip(found.records, records, strict=True)),
    )


def person_key(texts: list[str]) -> str:
    """SQL for one text of a key; of several columns each text has its length before it.

    So no two keys have one text: ('a', 'b,c') is not ('a,b', 'c'). It is null where one of them is.
    """
    if len(texts) == 1:
        return texts[0]
    return " || ".join(f"length({text}) || ':' || {text}" for text in texts)


def _person(sources: OpenedSources) -> list[ColumnRef]:
    person = sources.catalog.person
    return [ColumnRef(person.source, column) for column in person.columns]


def _file(path: Path) -> str:
    return f"read_parquet({literal(str(path))})"


def _name_of_ids(taken: Collection[str]) -> str:
    """What the column of random ids is called, since it may be released."""
    name = RANDOM_IDS
    while name in {each.casefold() for each in taken}:
        name += "_"
    return name


def _hidden(taken: Collection[str], names: Collection[str]) -> list[str]:
    """Names that no column has, whatever its case."""
    prefix = "#"
    while any(name.casefold().startswith(prefix) for name in taken):
        prefix += "#"
    return [f"{prefix}{name}" for name in names]

"""Overlaps are found in the sources themselves, whatever engine they are on, by the log alone."""

from __future__ import annotations

import csv
import sqlite3
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mart.overlap_oracle import (
    PARENT,
    Found,
    ReleaseSpec,
    Tables,
    overlaps_of_two,
    recipe_of,
)
from mart.test_overlap import SOURCES, USED, X, counts, mart
from shoal.errors import BadData
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.conditions import Condition
from shoal.mart.log import Log
from shoal.mart.overlap import Overlap, find_overlaps
from shoal.mart.read import catalog_from_mapping
from shoal.mart.recipe import Recipe
from shoal.mart.sources import OpenSources

TREE = {"tree": {"*": {"[a-b]": ["a", "b"], "[c-d]": ["c", "d"]}}}


def written(tables: Tables, folder: Path) -> Catalog:
    """The mart in two CSV files, a Parquet file and a table of SQLite."""
    for source in SOURCES:
        rows = [
            [f"{source}{i}", f"{PARENT.get(source, '')}{record.parent}", *record.values.values()]
            for i, record in enumerate(tables[source])
        ]
        _write(source, [list(column) for column in zip(*rows, strict=True)] or [[]] * 4, folder)
    column = {"role": "quasi-identifier", "hierarchy": TREE}
    places: dict[str, Any] = {
        "patient": "patient.csv",
        "findings": {"url": f"sqlite:///{folder}/mart.db", "table": "findings"},
        "genes": "genes.parquet",
        "deaths": "deaths.csv",
    }
    links = [
        {"between": {"findings": "above", "patient": "id"}, "kind": "many-to-one"},
        {"between": {"genes": "above", "findings": "id"}, "kind": "many-to-one"},
        {
            "between": {"deaths": "above", "patient": "id"},
            "kind": "one-to-one",
            "optional": "deaths",
        },
    ]
    return catalog_from_mapping(
        {
            "mart": "random",
            "log": "mart.log",
            "person": {"source": "patient", "columns": ["id"]},
            "sources": {
                name: {"source": side, "columns": {"x": column, "y": column}}
                for name, side in places.items()
            },
            "links": links,
            # Numbers of records must not be taken for missing values.
            "missing": {"values": ["1", "2"]},
        },
        folder,
    )


def _write(source: str, columns: list[list[Any]], folder: Path) -> None:
    names = ["id", "above", "x", "y"]
    if source == "genes":
        arrays = [pa.array(column, pa.string()) for column in columns]
        pq.write_table(pa.table(arrays, names=names), folder / "genes.parquet")
    elif source == "findings":
        with sqlite3.connect(folder / "mart.db") as database:
            database.execute("CREATE TABLE findings (id TEXT, above TEXT, x TEXT, y TEXT)")
            rows = list(zip(*columns, strict=True))
            database.executemany("INSERT INTO findings VALUES (?, ?, ?, ?)", rows)
        database.close()
    else:
        with (folder / f"{source}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([names, *zip(*columns, strict=True)])


@st.composite
def requests(draw: st.DrawFn) -> ReleaseSpec:
    sources = draw(st.sampled_from(USED))
    mine = [ColumnRef(source, name) for source in sources for name in "xy"]
    some = st.frozensets(st.sampled_from("abcd"), min_size=2) | st.just(frozenset([None]))
    return ReleaseSpec(
        sources=sources,
        columns=tuple(draw(st.lists(st.sampled_from(mine), unique=True, max_size=2))),
        levels={ref: draw(st.sampled_from([1, 2, 0])) for ref in mine},
        only=draw(st.dictionaries(st.sampled_from(mine), some, max_size=1)),
        scope=draw(st.sampled_from(["source", "joint"])),
        optional=("deaths",) if "deaths" in sources else (),
        tied=draw(st.sampled_from([False, False, True])),
    )


def logged(tables: Tables, spec: ReleaseSpec) -> Recipe:
    """The recipe as a request would log it, with its selection."""
    conditions = tuple(
        Condition(column=str(ref), operator="missing")
        if None in values
        else Condition(column=str(ref), operator="in", values=tuple(sorted(map(str, values))))
        for ref, values in spec.only.items()
    )
    return replace(recipe_of(tables, spec), conditions=conditions)


def overlaps(catalog: Catalog, new: Recipe, *earlier: Recipe) -> tuple[Overlap, ...]:
    """The overlaps of a new release with what the log says of earlier ones."""
    log = Log(catalog.log)
    for recipe in earlier:
        log.append({"kind": "released", "recipe": recipe.to_json()})
    with OpenSources(catalog) as sources:
        return find_overlaps(sources, new, log.entries())


@pytest.mark.slow
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32), new=requests(), old=requests())
def test_overlaps_in_real_sources_are_those_of_the_oracle(
    seed: int, new: ReleaseSpec, old: ReleaseSpec
) -> None:
    tables = mart(seed)
    with TemporaryDirectory() as folder:
        catalog = written(tables, Path(folder))
        found = overlaps(catalog, logged(tables, new), logged(tables, old))
    expected: Found = {} if new == old else overlaps_of_two(tables, new, old)
    assert counts(found) == expected


@pytest.fixture
def tables() -> Tables:
    return mart(7)


ALL = ReleaseSpec(("patient",), (X,), {X: 2})


def test_releases_with_the_same_recipe_are_compared_once(tables: Tables, tmp_path: Path) -> None:
    catalog = written(tables, tmp_path)
    few = replace(ALL, only={X: frozenset("a")}, columns=(), k=20)
    old = logged(tables, few)
    found = overlaps(catalog, logged(tables, ALL), old, logged(tables, ALL), old)
    assert {each.earlier for each in found} == {(1, 3)}


def test_the_same_release_again_reads_no_source(tables: Tables, tmp_path: Path) -> None:
    catalog = written(tables, tmp_path)
    (tmp_path / "patient.csv").unlink()
    assert overlaps(catalog, logged(tables, ALL), logged(tables, ALL)) == ()


def test_refusals_and_failures_in_the_log_are_not_compared(tables: Tables, tmp_path: Path) -> None:
    catalog = written(tables, tmp_path)
    Log(catalog.log).append({"kind": "refused", "code": "policy", "reason": "k is below 5"})
    assert overlaps(catalog, logged(tables, ALL)) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"patient": (ColumnRef("patient", "gone"),)}},
        {"levels": {X: 9}},
        {"sources": ("patient", "gone")},
        {"conditions": (Condition(column="patient.x", operator="=", values=("z",)),)},
        {"conditions": (Condition(column="patient.gone", operator="missing"),)},
        {"conditions": (Condition(column="patient.x", operator="<", values=("4",)),)},
        {"rows": 1000},
    ],
)
def test_a_release_that_cannot_be_made_any_more_is_not_excluded(
    tables: Tables, tmp_path: Path, change: dict[str, Any]
) -> None:
    catalog = written(tables, tmp_path)
    old = replace(logged(tables, ALL), **change)
    (found,) = overlaps(catalog, logged(tables, ALL), old)
    assert (found.kind, found.earlier, found.source) == ("changed", (1,), "patient")


def test_a_source_that_is_gone_is_an_error_and_no_change(tables: Tables, tmp_path: Path) -> None:
    catalog = written(tables, tmp_path)
    old = logged(tables, ALL)
    (tmp_path / "patient.csv").unlink()
    with pytest.raises(BadData) as raised:
        overlaps(catalog, replace(old, k=3), old)
    assert raised.value.code == "no-file"


def test_records_that_were_added_since_are_a_change(tables: Tables, tmp_path: Path) -> None:
    catalog = written(tables, tmp_path)
    old = logged(tables, ALL)
    more = {**tables, "patient": [*tables["patient"], tables["patient"][0]]}
    with (tmp_path / "patient.csv").open("a", newline="") as file:
        csv.writer(file).writerow(["new", "", *tables["patient"][0].values.values()])
    new = logged(more, replace(ALL, levels={X: 1}))
    assert overlaps(catalog, new, old) == (Overlap("changed", (1,), "patient"),)

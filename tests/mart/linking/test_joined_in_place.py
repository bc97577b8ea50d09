"""Sources in one database, or in one Spark session, are joined there, with the same keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import servers
from mart.linking.join_oracle import Tables, TestLink
from mart.linking.stored_tables import Only, catalog_of, check, requests
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.linking.columns import key_columns
from shoal.mart.linking.plan import plan_of
from shoal.mart.linking.units import Unit, units_of
from shoal.mart.read import catalog_from_mapping
from shoal.mart.sources import OpenSources

DATABASES = ("sqlite", "postgres", "mariadb")


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(f"{request.param}_url")
    assert isinstance(found, str)
    return found


def units(sources: OpenSources) -> tuple[Unit, ...]:
    """What is fetched at once when all sources are joined."""
    catalog = sources.catalog
    plan = plan_of(catalog, catalog.sources)
    return units_of(sources, plan, tuple(key_columns(catalog, plan)), apart=False)


def test_only_joined_rows_leave_a_database(url: str, tmp_path: Path) -> None:
    given = thousand_and_three()
    catalog = catalog_of(tmp_path, given, dict.fromkeys(given.records, url))
    with OpenSources(catalog) as sources:
        (unit,) = units(sources)
        assert unit.sources == ("s0", "s1")
        with unit.table.fetched(list(unit.names.values()), {}) as rows:
            assert rows.read_all().num_rows == 3
    check(given, catalog, ["s0", "s1"], {("s1", "v"): frozenset(["x"])})


def thousand_and_three() -> Tables:
    """A thousand persons, of whom three have a record in the other table."""
    persons = [{"id": f"s0.{i}", "v": "x", "key": f"k{i}", "person0": f"p{i}"} for i in range(1000)]
    others = [{"id": f"s1.{i}", "v": "xy"[i % 2], "of": f"k{i * 7}"} for i in range(3)]
    links = [TestLink("s0", "s1", ("key",), ("of",), "one-to-many", optional=False)]
    return Tables({"s0": persons, "s1": others}, links, ("person0",))


@pytest.mark.slow
@pytest.mark.parametrize("engine", DATABASES)
def test_a_database_joins_as_a_plain_join_does(engine: str, request: pytest.FixtureRequest) -> None:
    kinds = [str(request.getfixturevalue(f"{engine}_url"))]
    _check_random(kinds, examples=8)


@pytest.mark.slow
def test_files_and_databases_are_linked_with_each_other(request: pytest.FixtureRequest) -> None:
    urls = [str(request.getfixturevalue(f"{engine}_url")) for engine in DATABASES]
    _check_random(["csv", "parquet", *urls], examples=12)


def _check_random(kinds: Sequence[str], *, examples: int, spark: Any = None) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(case=requests(kinds))
    def run(case: tuple[Tables, dict[str, str], list[str], Only]) -> None:
        tables, stored, used, only = case
        with TemporaryDirectory() as folder:
            catalog = catalog_of(Path(folder), tables, stored)
            check(tables, catalog, used, only, spark=spark)

    run()


TEXTS = {
    "mariadb": ("VARCHAR(9)", "CHAR(9) CHARACTER SET latin1"),
    "postgres": ("char(5)", "text"),
    "sqlite": ("TEXT COLLATE NOCASE", "INTEGER"),
}


@pytest.mark.parametrize("engine", DATABASES)
def test_keys_are_compared_by_their_bytes(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Not by collations that ignore case, nor with the spaces that pad a text."""
    url = str(request.getfixturevalue(f"{engine}_url"))
    one, other = TEXTS[engine]
    _make(url, one, ["'ab'", "'AB'", "'1'", "'ä'"], other, ["'ab'", "'Ab'", "'1'", "'a'"])
    with OpenSources(_catalog(url, tmp_path)) as sources:
        assert len(units(sources)) == 1
    assert _linked(url, tmp_path) == [("'1'", "'1'"), ("'ab'", "'ab'")]


def test_keys_that_a_database_spells_differently_are_compared_here(
    postgres_url: str, tmp_path: Path
) -> None:
    """A double and a text are equal when their texts are: 0.5 is, 1 is not, for it is 1.0."""
    _make(postgres_url, "double precision", ["0.5", "1", "2"], "text", ["'0.5'", "'1'", "'2.0'"])
    with OpenSources(_catalog(postgres_url, tmp_path)) as sources:
        assert len(units(sources)) == 2
    assert _linked(postgres_url, tmp_path) == [("0.5", "'0.5'"), ("2", "'2.0'")]


def _make(url: str, one: str, keys: Sequence[str], other: str, other_keys: Sequence[str]) -> None:
    for name, kind, literals in (("one", one, keys), ("other", other, other_keys)):
        rows = ", ".join(f"({_quoted(each)}, {each})" for each in literals)
        servers.run_sql(
            url,
            f"DROP TABLE IF EXISTS keys_{name}",
            f"CREATE TABLE keys_{name} (shown VARCHAR(20), k {kind})",
            f"INSERT INTO keys_{name} VALUES {rows}",
        )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _catalog(url: str, folder: Path) -> Catalog:
    sources = {
        name: {
            "source": {"url": url, "table": f"keys_{name}"},
            "columns": {"shown": "quasi-identifier"},
        }
        for name in ("one", "other")
    }
    link = {"between": {"one": "k", "other": "k"}, "kind": "one-to-one"}
    person = {"source": "one", "columns": ["k"]}
    return catalog_from_mapping(
        {"mart": "m", "log": "log", "person": person, "sources": sources, "links": [link]}, folder
    )


def _linked(url: str, folder: Path) -> list[tuple[str, str]]:
    from shoal.mart.linking import linked

    columns = {name: ColumnRef(name, "shown") for name in ("one", "other")}
    with OpenSources(_catalog(url, folder)) as sources, linked(sources, columns, {}) as table:
        rows = pq.read_table(table.options.path).to_pylist()
    return sorted((row["one"], row["other"]) for row in rows)


def test_only_joined_rows_leave_spark(spark_session: Any, tmp_path: Path) -> None:
    given = thousand_and_three()
    catalog = catalog_of(tmp_path, given, dict.fromkeys(given.records, "spark"))
    with OpenSources(catalog, spark=spark_session) as sources:
        (unit,) = units(sources)
        assert unit.sources == ("s0", "s1")
        with unit.table.fetched(list(unit.names.values()), {}) as rows:
            assert rows.read_all().num_rows == 3
    check(given, catalog, ["s0", "s1"], {("s1", "v"): frozenset(["x"])}, spark=spark_session)


@pytest.mark.slow
def test_spark_joins_as_a_plain_join_does(spark_session: Any) -> None:
    _check_random(["spark", "spark", "csv"], examples=4, spark=spark_session)

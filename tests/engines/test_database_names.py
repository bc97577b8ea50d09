"""Names of tables, schemas and columns: whatever a database allows."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from servers import load, rows_of, run_sql
from shoal.engines.base import Generalization, Recoding
from shoal.engines.database import check_table, open_table, stage_rows
from shoal.engines.opening import recode_into
from shoal.engines.options import DatabaseOptions, DatabaseTarget

NAMES = ["select", "Upper Case", "a.b", 'quo"te', "back`tick", "per%cent", "größe", "a:b"]


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.mark.parametrize("name", NAMES)
def test_any_name_works_for_tables_and_columns(url: str, name: str) -> None:
    load(url, name, pa.table({name: ["a", "b"], "x": [1, 2]}))
    plan = Recoding(
        columns=(name, "x"),
        generalized={name: Generalization(("a", "b"), ("*", "*"))},
        classes=pa.table({name: ["*"]}),
        blanked=(),
    )
    out = f"{name} out"
    with open_table(DatabaseOptions(url, name)) as source:
        assert [column.name for column in source.columns()] == [name, "x"]
        whole = '"' + out.replace('"', '""') + '"'
        recode_into(source, plan, DatabaseTarget(url, whole, replace=True)).publish()
    assert sorted(rows_of(url, out)) == [("*", 1), ("*", 2)]


def test_a_dot_parts_the_schema_unless_the_whole_name_exists(postgres_url: str) -> None:
    url = postgres_url
    run_sql(url, 'DROP TABLE IF EXISTS "stock.items"', "DROP SCHEMA IF EXISTS stock CASCADE")
    run_sql(url, "CREATE SCHEMA stock", "CREATE TABLE stock.items AS SELECT 'schema' AS x")
    run_sql(url, 'CREATE TABLE stock."a.b" AS SELECT 1 AS y')

    def first(table: str) -> str:
        with open_table(DatabaseOptions(url, table)) as source:
            return str(source.count_by([source.columns()[0].name]).column(0)[0].as_py())

    assert first("stock.items") == first('"stock"."items"') == "schema"
    assert first('stock."a.b"') == "1"
    run_sql(url, "CREATE TABLE \"stock.items\" AS SELECT 'whole' AS x")
    assert first("stock.items") == "whole"


def test_a_release_goes_to_the_schema_that_is_named(postgres_url: str, mariadb_url: str) -> None:
    rows = pa.table({"x": ["a"]})
    for url in (postgres_url, mariadb_url):
        run_sql(url, "DROP SCHEMA IF EXISTS elsewhere" + " CASCADE" * ("postgres" in url))
        run_sql(url, "CREATE SCHEMA elsewhere")
        with stage_rows(DatabaseTarget(url, "elsewhere.out"), rows.to_reader()) as staged:
            assert staged.publish().startswith("elsewhere.out of ")
        assert run_sql(url, "SELECT x FROM elsewhere.out") == [("a",)]


def test_views_and_queries_are_sources(url: str) -> None:
    run_sql(url, "DROP VIEW IF EXISTS small_numbers")
    load(url, "numbered", pa.table({"x": ["a", "a", "b"], "n": [1, 2, 3]}))
    run_sql(url, "CREATE VIEW small_numbers AS SELECT x FROM numbered WHERE n < 3")
    with open_table(DatabaseOptions(url, "small_numbers")) as source:
        assert source.count_by(["x"]).to_pydict() == {"x": ["a"], "#records": [2]}
    query = "SELECT x, ':n' AS \"c\" FROM numbered -- all\n WHERE x LIKE '%b%'; "
    query = query.replace('"c"', "`c`") if "mariadb" in url else query
    with open_table(DatabaseOptions(url, query=query)) as source:
        assert source.count_by(["x", "c"]).to_pydict() == {"x": ["b"], "c": [":n"], "#records": [1]}


def test_a_view_is_no_output(url: str) -> None:
    run_sql(url, "DROP VIEW IF EXISTS shown_view")
    run_sql(url, "CREATE VIEW shown_view AS SELECT 1 AS x")
    with pytest.raises(shoal.BadOutput) as caught:
        check_table(DatabaseTarget(url, "shown_view", replace=True))
    assert caught.value.code == "output-not-a-table"


def test_a_name_that_would_be_cut_off_is_refused(postgres_url: str) -> None:
    with pytest.raises(shoal.BadOutput) as caught:
        check_table(DatabaseTarget(postgres_url, "ä" * 40))
    assert caught.value.code == "name-too-long"
    rows = pa.table({"c" * 64: ["a"]})
    with pytest.raises(shoal.BadOutput) as caught:
        stage_rows(DatabaseTarget(postgres_url, "cut"), rows.to_reader())
    assert caught.value.code == "name-too-long"

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from servers import load
from shoal.cli.app import app
from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb.files import open_files
from shoal.engines.opening import open_source, recode_into
from shoal.engines.options import DatabaseOptions, FileOptions, FileTarget, Member, UnitedOptions
from shoal.errors import BadData

ROWS: list[tuple[str | None, ...]] = [
    ("f", "20", "x"),
    ("m", "21", None),
    ("f", None, "y"),
    ("m", "20", "x"),
]


def csv_file(path: Path, header: str, rows: list[tuple[str | None, ...]]) -> Path:
    lines = [header, *(",".join(cell or "" for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def members(folder: Path, rows: list[tuple[str | None, ...]] = ROWS) -> UnitedOptions:
    """A CSV file, a Parquet file with other names, and a table of SQLite in another order."""
    csv_file(folder / "a.csv", "sex,age,ward", rows)
    table = pa.table(
        {
            "station": pa.array([row[2] for row in rows]),
            "note": pa.array(["-" for _ in rows]),
            "sex": pa.array([row[0] for row in rows]),
            "alter": pa.array([None if r[1] is None else int(r[1]) for r in rows], pa.int64()),
        }
    )
    pq.write_table(table, folder / "b.parquet")
    with closing(sqlite3.connect(folder / "c.db")) as database:
        database.execute("CREATE TABLE people (age INTEGER, ward TEXT, sex TEXT)")
        database.executemany(
            "INSERT INTO people VALUES (?, ?, ?)", [(row[1], row[2], row[0]) for row in rows]
        )
        database.commit()
    return UnitedOptions(
        (
            Member(FileOptions(str(folder / "a.csv"))),
            Member(
                FileOptions(str(folder / "b.parquet")),
                {"alter": "age", "station": "ward"},
                ("station", "sex", "alter"),
            ),
            Member(DatabaseOptions(f"sqlite:///{folder / 'c.db'}", "people")),
        )
    )


def released(path: Path) -> Counter[tuple[Any, ...]]:
    with closing(open_files(FileOptions(str(path)))) as source:
        names = [column.name for column in source.columns()]
        return Counter(
            {
                tuple(row[name] for name in names): row["#records"]
                for row in source.count_by(names).to_pylist()
            }
        )


def all_of(*names: str) -> Recoding:
    """Everything passes as it is; sex is generalized to one label."""
    return Recoding(
        tuple(names),
        {"sex": Generalization(("f", "m"), ("*", "*"), "*")},
        pa.table({"sex": ["*"]}),
        ("sex",),
    )


def test_members_are_counted_as_one_table(tmp_path: Path) -> None:
    with closing(open_source(members(tmp_path))) as source:
        assert [column.name for column in source.columns()] == ["sex", "age", "ward"]
        counted = source.count_by(["age", "sex"])
        found = {(r["age"], r["sex"]): r["#records"] for r in counted.to_pylist()}
        assert found == {("20", "f"): 3, ("21", "m"): 3, (None, "f"): 3, ("20", "m"): 3}
        assert source.count_by([]).to_pydict() == {"#records": [12]}
        assert source.count_by(["age"], at_most=1).num_rows == 2
        assert source.count_distinct(["age", "ward"]) == 3
        assert source.count_by(["ward"], complete=["age"]).num_rows == 2
        assert source.fingerprint() is None


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), min_size=1, max_size=5),
        min_size=1,
        max_size=3,
    ),
    st.none() | st.integers(1, 4),
)
def test_counts_of_the_union_are_those_of_all_records(
    tmp_path: Path, tables: list[list[tuple[str, str]]], at_most: int | None
) -> None:
    paths = [csv_file(tmp_path / f"{i}.csv", "u,v", [*rows]) for i, rows in enumerate(tables)]
    options = UnitedOptions(tuple(Member(FileOptions(str(path))) for path in paths))
    expected = Counter(row for rows in tables for row in rows)
    with closing(open_source(options)) as source:
        counted = source.count_by(["u", "v"], at_most=at_most)
        found = {(r["u"], r["v"]): r["#records"] for r in counted.to_pylist()}
    if at_most is None or len(expected) <= at_most:
        assert found == expected
    else:
        assert len(found) == at_most + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.xml", "out.xlsx"])
def test_recoded_members_are_one_table_in_one_order(tmp_path: Path, name: str) -> None:
    with closing(open_source(members(tmp_path))) as source:
        staged = recode_into(source, all_of("sex", "age", "ward"), FileTarget(tmp_path / name))
        staged.publish()
    expected: Counter[tuple[Any, ...]] = Counter()
    for row in ROWS:
        expected[("*", *row[1:])] += 3
    assert released(tmp_path / name) == expected
    if name == "out.csv":
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()[1:]
        cells = [line.split(",") for line in lines]
        assert cells == sorted(cells, key=lambda row: [(cell == "", cell) for cell in row])


def test_a_single_source_is_renamed_and_cut_to_its_columns(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", "geschlecht,age,ward", [*ROWS])
    member = Member(FileOptions(str(path)), {"geschlecht": "sex"}, ("geschlecht", "age"))
    with closing(open_source(UnitedOptions((member,)))) as source:
        assert [column.name for column in source.columns()] == ["sex", "age"]
        staged = recode_into(source, all_of("sex", "age"), FileTarget(tmp_path / "out.csv"))
        staged.publish()
        with closing(open_files(FileOptions(str(path)))) as plain:
            assert source.fingerprint() == plain.fingerprint()
    assert released(tmp_path / "out.csv") == {("*", "20"): 2, ("*", "21"): 1, ("*", None): 1}


def test_other_columns_are_refused_with_both_names(tmp_path: Path) -> None:
    first = csv_file(tmp_path / "a.csv", "sex,age", [("f", "1")])
    other = csv_file(tmp_path / "b.csv", "sex,alter", [("f", "1")])
    options = UnitedOptions((Member(FileOptions(str(first))), Member(FileOptions(str(other)))))
    with pytest.raises(BadData) as caught:
        open_source(options)
    assert caught.value.code == "different-columns"
    assert str(first) in caught.value.what
    assert f"{other} has other columns" in caught.value.what
    assert "rename" in caught.value.hint


def test_a_rename_of_no_column_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", "sex,age", [("f", "1")])
    member = Member(FileOptions(str(path)), {"sxe": "geschlecht"})
    with pytest.raises(BadData, match="did you mean 'sex'"):
        open_source(UnitedOptions((member,)))


def test_a_member_that_changes_in_between_stops_the_run_and_is_named(tmp_path: Path) -> None:
    options = members(tmp_path)
    with closing(open_source(options)) as source:
        source.count_by(["sex"])
        csv_file(tmp_path / "a.csv", "sex,age,ward", [("new", "1", "x")])
        with pytest.raises(BadData) as caught:
            recode_into(source, all_of("sex", "age", "ward"), FileTarget(tmp_path / "out.csv"))
    assert caught.value.code == "source-changed"
    assert "a.csv" in caught.value.what
    assert not (tmp_path / "out.csv").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


DEFINITION = """<?xml version="1.0" encoding="UTF-8"?>
<definition>
  <parameters><k>3</k><max_supp>10%</max_supp></parameters>
  <datasource path="north.csv"/>
  <datasource path="south.xml">
    <rename column="geschlecht" to="sex"/>
    <option name="row" value="patient"/>
  </datasource>
  <datasource url="sqlite:///DATABASE" table="people"/>
  <output path="release.xml"><option name="fields" value="attributes"/></output>
  <attributes>
    <attribute name="sex" type="k-attribute"/>
    <attribute name="age" type="k-attribute"/>
    <attribute name="ward" type="dontcare"/>
  </attributes>
  <hierarchies>
    <hierarchy attribute="sex"><suppress/></hierarchy>
    <hierarchy attribute="age"><intervals widths="2 4 8"/></hierarchy>
  </hierarchies>
</definition>
"""


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A CSV file, an XML file and a table of SQLite, and a definition in XML of all of them."""
    rows: list[tuple[str | None, ...]] = [("fm"[i % 2], f"{20 + i % 5}", "x") for i in range(9)]
    csv_file(tmp_path / "north.csv", "sex,age,ward", rows)
    records = "".join(
        f'<patient geschlecht="{"fm"[i % 2]}"><age>{20 + i % 4}</age><ward>y</ward></patient>'
        for i in range(7)
    )
    (tmp_path / "south.xml").write_text(f"<all>{records}</all>", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "c.db")) as database:
        database.execute("CREATE TABLE people (age INTEGER, ward TEXT, sex TEXT)")
        rows = [(str(20 + i % 3), "z", "f") for i in range(5)]
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        database.commit()
    text = DEFINITION.replace("DATABASE", str(tmp_path / "c.db"))
    (tmp_path / "all.xml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_one_xml_definition_unites_three_kinds_of_sources(places: Path) -> None:
    result = shoal.run(places / "all.xml")
    assert result.verified
    assert result.records == 21
    assert sorted(result.sources.values()) == [5, 7, 9]
    classes: Counter[tuple[Any, Any]] = Counter()
    for (sex, age, _), records in released(places / "release.xml").items():
        classes[sex, age] += records
    assert min(classes.values()) >= 3
    assert sum(classes.values()) == 21 - result.suppressed
    text = (places / "release.xml").read_text(encoding="utf-8")
    assert "north" not in text
    assert shoal.verify(places / "release.xml", places / "all.xml").safe


def test_a_csv_file_an_xml_file_and_a_table_of_postgres_are_united(
    places: Path, postgres_url: str
) -> None:
    rows = {"age": [20 + i % 3 for i in range(5)], "ward": ["z"] * 5, "sex": ["f"] * 5}
    load(postgres_url, "people", pa.table(rows))
    text = (places / "all.xml").read_text(encoding="utf-8")
    elsewhere = text.replace(f"sqlite:///{places / 'c.db'}", postgres_url)
    (places / "postgres.xml").write_text(elsewhere, encoding="utf-8")
    shoal.run(places / "all.xml")
    expected = released(places / "release.xml")
    result = shoal.run(places / "postgres.xml")
    assert sorted(result.sources.values()) == [5, 7, 9]
    assert released(places / "release.xml") == expected


@pytest.mark.slow
def test_the_commands_know_several_sources(places: Path) -> None:
    report, found = places / "report.html", places / "result.json"
    given = ["--definition", str(places / "all.xml")]
    run = ["run", str(places / "all.xml"), "--json", str(found), "--report", str(report)]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    saved = json.loads(found.read_text(encoding="utf-8"))
    assert sum(saved["sources"].values()) == saved["records"] == 21
    assert "north.csv, south.xml, people of sqlite" in report.read_text(encoding="utf-8")
    for command in (
        ["verify", str(places / "release.xml"), *given, "--result", str(found)],
        ["hierarchy", "show", str(places / "all.xml"), "age"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_a_proof_of_several_sources_is_checked(places: Path) -> None:
    shoal.run(places / "all.xml", proof=places / "proof.gz")
    given = ["--definition", str(places / "all.xml"), "--proof", str(places / "proof.gz")]
    done = CliRunner().invoke(app, ["verify", *given])
    assert done.exit_code == 0, done.output


def test_an_output_among_the_sources_is_refused(places: Path) -> None:
    definition = {
        "source": [str(places / "north.csv"), str(places / "south.xml")],
        "output": str(places / "south.xml"),
        "k": 2,
        "attributes": {"sex": "quasi-identifier"},
        "others": "drop",
    }
    with pytest.raises(shoal.BadDefinition, match="is a file of the source"):
        shoal.run(definition)

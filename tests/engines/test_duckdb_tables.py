"""Tables of DuckDB files: every type, names and views, files that cannot be used, one transaction.

What was released is read by DuckDB itself.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shoal
from commands import TIME_LIMIT
from shoal.engines.opening import check_apart, open_source
from shoal.engines.options import DatabaseOptions, DatabaseTarget, Member, UnitedOptions
from shoal.errors import UserError

PATIENTS = """
    CREATE TABLE patients AS
    SELECT 'n' || i AS name, 20 + i % 40 AS age, ['f', 'm'][1 + i % 2] AS sex,
           CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END AS illness
    FROM range(400) AS t(i);
"""
ATTRIBUTES: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
    "sex": "quasi-identifier",
    "illness": "keep",
}


def execute(file: Path, statements: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(file) as connection:
        return connection.execute(statements).fetchall()


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    file = tmp_path / "clinic.duckdb"
    execute(file, PATIENTS)
    return file


def table(file: Path, name: str = "patients", **more: Any) -> dict[str, Any]:
    return {"url": f"duckdb:///{file}", "table": name, **more}


def query(file: Path, text: str) -> dict[str, str]:
    return {"url": f"duckdb:///{file}", "query": text}


def run(source: Any, output: Any, **changes: Any) -> shoal.Result:
    definition = {"k": 12, "suppression": "10%", "attributes": ATTRIBUTES, **changes}
    return shoal.run({"source": source, "output": output, **definition})


def code_of(source: Any, output: Any, **changes: Any) -> str:
    with pytest.raises(UserError) as caught:
        run(source, output, **changes)
    return caught.value.code


@pytest.mark.slow
def test_a_table_is_released_within_its_file_to_a_new_one_and_to_others(
    clinic: Path, tmp_path: Path
) -> None:
    execute(clinic, 'CREATE TABLE other AS SELECT 1 AS x; CREATE SCHEMA "out.puts"')
    assert run(table(clinic), table(clinic, 'out.puts."rel""ease"')).verified
    expected = execute(clinic, 'SELECT age, sex, illness FROM "out.puts"."rel""ease"')
    assert {age for age, _, _ in expected} == {f"[{low},{low + 5})" for low in range(20, 60, 5)}
    assert len(expected) == 400
    assert execute(clinic, "FROM other") == [(1,)]

    folder = tmp_path / "new"
    folder.mkdir()
    release = folder / "release.duckdb"
    sqlite = {"url": f"sqlite:///{tmp_path / 'release.db'}", "table": "release"}
    for output in (table(release, "release"), sqlite, str(tmp_path / "release.parquet")):
        assert run(table(clinic), output).verified
    assert execute(release, "FROM release") == expected
    assert [path.name for path in folder.iterdir()] == ["release.duckdb"]
    labels = {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "keep"}
    for source in (sqlite, str(tmp_path / "release.parquet"), table(release, "release")):
        assert run(source, table(release, "again", replace=True), attributes=labels).verified
        assert execute(release, "FROM again") == expected


TYPES = """
    CREATE TYPE color AS ENUM ('red', 'green', 'hidden');
    CREATE TABLE every (
        q VARCHAR, e color, h HUGEINT, uh UHUGEINT, u UUID, b BIT, n BIGNUM, d DECIMAL(38, 4),
        bl BLOB, i INTERVAL, tz TIMESTAMPTZ, ns TIMESTAMP_NS, t TIME, ttz TIMETZ, j JSON, f DOUBLE,
        a INTEGER[3], l VARCHAR[], s STRUCT(x INTEGER, y VARCHAR), dt DATE, c VARCHAR COLLATE NOCASE
    );
    INSERT INTO every SELECT
        'q', ['red', 'green'][1 + i % 2], 170141183460469231731687303715884105727,
        1267650600228229401496703205376, '00000000-0000-0000-0000-00000000000' || i, '0101',
        1234567890123456789012345678901234567890,
        1.5, '\\xFF'::BLOB, INTERVAL '1 month 2 days', '2026-01-31 12:30:00+02',
        '2026-01-31 12:30:00.123456789', '12:30', '12:30:00+02', '{"a": 1}', 'nan',
        [1, 2, 3], ['x', NULL], {x: 1, y: 'z'}, '0999-01-01', ['a', 'A'][1 + i % 2]
    FROM range(4) AS t(i);
"""
TEXTS = {
    "e": "red",
    "h": "170141183460469231731687303715884105727",
    "uh": "1267650600228229401496703205376",
    "u": "00000000-0000-0000-0000-000000000000",
    "b": "0101",
    "n": "1234567890123456789012345678901234567890",
    "d": "1.5000",
    "bl": "\\xFF",
    "i": "1 month 2 days",
    "tz": "2026-01-31 10:30:00+00",
    "ns": "2026-01-31 12:30:00.123456789",
    "t": "12:30:00",
    "ttz": "12:30:00+02",
    "j": '{"a": 1}',
    "f": None,
    "dt": "0999-01-01",
    "c": "a",
}
KEPT = {"a": [1, 2, 3], "l": ["x", None], "s": {"x": 1, "y": "z"}}


@pytest.mark.slow
def test_values_of_every_type_are_counted_by_their_texts_and_released(tmp_path: Path) -> None:
    file = tmp_path / "types.duckdb"
    execute(file, TYPES)
    with open_source(DatabaseOptions(f"duckdb:///{file}", "every")) as source:
        for name, text in TEXTS.items():
            counted = dict(zip(*source.count_by([name]).to_pydict().values(), strict=True))
            assert text in counted, (name, counted)
        assert source.count_by(["c"]).num_rows == 2
        with pytest.raises(UserError) as caught:
            source.count_by(["l"])
        assert caught.value.code == "unsupported-type"
    kept: dict[str, Any] = dict.fromkeys([*TEXTS, *KEPT], "keep")
    asked = {"k": 4, "attributes": {"q": "quasi-identifier", **kept}}
    assert run(table(file, "every"), table(file, "release"), **asked).verified
    as_text = ", ".join(f"{name}::VARCHAR" for name in TEXTS)
    with duckdb.connect(file) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        released = connection.sql("FROM release ORDER BY u")
        kinds = dict(zip(released.columns, map(str, released.types), strict=True))
        kept_values = released.to_arrow_table().select(list(KEPT)).slice(0, 1).to_pylist()
        texts = connection.execute(f"SELECT {as_text} FROM release ORDER BY u").fetchone()
    assert dict(zip(TEXTS, texts or (), strict=True)) == TEXTS
    assert kept_values == [KEPT]
    own = {"d": "DECIMAL(38,4)", "tz": "TIMESTAMP WITH TIME ZONE", "ns": "TIMESTAMP_NS"}
    assert {name: kinds[name] for name in own} == own
    assert kinds["e"] == "VARCHAR"
    execute(file, "CREATE TABLE nested AS SELECT 'q' AS q, [e] AS e FROM every")
    for output in (table(file, "refused"), str(tmp_path / "refused.json")):
        asked = {"k": 4, "attributes": {"q": "quasi-identifier", "e": "keep"}}
        assert code_of(table(file, "nested"), output, **asked) == "unsupported-type"


@pytest.mark.slow
def test_an_output_that_the_source_reads_is_refused_by_any_name(
    clinic: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.duckdb").symlink_to(clinic)
    os.link(clinic, tmp_path / "hard.duckdb")
    execute(clinic, "CREATE SCHEMA s; CREATE VIEW s.v AS FROM patients; CREATE VIEW w AS FROM s.v")
    execute(clinic, "CREATE TABLE old AS SELECT 'old' AS old")
    for name in ("link.duckdb", "hard.duckdb", "clinic.duckdb"):
        output = table(tmp_path / name, "PATIENTS", replace=True)
        for source in (table(clinic), table(clinic, "w"), query(clinic, "FROM w WHERE false")):
            assert code_of(source, output) == "output-is-source"
    code = code_of({**table(clinic), "columns": ["age", "sex"]}, table(clinic, "new"))
    assert code == "output-locked-by-source"
    assert code_of(table(clinic), table(clinic, "old")) == "table-exists"
    assert code_of(table(clinic), table(clinic, "w", replace=True)) == "output-not-a-table"
    assert code_of(table(clinic), table(clinic, "nowhere.new")) == "no-schema"
    for file in (clinic, f"{clinic}.wal"):
        with pytest.raises(UserError, match="is a file of the source"):
            run(table(clinic), {"path": str(file), "format": "csv"})
    (tmp_path / "twice.csv").write_text("a,A\n" + "x,y\n" * 20)
    twice = {"a": "quasi-identifier", "A": "keep"}
    code = code_of(str(tmp_path / "twice.csv"), table(clinic, "new"), attributes=twice)
    assert code == "names-differ-in-case"
    assert run(query(clinic, "FROM w -- all"), table(clinic, "old", replace=True)).verified
    assert len(execute(clinic, "FROM old")) == 400


@pytest.mark.slow
def test_a_source_that_cannot_be_read_is_refused_with_its_reason(
    clinic: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.csv").write_text("a\n1\n")
    execute(clinic, f"CREATE VIEW far AS FROM read_csv('{tmp_path / 'text.csv'}')")
    output = str(tmp_path / "release.csv")
    for source, code in (
        (table(clinic, "patient"), "no-table"),
        (table(clinic, "nowhere.patients"), "no-schema"),
        (table(clinic, "far"), "reads-elsewhere"),
        (query(clinic, f"FROM '{tmp_path / 'text.csv'}'"), "reads-elsewhere"),
        (query(clinic, "FROM duckdb_settings()"), "reads-elsewhere"),
        (query(clinic, "DROP TABLE patients"), "bad-query"),
        (query(clinic, "FROM patients; FROM patients"), "bad-query"),
        (query(clinic, "SELECT nothing FROM patients"), "bad-query"),
        (query(clinic, "SELEC"), "bad-query"),
        (query(clinic, "SELECT age, age FROM patients"), "repeated-column"),
        (table(tmp_path / "none.duckdb"), "no-file"),
        ({"url": "duckdb://host/file", "table": "patients"}, "bad-url"),
        ({"url": "duckdb:///:memory:", "table": "patients"}, "bad-url"),
        ({"url": f"duckdb:///{clinic}?mode=ro", "table": "patients"}, "bad-url"),
    ):
        assert code_of(source, output) == code, source
    whole = clinic.read_bytes()
    for name, content in (
        ("other", b"name,age\n" * 1000),
        ("short", whole[: len(whole) // 2]),
        ("empty", b""),
        ("newer", newer(whole)),
        ("flipped", whole[:12300] + bytes(255 - b for b in whole[12300:])),
    ):
        broken = tmp_path / f"{name}.duckdb"
        broken.write_bytes(content)
        assert code_of(table(broken), output) == "unreadable-data", name
        said = "another version" if name == "newer" else None
        with pytest.raises(UserError, match=said):
            run(table(broken), output)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(clinic)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert code_of(table(clinic), output) == "database-busy"
        other.communicate(b"\n", timeout=TIME_LIMIT)
    assert not Path(output).exists()


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(flush=True); input()"


def newer(whole: bytes) -> bytes:
    """The file with the number of a later version, and with DuckDB's checksum of its header."""
    header = bytearray(whole[:4096])
    header[12:20] = struct.pack("<Q", 9999)
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", header[8:]):
        checksum ^= word * 0xBF58476D1CE4E5B9 % 2**64
    header[:8] = struct.pack("<Q", checksum)
    return bytes(header) + whole[4096:]


@pytest.mark.slow
def test_a_release_that_fails_leaves_the_old_table_and_no_file(
    clinic: Path, tmp_path: Path
) -> None:
    execute(clinic, "CREATE TABLE old AS SELECT 'old' AS old")
    before = clinic.read_bytes()
    (tmp_path / "new").mkdir()
    for output in (table(clinic, "old", replace=True), table(tmp_path / "new" / "it", "it")):
        with pytest.raises(shoal.Infeasible):
            run(table(clinic), output, k=401, suppression=0)
    assert clinic.read_bytes() == before
    assert list((tmp_path / "new").iterdir()) == []
    clinic.chmod(0o400)
    assert run(table(clinic), str(tmp_path / "release.csv")).verified
    assert clinic.read_bytes() == before


def test_members_of_a_file_that_is_written_are_refused(clinic: Path) -> None:
    options = DatabaseOptions(f"duckdb:///{clinic}", "patients")
    both = UnitedOptions((Member(options), Member(options)))
    with open_source(both) as source:
        assert source.count_by([]).to_pydict() == {"#records": [800]}
    with pytest.raises(UserError, match="output-locked-by-source"):
        check_apart(both, DatabaseTarget(f"duckdb:///{clinic}", "new"))

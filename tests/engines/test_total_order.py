"""The order of a release shows nothing of the source, where equal values are stored differently."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import servers
import shoal

ZEROS = [0.0, -0.0, -0.0, 0.0, 0.0, -0.0]
ATTRIBUTES = {"all": "quasi-identifier", "c": "keep"}


def released(source: Any, output: Any, **options: Any) -> None:
    definition = {"source": source, "output": output, "k": 2, "attributes": ATTRIBUTES}
    shoal.run(definition, **options)


def table(zeros: Sequence[Any], kind: pa.DataType) -> pa.Table:
    return pa.table({"all": ["x"] * len(zeros), "c": pa.array(zeros, kind)})


def both_ways(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    return list(values), [*reversed(values[1:]), values[0]]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.list_(pa.float64())])
@pytest.mark.parametrize("ending", [".parquet", ".json"])
def test_negative_zeros_of_files_are_in_an_order_of_their_own(
    kind: pa.DataType, ending: str, tmp_path: Path
) -> None:
    found = []
    for number, zeros in enumerate(both_ways(ZEROS)):
        values = [[zero] for zero in zeros] if pa.types.is_list(kind) else zeros
        pq.write_table(table(values, kind), tmp_path / f"in-{number}.parquet")
        output = tmp_path / f"out-{number}{ending}"
        released(str(tmp_path / f"in-{number}.parquet"), str(output))
        found.append(output.read_bytes())
    assert found[0] == found[1]


@pytest.mark.slow
def test_negative_zeros_of_united_files_are_in_an_order_of_their_own(tmp_path: Path) -> None:
    found = []
    for number, zeros in enumerate(both_ways(ZEROS)):
        paths = [tmp_path / f"in-{number}-{part}.parquet" for part in range(2)]
        for part, path in enumerate(paths):
            pq.write_table(table(zeros[part * 3 : part * 3 + 3], pa.float64()), path)
        output = tmp_path / f"out-{number}.json"
        released([str(path) for path in paths], str(output))
        found.append(output.read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["double precision", "real", "numeric"])
def test_equal_numbers_of_postgresql_are_in_an_order_of_their_own(
    kind: str, postgres_url: str
) -> None:
    spelled = ["1.0", "1.00", "1", "1", "1.00"]
    values = [repr(zero) for zero in ZEROS] if kind != "numeric" else spelled
    found = []
    for cells in both_ways(values):
        name = f"order_{secrets.token_hex(4)}"
        rows = ", ".join(f"('x', '{cell}')" for cell in cells)
        made = f'CREATE TABLE {name} ("all" text, c {kind})'
        servers.run_sql(postgres_url, made, f"INSERT INTO {name} VALUES {rows}")
        output = {"url": postgres_url, "table": f"{name}_out"}
        released({"url": postgres_url, "table": name}, output)
        query = f"SELECT c::text FROM {name}_out ORDER BY ctid"
        found.append(servers.run_sql(postgres_url, query))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [pa.float64(), pa.list_(pa.float64())])
def test_negative_zeros_of_spark_are_in_an_order_of_their_own(
    kind: pa.DataType, spark_session: Any, tmp_path: Path
) -> None:
    files, folders = [], []
    for number, zeros in enumerate(both_ways(ZEROS)):
        values = [[zero] for zero in zeros] if pa.types.is_list(kind) else zeros
        pq.write_table(table(values, kind), tmp_path / f"in-{number}.parquet")
        source = {"spark": str(tmp_path / f"in-{number}.parquet")}
        output = tmp_path / f"out-{number}.json"
        released(source, str(output), spark=spark_session)
        files.append(output.read_bytes())
        folder = tmp_path / f"out-{number}"
        released(source, {"spark": str(folder), "format": "json"}, spark=spark_session)
        folders.append([path.read_bytes() for path in sorted(folder.glob("part-*"))])
    assert files[0] == files[1]
    assert folders[0] == folders[1]


GAPS = [("a", None, "2"), (None, "x", "1"), ("a", "x", None), (None, None, "3"), ("b", "x", "1")]


def gaps(folder: Path) -> pa.Table:
    """Two records of each, as a file too."""
    rows = [*GAPS, *GAPS]
    columns = dict(zip(("s", "t", "c"), map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns, pa.schema([(name, pa.string()) for name in columns]))
    pq.write_table(table, folder / "gaps.parquet")
    return table


def missing_last(folder: Path, source: Any, **options: Any) -> list[tuple[str, ...]]:
    """The records as a CSV file, where missing is empty."""
    roles = {"s": "quasi-identifier", "t": "quasi-identifier", "c": "keep"}
    output = folder / "out.csv"
    definition = {"source": source, "output": str(output), "k": 2, "attributes": roles}
    shoal.run(definition, **options)
    return [tuple(line.split(",")) for line in output.read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.slow
def test_missing_is_last_on_every_engine(
    tmp_path: Path, postgres_url: str, mariadb_url: str, spark_session: Any
) -> None:
    table = gaps(tmp_path)
    rows = [tuple(cell or "" for cell in row) for row in (*GAPS, *GAPS)]
    expected = sorted(rows, key=lambda row: [(cell == "", cell) for cell in row])
    file = str(tmp_path / "gaps.parquet")
    assert missing_last(tmp_path, file) == expected
    assert missing_last(tmp_path, [file, file]) == [row for row in expected for _ in range(2)]
    for url in (f"sqlite:///{tmp_path / 'gaps.db'}", postgres_url, mariadb_url):
        name = f"gaps_{secrets.token_hex(4)}"
        values = ", ".join(
            str(tuple("NULL" if cell is None else cell for cell in row)) for row in (*GAPS, *GAPS)
        ).replace("'NULL'", "NULL")
        made = f"CREATE TABLE {name} (s varchar(9), t varchar(9), c varchar(9))"
        servers.run_sql(url, made, f"INSERT INTO {name} VALUES {values}")
        assert missing_last(tmp_path, {"url": url, "table": name}) == expected
    assert missing_last(tmp_path, {"spark": file}, spark=spark_session) == expected
    found = shoal.anonymize(table.to_pandas(), ["s", "t"], k=2, others="keep").fillna("")
    assert list(map(tuple, found.to_numpy().tolist())) == expected

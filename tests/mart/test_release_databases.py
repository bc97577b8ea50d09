"""Requests to a mart with typed tables in a database server: released as from files."""

from __future__ import annotations

from pathlib import Path

import pytest

import servers
from mart import hospital
from mart.hospital import REQUEST, TABLES
from shoal import mart


@pytest.mark.parametrize("engine", ["mariadb", "postgres"])
def test_columns_derived_from_tables_of_a_server_are_released_as_those_of_files_are(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = str(request.getfixturevalue(f"{engine}_url"))
    places = {name: {"url": url, "table": f"hospital_{name}"} for name in ("patient", "findings")}
    for name, place in places.items():
        servers.load(url, place["table"], TABLES[name])
    target = {"url": url, "table": "hospital_release"}
    result = mart.request(hospital.catalog(tmp_path, places), REQUEST, output=target)
    of_files = mart.request(
        hospital.catalog(tmp_path, {}, "files.jsonl"), REQUEST, output=tmp_path / "release.csv"
    )
    expected = hospital.read_csv(tmp_path / "release.csv")
    rows = [
        hospital.texts(dict(zip(expected[0], row, strict=True)))
        for row in servers.rows_of(url, target["table"])
    ]
    hospital.recount(rows, result.rows_suppressed)
    assert hospital.in_order(rows) == hospital.in_order(expected)
    assert result.levels == of_files.levels

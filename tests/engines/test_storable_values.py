"""Values of files that a database cannot hold are refused before the search begins."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import servers
import shoal
from shoal.events import Phase

RECORDS = 8
QUASI = {"role": "quasi-identifier", "hierarchy": "suppress"}


def refusal(source: Path, url: str, role: Any) -> tuple[str, str, list[str]]:
    """The code and the words of the error, and the phases that came before it."""
    phases: list[str] = []

    def observe(event: Any) -> None:
        if isinstance(event, Phase):
            phases.append(event.name)

    definition = {
        "source": str(source),
        "output": {"url": url, "table": f"unstorable_{secrets.token_hex(4)}"},
        "k": 4,
        "attributes": {"all": "quasi-identifier", "c": role},
    }
    with pytest.raises(shoal.BadOutput) as caught:
        shoal.run(definition, observe=observe)
    return caught.value.code, caught.value.what, phases


@pytest.mark.parametrize("role", ["keep", QUASI])
@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_a_nul_character_is_refused_for_postgresql_before_the_search(
    ending: str, role: Any, postgres_url: str, tmp_path: Path
) -> None:
    rows = [{"all": "x", "c": "secret\0" if i == 3 else "b"} for i in range(RECORDS)]
    path = tmp_path / f"in{ending}"
    if ending == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    code, what, phases = refusal(path, postgres_url, role)
    assert (code, phases) == ("unstorable-text", ["read"])
    assert "'c'" in what
    assert "secret" not in what


DAYS = {"year 10000": 2932897, "year 0": -719163}
TYPES = {
    "date": (pa.date32(), 1),
    "time": (pa.timestamp("us"), 86_400_000_000),
    "instant": (pa.timestamp("ms", "UTC"), 86_400_000),
}


@pytest.mark.parametrize("system", ["sqlite", "postgres", "mariadb"])
@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("kind", TYPES)
def test_other_years_than_1_to_9999_are_refused_before_the_search(
    kind: str, day: str, system: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    arrow, unit = TYPES[kind]
    url = request.getfixturevalue(f"{system}_url")
    storage = pa.int32() if kind == "date" else pa.int64()
    values = pa.array([0] * (RECORDS - 1) + [DAYS[day] * unit], storage)
    pq.write_table(
        pa.table({"all": ["x"] * RECORDS, "c": values.cast(arrow)}), tmp_path / "in.parquet"
    )
    if kind == "instant" and system != "postgres":
        definition = {
            "source": str(tmp_path / "in.parquet"),
            "output": {"url": url, "table": f"instants_{secrets.token_hex(4)}"},
            "k": 4,
            "attributes": {"all": "quasi-identifier", "c": "keep"},
        }
        assert shoal.run(definition).verified, "it is stored as text there"
        return
    code, what, phases = refusal(tmp_path / "in.parquet", url, "keep")
    assert (code, phases) == ("unstorable-value", ["read"])
    assert "'c' has dates outside of the years 1 to 9999" in what


def test_the_first_and_the_last_day_that_databases_have_are_released(
    postgres_url: str, tmp_path: Path
) -> None:
    days = pa.array([-719162, 2932896] * 4, pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"all": ["x"] * RECORDS, "c": days}), tmp_path / "in.parquet")
    name = f"days_{secrets.token_hex(4)}"
    definition = {
        "source": str(tmp_path / "in.parquet"),
        "output": {"url": postgres_url, "table": name},
        "k": 4,
        "attributes": {"all": "quasi-identifier", "c": "keep"},
    }
    shoal.run(definition)
    found = servers.run_sql(postgres_url, f"SELECT DISTINCT c::text FROM {name} ORDER BY 1")
    assert found == [("0001-01-01",), ("9999-12-31",)]

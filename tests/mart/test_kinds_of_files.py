"""Sources and outputs of every kind in one mart, recounted by readers that are not ours."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

from shoal import mart

KINDS = ("csv", "parquet", "json", "xlsx", "xml", "sqlite")
PERSONS = pd.DataFrame([{"id": i, "sex": "fm"[i % 2]} for i in range(12)])
VISITS = pd.DataFrame(
    [
        {"visit": i, "who": i % 12, "cause": "flu" if i % 3 else "cold", "x": i / 4}
        for i in range(30)
    ]
)


def written(frame: pd.DataFrame, path: Path, kind: str) -> Any:
    """The location of a frame that pandas or the standard library wrote."""
    path = path.with_suffix(f".{kind}")
    if kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            frame.to_sql("t", connection, index=False)
            connection.commit()
        return {"url": f"sqlite:///{path}", "table": "t"}
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "json":
        path.write_text(json.dumps(frame.to_dict("records")), encoding="utf-8")
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_xml(path, index=False, root_name="records", row_name="record")
    return str(path)


def read(path: Path, kind: str) -> pd.DataFrame:
    if kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            return pd.read_sql("SELECT * FROM release", connection)
    readers: dict[str, Any] = {
        "csv": pd.read_csv,
        "parquet": pd.read_parquet,
        "json": pd.read_json,
        "xlsx": pd.read_excel,
        "xml": pd.read_xml,
    }
    frame: pd.DataFrame = readers[kind](path)
    return frame


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sources_of_two_kinds_are_released_into_any_kind(kind: str, tmp_path: Path) -> None:
    number = KINDS.index(kind)
    of_persons, of_visits = KINDS[(number + 1) % 6], KINDS[(2 * number + 3) % 6]
    identifying = {"role": "quasi-identifier", "hierarchy": "suppress"}
    path = tmp_path / f"release.{kind}"
    result = mart.request(
        {
            "mart": "kinds",
            "log": str(tmp_path / "log.jsonl"),
            "person": {"source": "persons", "columns": ["id"]},
            "sources": {
                "persons": {
                    "source": written(PERSONS, tmp_path / "persons", of_persons),
                    "columns": {"sex": identifying},
                },
                "visits": {
                    "source": written(VISITS, tmp_path / "visits", of_visits),
                    "columns": {"cause": identifying, "x": "keep"},
                },
            },
            "links": [{"between": {"visits": "who", "persons": "id"}, "kind": "many-to-one"}],
        },
        {"asker": "somebody", "project": ["sex", "cause", "x"], "k": 2},
        output={"url": f"sqlite:///{path}", "table": "release"} if kind == "sqlite" else path,
    )
    assert result.levels == {"sex": 0, "cause": 0}
    found = read(path, kind)
    joined = VISITS.merge(PERSONS, left_on="who", right_on="id")
    columns = ["sex", "cause", "x"]
    assert sorted(found.columns) == sorted(columns)
    assert Counter(found[columns].itertuples(index=False, name=None)) == Counter(
        joined[columns].itertuples(index=False, name=None)
    )

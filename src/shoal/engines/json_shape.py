"""The columns of a JSON file: the keys of its objects, with a type that fits every value.

DuckDB's own reader takes text that looks like a date for a date, and forgets keys that its sample
did not have. Here every object is looked at, and text stays text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from shoal.engines.duck import Session, literal
from shoal.errors import BadData

_TYPES = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "UBIGINT": "UBIGINT", "DOUBLE": "DOUBLE"}


def of(session: Session, objects: str, source: str) -> Mapping[str, str]:
    """Each key with a DuckDB type: numbers and booleans keep theirs, all else is text."""
    query = f"SELECT json_group_structure(json) AS shape, count(*) AS n FROM {objects}"
    row = session.table(query).to_pylist()[0]
    shape = json.loads(row["shape"]) if row["shape"] else None
    if row["n"] == 0:
        raise BadData(
            f"{source} has no records", code="empty-file", hint="see that it is the right file"
        )
    if not isinstance(shape, dict):
        raise BadData(
            f"{source} is not a table of objects",
            code="not-records",
            hint='each record must be an object such as {"age": 34, "zip": "10115"}',
        )
    return {key: _type(kind) for key, kind in shape.items()}


def _type(kind: object) -> str:
    return _TYPES.get(kind, "VARCHAR") if isinstance(kind, str) else "VARCHAR"


def query(objects: str, shape: Mapping[str, str]) -> str:
    """The objects as a table, one column per key in the order of the shape."""
    columns = []
    for key, kind in shape.items():
        path = literal("$." + json.dumps(key, ensure_ascii=False))
        text = f"json_extract_string(json, {path})"
        columns.append(text if kind == "VARCHAR" else f"CAST({text} AS {kind})")
    return f"SELECT {', '.join(columns)} FROM {objects}"

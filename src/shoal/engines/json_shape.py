"""The columns of a JSON file: the keys of its objects, with a type that fits every value.

DuckDB's own reader takes text that looks like a date for a date, and forgets keys that its sample
did not have. Here every object is looked at, and text stays text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

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
    types = {key: _type(kind) for key, kind in shape.items()}
    long = _with_long_integers(session, objects, [k for k in types if types[k] == "DOUBLE"])
    return {key: "VARCHAR" if key in long else kind for key, kind in types.items()}


def _type(kind: object) -> str:
    return _TYPES.get(kind, "VARCHAR") if isinstance(kind, str) else "VARCHAR"


def _with_long_integers(session: Session, objects: str, keys: Sequence[str]) -> set[str]:
    """The keys of numbers that have an integer too long for 64 bits: as text it keeps its digits.

    DuckDB calls such a column one of doubles, and doubles lose digits from the 16th on.
    """
    if not keys:
        return set()
    found = ", ".join(
        f"bool_or(regexp_full_match({_text(key)}, '-?[0-9]{{19,}}')) AS b{i}"
        for i, key in enumerate(keys)
    )
    row = session.table(f"SELECT {found} FROM {objects}").to_pylist()[0]
    return {key for i, key in enumerate(keys) if row[f"b{i}"]}


def _text(key: str) -> str:
    path = literal("$." + json.dumps(key, ensure_ascii=False))
    return f"json_extract_string(json, {path})"


def query(objects: str, shape: Mapping[str, str]) -> str:
    """The objects as a table, one column per key in the order of the shape."""
    columns = []
    for key, kind in shape.items():
        text = _text(key)
        columns.append(text if kind == "VARCHAR" else f"CAST({text} AS {kind})")
    return f"SELECT {', '.join(columns)} FROM {objects}"

"""The columns of a JSON file: the keys of its objects, with a type that fits every value.

DuckDB's own reader takes text that looks like a date for a date, and forgets keys that its sample
did not have. Here every object is read, and text stays text. Values are fetched by JSON
pointers, which can name any key; DuckDB's JSON paths cannot (tabs, line ends, `*`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.engines.duckdb.session import Session, literal
from shoal.errors import BadData

_TYPES = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "UBIGINT": "UBIGINT", "DOUBLE": "DOUBLE"}
BOM = b"\xef\xbb\xbf"
_WHOLE = r"'-?[0-9]{16,}'"
"""Whole numbers that a double may not hold: doubles lose digits from the 16th on."""


def refuse_open_array(path: Path, packing: str) -> None:
    """An error for an array without its end, which DuckDB reads where it breaks off at a comma."""
    first = last = b""
    with pa.input_stream(str(path), compression=None if packing == "none" else packing) as file:
        while block := file.read(1 << 20):
            text = block.strip(b" \t\r\n") if last else block.lstrip(BOM).strip(b" \t\r\n")
            first, last = first or text[:1], text[-1:] or last
            if first and first != b"[":
                return
    if first and last != b"]":
        raise BadData(
            f"{path} is not JSON: its array has no end",
            code="unreadable-data",
            hint="check that the file is whole: one array of objects, or one object a line",
        )


def columns_of(session: Session, objects: str, source: str) -> Mapping[str, str]:
    """Each key with SQL for its value: numbers and booleans keep their type, all else is text.

    So 1 and "1" in one column are both the text 1.
    """
    shape = _shape(session, objects, source)
    types = {key: _type(kind) for key, kind in shape.items()}
    long = _with_long_integers(session, objects, [k for k in types if types[k] == "DOUBLE"])
    return {
        key: _text(key) if key in long or kind == "VARCHAR" else f"CAST({_text(key)} AS {kind})"
        for key, kind in types.items()
    }


def stored_columns_of(session: Session, objects: str, source: str) -> Mapping[str, str]:
    """Each key with SQL for its value, in which values differ that differ in JSON.

    A column whose values are all strings, or all numbers of one kind, has the texts it has for
    `columns_of`. Any other has the JSON itself as text, with the quotes of strings; and where some
    objects lack the key and others have null there, these differ too.
    """
    keys = list(_shape(session, objects, source))
    selected = ", ".join(
        f"list(DISTINCT {_kind(key)}) AS k{i}, count(*) - count({_kind(key)}) AS n{i},"
        f" bool_and(regexp_full_match({_text(key)}, '-?[0-9]+')) AS w{i}"
        for i, key in enumerate(keys)
    )
    found = session.table(f"SELECT {selected} FROM {objects}").to_pylist()[0] if keys else {}
    return {
        key: _stored(key, set(found[f"k{i}"] or ()), found[f"n{i}"], found[f"w{i}"])
        for i, key in enumerate(keys)
    }


def _stored(key: str, kinds: set[str], absent: int, whole: bool | None) -> str:
    """SQL for the values of a key whose JSON types are these."""
    present = kinds - {"NULL"}
    if absent and "NULL" in kinds:
        return f"coalesce(CAST({_value(key)} AS VARCHAR), 'no key')"
    if present <= {"VARCHAR"} or present == {"BOOLEAN"}:
        return _text(key)
    if whole and present <= {"BIGINT", "UBIGINT", "DOUBLE"}:
        return _text(key)
    if present == {"DOUBLE"}:
        return f"CAST({_text(key)} AS DOUBLE)"
    return f"CASE WHEN {_kind(key)} <> 'NULL' THEN CAST({_value(key)} AS VARCHAR) END"


def _shape(session: Session, objects: str, source: str) -> Mapping[str, object]:
    """The keys of all objects; an error for what is no table of objects."""
    keys = "json_keys(json)"
    row = session.table(
        "SELECT json_group_structure(json) AS shape, count(*) AS n,"
        f" bool_or(len({keys}) <> len(list_distinct({keys}))) AS twice FROM {objects}"
    ).to_pylist()[0]
    shape = json.loads(row["shape"]) if row["shape"] else None
    if row["n"] == 0:
        raise BadData(
            f"{source} has no records", code="empty-file", hint="check that it is the right file"
        )
    if not isinstance(shape, dict):
        raise BadData(
            f"{source} is not a table of objects",
            code="not-records",
            hint='each record must be an object such as {"age": 34, "zip": "10115"}',
        )
    if row["twice"]:
        raise BadData(
            f"{source} has an object with two values under one key",
            code="repeated-column",
            hint="give each value a key of its own",
        )
    return shape


def _type(kind: object) -> str:
    return _TYPES.get(kind, "VARCHAR") if isinstance(kind, str) else "VARCHAR"


def _with_long_integers(session: Session, objects: str, keys: Sequence[str]) -> set[str]:
    """The keys of numbers that have a long integer, which as text keeps its digits."""
    if not keys:
        return set()
    found = ", ".join(
        f"bool_or(regexp_full_match({_text(key)}, {_WHOLE})) AS b{i}" for i, key in enumerate(keys)
    )
    row = session.table(f"SELECT {found} FROM {objects}").to_pylist()[0]
    return {key for i, key in enumerate(keys) if row[f"b{i}"]}


def _pointer(key: str) -> str:
    """RFC 6901: a slash, then the key with its own slashes and tildes escaped."""
    return literal("/" + key.replace("~", "~0").replace("/", "~1"))


def _text(key: str) -> str:
    return f"json_extract_string(json, {_pointer(key)})"


def _value(key: str) -> str:
    return f"json_extract(json, {_pointer(key)})"


def _kind(key: str) -> str:
    return f"json_type(json, {_pointer(key)})"


def query(objects: str, columns: Mapping[str, str]) -> str:
    """The objects as a table, one column per key."""
    return f"SELECT {', '.join(columns.values())} FROM {objects}"

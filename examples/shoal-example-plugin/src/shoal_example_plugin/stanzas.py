"""A format for people: a line `name: value` for each field, an empty line after each record.

A line end in a name or value is written as \\n, a backslash as two, a colon in a name as \\c. A
field that is missing has its name alone. The first record names every column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from shoal.errors import BadData

ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", ":": "\\c"}
BATCH = 1000


class StanzaReader:
    """Stanzas: a line for each field, an empty line after each record."""

    endings = (".stanzas",)
    takes = ()

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """Batches of records, as they come."""
        schema: pa.Schema | None = None
        batch: list[dict[str, str | None]] = []
        for line, record in _records(path):
            schema = schema or pa.schema([(name, pa.string()) for name in record])
            if not record.keys() <= set(schema.names):
                raise BadData(
                    f"{path} has a field before line {line} that the first record has not",
                    code="unreadable-data",
                    hint="name every column in the first record",
                )
            batch.append(record)
            if len(batch) == BATCH:
                yield pa.RecordBatch.from_pylist(batch, schema)
                batch = []
        if batch:
            yield pa.RecordBatch.from_pylist(batch, schema)


def _records(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Each record with the line after it; a record that does not end is none."""
    record: dict[str, str | None] = {}
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line == "\n":
                    yield number, record
                    record = {}
                elif line.endswith("\n"):
                    name, colon, value = line[:-1].partition(": ")
                    record[_unescaped(name)] = _unescaped(value) if colon else None
    except UnicodeDecodeError:
        raise BadData(
            f"{path} is not UTF-8", code="unreadable-data", hint="save the file as UTF-8"
        ) from None


class StanzaWriter:
    """Stanzas: a line for each field, an empty line after each record."""

    endings = (".stanzas",)
    takes = ()

    def write(
        self,
        batches: pa.RecordBatchReader,
        path: Path,
        options: Mapping[str, str],  # noqa: ARG002
    ) -> None:
        """Every record in its order, each field in its own line."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for batch in batches:
                for record in batch.to_pylist():
                    for name, value in record.items():
                        file.write(_escaped(name))
                        file.write("\n" if value is None else f": {_escaped(value)}\n")
                    file.write("\n")


def _escaped(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)


def _unescaped(text: str) -> str:
    plain = {escape[1]: character for character, escape in ESCAPES.items()}
    parts = text.split("\\\\")
    return "\\".join(
        "".join(
            plain.get(piece[:1], "\\" + piece[:1]) + piece[1:] if number else piece
            for number, piece in enumerate(part.split("\\"))
        )
        for part in parts
    )

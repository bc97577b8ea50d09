"""Which format a file has, and the plug-ins that read and write formats of their own.

DuckDB reads and writes CSV, Parquet and JSON itself. A reader of any other format gives batches of
text. They go to a private temporary Parquet file as they come, so a table is never whole in memory,
and all that counts and recodes works on it as on any other file. A writer gets the records of a
release in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from shoal import plugins
from shoal.engines.database_files import options_for
from shoal.engines.options import NATIVE
from shoal.errors import BadData, BadOutput, MissingExtra, UserError, did_you_mean, quoted

BATCH = 10_000
"""Records of a batch that our own readers give."""

ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
"""The formats that DuckDB reads and writes: `json` is one array, `json lines` one object a line."""

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Endings of files that are packed, and how."""


class Reader(Protocol):
    """What a plug-in of the kind `reader` is.

    Where a format has values of several kinds with one text, such as the number 1 and the text 1, a
    method `read_stored`, which is `read` otherwise, tells them apart: releases are verified by it.
    """

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files, each with its dot and in lower case."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of its options."""

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The records in batches of the same columns, all of them text, null where missing.

        What is wrong with the file is BadData. Nothing is kept of batches that were given.
        """


class Writer(Protocol):
    """What a plug-in of the kind `writer` is.

    What it writes is read again by the reader of the same name and with the same options, since the
    verifier counts what was written. A format that holds no more than so many records says so by
    an attribute `most`.
    """

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files, each with its dot and in lower case."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of its options."""

    def write(self, batches: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
        """Write all records, in their order, to a file that is there already, private and empty.

        All columns are text, null where missing. A value that the format cannot hold is BadOutput.
        The same records give the same bytes.
        """


@dataclass(frozen=True)
class Plugged:
    """The installed readers or writers, and the words in which messages speak of them."""

    kind: str
    error: type[UserError]
    code: str
    done: str
    key: str

    def format_of(self, path: Path, stated: str | None) -> tuple[str, str]:
        """The format of a file and how it is packed: as stated, or else by its ending."""
        packing = PACKED.get(path.suffix.lower(), "none")
        ending = (path if packing == "none" else path.with_suffix("")).suffix.lower()
        by_ending = ENDINGS.get(ending)
        if stated == "json" and by_ending == "json lines":
            return by_ending, packing
        name = stated or by_ending or self._by_ending(path, ending)
        if name is None and (database := options_for(path)) is not None:
            raise self.error(
                f"{path} is a database",
                code=self.code,
                hint=f"give its URL and a table in place of its path: {database}; in a definition:"
                " {url: ..., table: NAME}",
            )
        if name is None:
            known = [*ENDINGS, *plugins.endings(self.kind)]
            raise self.error(
                f"the ending of {path} says no format that can be {self.done}",
                code=self.code,
                hint=f"use one of {quoted(known)}; or state one of the formats {self.installed()}:"
                f" {self.key}: {{path: {path}, format: csv}}",
            )
        return name, packing

    def _by_ending(self, path: Path, ending: str) -> str | None:
        """The name of the plug-in for an ending; None where there is none, an error for several."""
        found = plugins.by_ending(self.kind, ending)
        if len(found) > 1:
            raise self.error(
                f"several {self.kind}s know files like {path}: {quoted(found)}",
                code=self.code,
                hint=f"say which: {self.key}: {{path: {path}, format: {found[0]}}}",
            )
        return found[0] if found else None

    def installed(self) -> str:
        """All formats, for messages."""
        return quoted([*NATIVE, *plugins.names(self.kind)])

    def get(self, name: str, path: Path) -> Any:
        """The plug-in of this name, ready for use."""
        try:
            return plugins.ready(self.kind, name)
        except MissingExtra as error:
            if error.code != "unknown-plugin":
                raise
            known = [*NATIVE, *plugins.names(self.kind)]
            raise self.error(
                f"no format {name!r} can be {self.done} (for {path}){did_you_mean(name, known)}",
                code=self.code,
                hint=f"installed are {self.installed()}",
            ) from None

    def check_options(self, name: str, path: Path, options: Mapping[str, str]) -> None:
        """Refuse options that the plug-in does not take: it would pass over them in silence."""
        takes = tuple(getattr(self.get(name, path), "takes", ()))
        for option in options:
            if option not in takes:
                raise self.error(
                    f"the {self.kind} {name!r} of {path} takes no option {option!r}"
                    f"{did_you_mean(option, takes)}",
                    code="unknown-option",
                    hint=f"it takes {quoted(takes) or 'none'}",
                )


READERS = Plugged("reader", BadData, code="unknown-format", done="read", key="source")
WRITERS = Plugged("writer", BadOutput, code="unknown-output-format", done="written", key="output")


def spool(
    name: str, path: Path, options: Mapping[str, str], into: Path, *, stored: bool = False
) -> tuple[str, ...]:
    """Write what the reader of this name gives to a Parquet file with the columns c0, c1, ...

    Returns the real names of the columns. With `stored` it is to be verified (see base.py).
    """
    reader: Reader = READERS.get(name, path)
    READERS.check_options(name, path, options)
    try:
        read = getattr(reader, "read_stored", reader.read) if stored else reader.read
        return _copy(read(path, options), into)
    except UserError:
        raise
    except Exception as error:
        raise BadData(
            f"the reader {name!r} cannot read {path} ({type(error).__name__})",
            code="reader-failed",
            hint="check that the file is whole and of this format",
        ) from error


def _copy(batches: Iterator[pa.RecordBatch], into: Path) -> tuple[str, ...]:
    """Every batch as it comes; each must have the columns of the first, as text."""
    first = next(batches := iter(batches), None)
    if first is None:
        return ()
    names = first.schema.names
    schema = pa.schema([(f"c{i}", pa.string()) for i in range(len(names))])
    with pq.ParquetWriter(into, schema) as writer:
        for batch in chain([first], batches):
            if batch.schema.names != names or not all(map(_is_text, batch.schema.types)):
                raise TypeError("a reader gives batches of the same columns, all of them text")
            columns = [column.cast(pa.string()) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return tuple(names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def check_writer(name: str, path: Path, options: Mapping[str, str]) -> None:
    """Refuse, before any long work, a writer that is not installed, or that lacks a reader."""
    WRITERS.check_options(name, path, options)
    if name not in plugins.names("reader"):
        raise BadOutput(
            f"{path} could not be verified: there is a writer {name!r}, but no reader",
            code="unverifiable-format",
            hint="install a reader of this name, or choose another format",
        )
    check_reader = getattr(plugins.ready("reader", name), "check", None)
    if check_reader is not None:
        check_reader()


def check_capacity(name: str, path: Path, records: int) -> None:
    """Refuse more records than the format can hold."""
    most = getattr(WRITERS.get(name, path), "most", None)
    if most is not None and records > most:
        raise BadOutput(
            f"{path} would have {records:,} records, but {name} holds {most:,} at most",
            code="too-many-records",
            hint="write CSV or Parquet",
        )


def fill(name: str, rows: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
    """Let the writer of this name write all records to the file."""
    writer: Writer = WRITERS.get(name, path)
    try:
        writer.write(rows, path, options)
    except (UserError, OSError, duckdb.Error):
        raise
    except Exception as error:
        raise BadOutput(
            f"the writer {name!r} cannot write the release ({type(error).__name__})",
            code="writer-failed",
            hint="choose another format, and tell the writer's authors",
        ) from error

"""Files of any format as tables: a reader gives batches of text, and DuckDB reads those.

A reader is a plug-in. Its batches go to a private temporary Parquet file as they come, so a table
is never whole in memory, and all that counts and recodes works on it as on any other file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from shoal import plugins
from shoal.engines.base import NATIVE
from shoal.errors import BadData, MissingExtra, UserError, did_you_mean, quoted

BATCH = 10_000
"""Records of a batch that our own readers give."""


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


def format_by_ending(path: Path, ending: str) -> str | None:
    """The name of the reader for an ending; None where there is none, an error for several."""
    found = plugins.by_ending("reader", ending)
    if len(found) > 1:
        raise BadData(
            f"several readers know files like {path}: {quoted(found)}",
            code="unknown-format",
            hint=f"say which: source: {{path: {path}, format: {found[0]}}}",
        )
    return found[0] if found else None


def readable() -> str:
    """What can be read, for messages."""
    return quoted([*NATIVE, *plugins.names("reader")])


def spool(
    name: str, path: Path, options: Mapping[str, str], into: Path, *, stored: bool = False
) -> tuple[str, ...]:
    """Write what the reader of this name gives to a Parquet file with the columns c0, c1, ...

    Returns the real names of the columns. With `stored` it is to be verified (see base.py).
    """
    reader = _reader(name, path)
    check_options(name, getattr(reader, "takes", ()), options, path)
    try:
        read = getattr(reader, "read_stored", reader.read) if stored else reader.read
        return _copy(read(path, options), into)
    except UserError:
        raise
    except Exception as error:
        raise BadData(
            f"the reader {name!r} cannot read {path} ({type(error).__name__})",
            code="reader-failed",
            hint="see that the file is whole and of this format",
        ) from error


def check_options(
    name: str, takes: tuple[str, ...], options: Mapping[str, str], path: Path
) -> None:
    """Refuse options that a reader does not take: it would pass over them in silence."""
    for option in options:
        if option not in takes:
            raise BadData(
                f"the reader {name!r} of {path} takes no option {option!r}"
                f"{did_you_mean(option, takes)}",
                code="unknown-option",
                hint=f"it takes {quoted(takes) or 'none'}",
            )


def _reader(name: str, path: Path) -> Reader:
    try:
        reader: Reader = plugins.ready("reader", name)
    except MissingExtra as error:
        if error.code != "unknown-plugin":
            raise
        known = [*NATIVE, *plugins.names("reader")]
        raise BadData(
            f"no format {name!r} can be read (for {path}){did_you_mean(name, known)}",
            code="unknown-format",
            hint=f"installed are {readable()}",
        ) from None
    return reader


def _copy(batches: Iterator[pa.RecordBatch], into: Path) -> tuple[str, ...]:
    """Every batch as it comes; each must have the columns of the first, as text."""
    first = next(batches := iter(batches), None)
    if first is None:
        return ()
    given = first.schema
    schema = pa.schema([(f"c{i}", pa.string()) for i in range(len(given.names))])
    with pq.ParquetWriter(into, schema) as writer:
        for batch in chain([first], batches):
            if batch.schema.names != given.names or not all(map(_is_text, batch.schema.types)):
                raise TypeError("a reader gives batches of the same columns, all of them text")
            columns = [column.cast(pa.string()) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return tuple(given.names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

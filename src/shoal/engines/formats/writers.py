"""Releases in files of any format: a writer is a plug-in that gets the records in their order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import duckdb

from shoal import plugins
from shoal.engines.base import NATIVE
from shoal.errors import BadOutput, MissingExtra, UserError, did_you_mean, quoted

if TYPE_CHECKING:
    import pyarrow as pa


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


def format_by_ending(path: Path, ending: str) -> str | None:
    """The name of the writer for an ending; None where there is none, an error for several."""
    found = plugins.by_ending("writer", ending)
    if len(found) > 1:
        raise BadOutput(
            f"several writers know files like {path}: {quoted(found)}",
            code="unknown-output-format",
            hint=f"say which: output: {{path: {path}, format: {found[0]}}}",
        )
    return found[0] if found else None


def writable() -> str:
    """What can be written, for messages."""
    return quoted([*NATIVE, *plugins.names("writer")])


def check_writer(name: str, path: Path, options: Mapping[str, str]) -> None:
    """Refuse, before any long work, a writer that is not there, or that nobody can read after."""
    writer = _writer(name, path)
    takes = tuple(getattr(writer, "takes", ()))
    for option in options:
        if option not in takes:
            raise BadOutput(
                f"the writer {name!r} of {path} takes no option {option!r}"
                f"{did_you_mean(option, takes)}",
                code="unknown-option",
                hint=f"it takes {quoted(takes) or 'none'}",
            )
    if name not in plugins.names("reader"):
        raise BadOutput(
            f"{path} could not be verified: there is a writer {name!r}, but no reader",
            code="unverifiable-format",
            hint="install a reader of this name, or choose another format",
        )
    check_reader = getattr(plugins.ready("reader", name), "check", None)
    if check_reader is not None:
        check_reader()


def check_room(name: str, path: Path, records: int) -> None:
    """Refuse more records than the format can hold."""
    most = getattr(_writer(name, path), "most", None)
    if most is not None and records > most:
        raise BadOutput(
            f"{path} would have {records:,} records, but {name} holds {most:,} at most",
            code="too-many-records",
            hint="write CSV or Parquet",
        )


def fill(name: str, rows: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
    """Let the writer of this name write all records to the file."""
    try:
        _writer(name, path).write(rows, path, options)
    except (UserError, OSError, duckdb.Error):
        raise
    except Exception as error:
        raise BadOutput(
            f"the writer {name!r} cannot write the release ({type(error).__name__})",
            code="writer-failed",
            hint="choose another format, and tell the writer's authors",
        ) from error


def _writer(name: str, path: Path) -> Writer:
    try:
        writer: Writer = plugins.ready("writer", name)
    except MissingExtra as error:
        if error.code != "unknown-plugin":
            raise
        known = [*NATIVE, *plugins.names("writer")]
        raise BadOutput(
            f"no format {name!r} can be written (for {path}){did_you_mean(name, known)}",
            code="unknown-output-format",
            hint=f"installed are {writable()}",
        ) from None
    return writer

"""A query written to a file by one COPY, the same bytes every time."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from shoal.engines.duck import Session, identifier, literal
from shoal.errors import BadOutput, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.engines.base import FileTarget

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "lines",
    ".ndjson": "lines",
}


def format_of(target: FileTarget) -> str:
    """csv, parquet, json (one array) or lines (one JSON object a line)."""
    by_ending = FORMATS.get(target.path.suffix.lower())
    if target.format is None and by_ending is None:
        raise BadOutput(
            f"the ending of {target.path} says no format that can be written",
            code="unknown-output-format",
            hint=f"use one of {quoted(FORMATS)}, or say format: csv, parquet or json",
        )
    if target.format == "json" and by_ending == "lines":
        return "lines"
    return target.format or str(by_ending)


def check_names_for(kind: str, names: tuple[str, ...]) -> None:
    """Parquet written by DuckDB cannot tell apart names that differ in case alone."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if kind == "parquet" and other != name:
            raise BadOutput(
                f"the columns {other!r} and {name!r} differ only in case, which Parquet files"
                " written here cannot hold",
                code="names-differ-in-case",
                hint="write CSV or JSON, or rename or drop one of the columns",
            )


def write(
    session: Session, query: str, names: tuple[str, ...], path: Path, kind: str, delimiter: str
) -> None:
    """Write the columns r0, r1, ... of a query, in its order, under their real names.

    The file is there already, private and empty, and is filled in place (USE_TMP_FILE false):
    DuckDB's own temporary file would be readable by others and stay behind when we are killed.
    """
    if kind == "parquet":
        _write_parquet(session, query, names, path)
    elif kind == "csv":
        _write_csv(session, query, names, path, delimiter)
    else:
        _write_json(session, query, names, path, kind)


def _write_parquet(session: Session, query: str, names: tuple[str, ...], path: Path) -> None:
    renamed = ", ".join(f"r{i} AS {identifier(name)}" for i, name in enumerate(names))
    session.copy(
        f"COPY (SELECT {renamed} FROM ({query})) TO {literal(str(path))}"
        " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
    )


def _write_csv(
    session: Session, query: str, names: tuple[str, ...], path: Path, delimiter: str
) -> None:
    """The header is the prefix, in our words: DuckDB's own would rename `a` beside `A`.

    With a prefix DuckDB writes line ends between records only, so the suffix ends the last one. A
    table of one column has its missing values as `""`, since readers skip an empty line.
    """
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(names)
    released = ", ".join(f"r{i}" for i in range(len(names)))
    if len(names) == 1:
        released = "coalesce(CAST(r0 AS VARCHAR), '') AS r0"
    written = session.copy(
        f"COPY (SELECT {released} FROM ({query})) TO {literal(str(path))}"
        f" (FORMAT csv, HEADER false, DELIMITER {literal(delimiter)}, QUOTE '\"', ESCAPE '\"',"
        f" NULLSTR '', PREFIX {literal(header.getvalue())}, SUFFIX '\n', USE_TMP_FILE false)"
    )
    if not written:
        path.write_text(header.getvalue(), encoding="utf-8", newline="\n")


def _write_json(
    session: Session, query: str, names: tuple[str, ...], path: Path, kind: str
) -> None:
    """One object a line. JSON escapes line ends, so lines of JSON are CSV without any quoting."""
    pairs = ", ".join(f"{literal(name)}, r{i}" for i, name in enumerate(names))
    frame = "PREFIX '[\n', SUFFIX '\n]\n', NEW_LINE ',\n'" if kind == "json" else "NEW_LINE '\n'"
    written = session.copy(
        f"COPY (SELECT json_object({pairs}) FROM ({query})) TO {literal(str(path))}"
        f" (FORMAT csv, HEADER false, DELIMITER '\n', QUOTE '', ESCAPE '', {frame},"
        " USE_TMP_FILE false)"
    )
    if not written:
        path.write_text("[]\n" if kind == "json" else "", encoding="utf-8", newline="\n")

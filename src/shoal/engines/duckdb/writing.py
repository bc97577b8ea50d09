"""A query written to a file by one COPY, or by a plugged-in writer; the same bytes every time.

The second half escapes formulas in CSV. A spreadsheet runs a cell that begins with one of STARTS,
quoted or not, unless it is a number with a sign. An apostrophe before the cell makes it text. It is
put before every formula, also before one that has apostrophes already, and is taken away from the
same texts when the release is read. So no two texts become one, and what is read is what was
released.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.engines.duckdb.local_csv import encode, with_comma
from shoal.engines.duckdb.session import INFINITE, Session, identifier, literal
from shoal.engines.failures import check_finite, names_differing_in_case
from shoal.engines.formats.registry import (
    ENDINGS,
    PACKED,
    WRITERS,
    check_capacity,
    check_writer,
    fill,
)
from shoal.errors import BadOutput, quoted

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.engines.options import FileTarget


@dataclass(frozen=True)
class Layout:
    """How a file is written: csv, parquet, json (one array) or json lines (one object a line).

    Any other kind is the name of a writer, which gets the options.
    """

    kind: str
    delimiter: str
    packing: str
    options: Mapping[str, str] = field(default_factory=dict)
    formulas: str = "keep"
    encoding: str = "utf-8"
    decimal: str = "."

    @property
    def ending(self) -> str:
        """An ending by which the file can be read again."""
        by_packing = {packing: ending for ending, packing in PACKED.items()}
        by_kind = {kind: ending for ending, kind in reversed(ENDINGS.items())}
        return by_kind.get(self.kind, f".{self.kind}") + by_packing.get(self.packing, "")


def layout_of(target: FileTarget) -> Layout:
    """The layout of a target; Parquet packs its own columns."""
    kind, packing = WRITERS.format_of(target.path, target.format)
    if kind == "parquet" and packing != "none":
        raise BadOutput(
            f"{target.path} would be compressed twice: Parquet files are compressed already",
            code="packed-parquet",
            hint=f"leave out the ending {target.path.suffix}",
        )
    if kind not in ENDINGS.values():
        check_writer(kind, target.path, target.options)
        if packing != "none":
            raise BadOutput(
                f"{target.path} would be compressed, which only CSV and JSON can be",
                code="packed-output",
                hint=f"leave out the ending {target.path.suffix}",
            )
    elif target.options:
        raise BadOutput(
            f"{kind} takes no options, but the output {target.path} has {quoted(target.options)}",
            code="unknown-option",
            hint="leave them out",
        )
    return Layout(
        kind,
        target.delimiter,
        packing,
        target.options,
        target.formulas,
        target.encoding,
        target.decimal,
    )


def check_records(target: FileTarget, records: int) -> None:
    """Refuse a release with at least this many records if its format cannot hold them."""
    kind = layout_of(target).kind
    if kind not in ENDINGS.values():
        check_capacity(kind, target.path, records)


def check_columns(target: FileTarget, source: Source, released: Collection[str]) -> None:
    """Refuse, before the search, numbers that the format cannot hold."""
    if layout_of(target).kind in ("json", "json lines"):
        check_finite(source, released, str(target.path), "infinite-number")


def check_names_for(kind: str, names: tuple[str, ...]) -> None:
    """Parquet written by DuckDB cannot hold names that differ in case alone."""
    alike = names_differing_in_case(names) if kind == "parquet" else None
    if alike is not None:
        raise BadOutput(
            f"the columns {alike[0]!r} and {alike[1]!r} differ only in case, which Parquet files"
            " written here cannot hold",
            code="names-differ-in-case",
            hint="write CSV or JSON, or rename or drop one of the columns",
        )


def write(session: Session, query: str, names: tuple[str, ...], path: Path, layout: Layout) -> None:
    """Write the columns r0, r1, ... of a query, in its order, under their real names.

    The file is there already, private and empty, and is filled in place (USE_TMP_FILE false):
    DuckDB's own temporary file would be readable by others and stay behind when we are killed.
    """
    if layout.kind == "parquet":
        _write_parquet(session, query, names, path)
    elif layout.kind == "csv":
        _write_encoded(session, query, names, path, layout)
    elif layout.kind in ENDINGS.values():
        _write_json(session, query, names, path, layout)
    else:
        texts = ", ".join(f"CAST(r{i} AS VARCHAR) AS r{i}" for i in range(len(names)))
        with session.stream(f"SELECT {texts} FROM ({query})", names) as rows:
            fill(layout.kind, rows, path, layout.options)


def _write_parquet(session: Session, query: str, names: tuple[str, ...], path: Path) -> None:
    renamed = ", ".join(f"r{i} AS {identifier(name)}" for i, name in enumerate(names))
    session.copy(
        f"COPY (SELECT {renamed} FROM ({query})) TO {literal(str(path))}"
        " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
    )


def _write_encoded(
    session: Session, query: str, names: tuple[str, ...], path: Path, layout: Layout
) -> None:
    """DuckDB writes UTF-8; for another encoding that is a private file, which is copied."""
    if layout.encoding in ("utf-8", MARKED):
        _write_csv(session, query, names, path, layout)
        return
    plain = session.folder / "in-utf-8"
    try:
        plain.touch(0o600)
        _write_csv(session, query, names, plain, layout)
        encode(plain, path, layout.encoding, layout.packing)
    finally:
        plain.unlink(missing_ok=True)


def _write_csv(
    session: Session, query: str, names: tuple[str, ...], path: Path, layout: Layout
) -> None:
    """The header is the prefix, written by us: DuckDB's own would rename `a` beside `A`.

    With a prefix DuckDB writes line ends between records only, so the suffix ends the last one. A
    table of one column has its missing values as `""`, since readers skip an empty line.
    """
    header = io.StringIO()
    header.write("\ufeff" if layout.encoding == MARKED else "")
    csv.writer(header, delimiter=layout.delimiter, lineterminator="\n").writerow(names)
    cells = [f"r{i}" for i in range(len(names))]
    if layout.decimal == ",":
        texts = ", ".join(f"CAST(r{i} AS VARCHAR) AS r{i}" for i in range(len(names)))
        query = f"SELECT {texts} FROM ({query})"
        query = f"SELECT {', '.join(f'{with_comma(c)} AS {c}' for c in cells)} FROM ({query})"
    if layout.formulas == ESCAPE:
        kinds = session.types(query)
        cells = [escaped(f"r{i}") if kind == "VARCHAR" else f"r{i}" for i, kind in enumerate(kinds)]
    if len(names) == 1:
        cells = [f"coalesce(CAST({cells[0]} AS VARCHAR), '')"]
    released = ", ".join(f"{cell} AS r{i}" for i, cell in enumerate(cells))
    written = session.copy(
        f"COPY (SELECT {released} FROM ({query})) TO {literal(str(path))}"
        f" (FORMAT csv, HEADER false, DELIMITER {literal(layout.delimiter)}, QUOTE '\"',"
        f" ESCAPE '\"', NULLSTR '', PREFIX {literal(header.getvalue())}, SUFFIX '\n',"
        f" COMPRESSION {layout.packing}, USE_TMP_FILE false)"
    )
    if not written:
        _write_text(path, header.getvalue(), layout)


def _write_json(
    session: Session, query: str, names: tuple[str, ...], path: Path, layout: Layout
) -> None:
    """One object a line. JSON escapes line ends, so lines of JSON are CSV without any quoting."""
    values = [_in_json(f"r{i}", kind) for i, kind in enumerate(session.types(query))]
    pairs = ", ".join(f"{literal(n)}, {value}" for n, value in zip(names, values, strict=True))
    is_array = layout.kind == "json"
    frame = "PREFIX '[\n', SUFFIX '\n]\n', NEW_LINE ',\n'" if is_array else "NEW_LINE '\n'"
    written = session.copy(
        f"COPY (SELECT json_object({pairs}) FROM ({query})) TO {literal(str(path))}"
        f" (FORMAT csv, HEADER false, DELIMITER '\n', QUOTE '', ESCAPE '', {frame},"
        f" COMPRESSION {layout.packing}, USE_TMP_FILE false)"
    )
    if not written:
        _write_text(path, "[]\n" if is_array else "", layout)


def _in_json(value: str, kind: str) -> str:
    """SQL for a value as JSON writes it so that its text is the same when it is read again.

    Numbers of JSON are read as doubles. So a single is written as the double with the same shortest
    text, decimals with a fraction as text, which keeps all digits. Infinite numbers stop the query.
    """
    if kind in ("FLOAT", "DOUBLE"):
        double = value if kind == "DOUBLE" else f"CAST(CAST({value} AS VARCHAR) AS DOUBLE)"
        return (
            f"CASE WHEN isfinite({value}) THEN {double} WHEN {value} IS NOT NULL THEN {_STOP} END"
        )
    if kind.startswith("DECIMAL"):
        return f"CAST({value} AS {'HUGEINT' if kind.endswith(',0)') else 'VARCHAR'})"
    return value


_STOP = f"error({literal(INFINITE)})"


def _write_text(path: Path, text: str, layout: Layout) -> None:
    """The header or brackets that DuckDB leaves out where there are no records."""
    packing = None if layout.packing == "none" else layout.packing
    with pa.output_stream(str(path), compression=packing) as file:
        file.write(text.encode())


MARKED = "utf-8-sig"
"""UTF-8 with a mark at the beginning, by which Excel knows it."""

ESCAPE = "escape"
"""What an output says so that formulas are made harmless."""

STARTS = r"=+\-@\t\r\n＝＋－＠"
FORMULA = rf"(?s)[{STARTS}].+"
NUMBER = r"[+-]?\.?[0-9][0-9., ]*([eE][+-]?[0-9]+)?%?"
"""A cell that is run matches FORMULA as a whole, and not NUMBER."""

_FORMULA, _NUMBER = literal(FORMULA), literal(NUMBER)
_APOSTROPHE = literal("'")


def is_formula(text: str) -> str:
    """SQL that is true where a text, which is SQL too, would be run."""
    return f"(regexp_full_match({text}, {_FORMULA}) AND NOT regexp_full_match({text}, {_NUMBER}))"


def escaped(text: str) -> str:
    """SQL for a text as it is written."""
    return f"CASE WHEN {_is_marked(text)} THEN {_APOSTROPHE} || {text} ELSE {text} END"


def unescaped(text: str) -> str:
    """SQL for a text as it was before it was written."""
    marked = f"starts_with({text}, {_APOSTROPHE}) AND {_is_marked(text)}"
    return f"CASE WHEN {marked} THEN substr({text}, 2) ELSE {text} END"


def _is_marked(text: str) -> str:
    """SQL that is true for a formula with any number of apostrophes before it."""
    return is_formula(f"ltrim({text}, {_APOSTROPHE})")

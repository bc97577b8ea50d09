"""Files as sources: CSV, Parquet, JSON and what readers read, alone or by a glob, packed or not.

A folder is a source when it has Parquet files; folders named `column=value` are columns too.
"""

from __future__ import annotations

import errno
import glob
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb
import pyarrow as pa

from shoal.engines.duckdb import json_shape
from shoal.engines.duckdb.local_csv import without_comma
from shoal.engines.duckdb.paths import matching
from shoal.engines.duckdb.relation import FileScan, union
from shoal.engines.duckdb.session import Session, disk_full, explained, literal
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.writing import ESCAPE, unescaped
from shoal.engines.failures import check_names
from shoal.engines.formats.csv import (
    Dialect,
    fault,
    read_csv_options,
    regular_line_end,
    rows_above,
    sniff,
    tidy,
)
from shoal.engines.formats.decimals import pattern, removed
from shoal.engines.formats.parquet import (
    faults,
    fixed_folder,
    partitions_of,
    schema_of,
)
from shoal.engines.formats.registry import READERS, spool
from shoal.engines.object_store.address import SCHEME, is_object
from shoal.engines.object_store.store import COPIES, fetch
from shoal.engines.options import Resources
from shoal.errors import BadData, UserError

if TYPE_CHECKING:
    from shoal.engines.options import FileOptions


@dataclass(frozen=True)
class SameShape:
    """Parquet files that one scan can read: the same columns, types and partition."""

    schema: pa.Schema
    partition: tuple[tuple[str, str | None], ...]


def open_files(
    options: FileOptions,
    expect: Collection[str] = (),
    *,
    name: str | None = None,
    resources: Resources = Resources(),  # noqa: B008 frozen
    stored: bool = False,
) -> TableSource:
    """Open the files of a path or glob as one table.

    `expect` are column names that the caller expects; they help to tell a header from a record. The
    table is called `name` in messages, by its path if none is given. With `stored` the
    values are compared as they are stored, to be verified (see base.py).
    """
    if is_object(options.path):
        return _open_objects(options, expect, name=name, resources=resources, stored=stored)
    paths = matching(options.path)
    session = Session(resources)
    try:
        return _opened(session, paths, options, expect, name or options.path, stored=stored)
    except BaseException:
        session.close()
        raise


def _opened(
    session: Session,
    paths: Sequence[Path],
    options: FileOptions,
    expect: Collection[str],
    name: str,
    *,
    stored: bool,
    reworded: Callable[[BadData], BadData] = lambda error: error,
) -> TableSource:
    """What the files of a session have; `reworded` gives an error about them its final words."""
    try:
        scans = _scans(session, paths, options, expect, stored=stored)
        relation = union(session, name, scans, stored=stored)
    except duckdb.Error as error:
        raise _diagnosed(error, ()) or explained(error, options.path) from None
    if not {"FLOAT", "DOUBLE"}.isdisjoint(relation.types):
        session.distrust_statistics()

    def diagnosed(error: duckdb.Error) -> BadData | None:
        found = _diagnosed(error, scans)
        return None if found is None else reworded(found)

    return TableSource(session, relation, paths, diagnosed)


def _open_objects(
    options: FileOptions,
    expect: Collection[str],
    *,
    name: str | None,
    resources: Resources,
    stored: bool,
) -> TableSource:
    """Open copies of objects, which are in the session's private folder until it is closed."""
    session = Session(resources)
    try:
        copies = fetch(options.path, session.folder, resources.on_progress or (lambda _: None))
        local = replace(options, path=copies)
        paths = matching(copies)
        reworded = partial(_as_of_objects, folder=session.folder)
        shown = name or options.path
        return _opened(session, paths, local, expect, shown, stored=stored, reworded=reworded)
    except UserError as error:
        session.close()
        raise _as_of_objects(error, session.folder) from None
    except BaseException:
        session.close()
        raise


Failure = TypeVar("Failure", bound=UserError)


def _as_of_objects(error: Failure, folder: Path) -> Failure:
    """An error that names objects, not their copies."""
    copies = f"{folder / COPIES}/"
    error.what = error.what.replace(copies, SCHEME)
    error.hint = error.hint.replace(copies, SCHEME)
    return error


def _scans(
    session: Session,
    paths: Sequence[Path],
    options: FileOptions,
    expect: Collection[str],
    *,
    stored: bool,
) -> list[FileScan]:
    """Each file as SQL that reads it; Parquet files that are alike are one."""
    scans: list[FileScan] = []
    alike: dict[SameShape, list[Path]] = {}
    for number, path in enumerate(paths):
        if _format(path, options)[0] == "parquet":
            _refuse_layout(path, options, "Parquet")
            partition = tuple(partitions_of(path, fixed_folder(options.path)).items())
            alike.setdefault(SameShape(schema_of(path), partition), []).append(path)
        else:
            scans.append(_scan(session, path, options, expect, number, stored=stored))
    return scans + [_parquet(shape, files) for shape, files in alike.items()]


def _format(path: Path, options: FileOptions) -> tuple[str, str]:
    """The format and the packing of a file; DuckDB finds out by itself whether JSON has lines."""
    kind, packing = READERS.format_of(path, options.format)
    return kind.removesuffix(" lines"), packing


def _scan(
    session: Session,
    path: Path,
    options: FileOptions,
    expect: Collection[str],
    number: int,
    *,
    stored: bool,
) -> FileScan:
    kind, packing = _format(path, options)
    try:
        if kind == "csv":
            scan = _csv(session, path, packing, sniff(path, options, expect), number)
            scan = _without_escapes(scan) if options.formulas == ESCAPE else scan
            scan = _without_commas(scan) if options.written_decimal == "," else scan
            scan = _with_points(scan, options.decimal) if options.decimal else scan
        elif kind == "json":
            _refuse_layout(path, options, "JSON")
            scan = _json(session, path, packing, stored=stored)
        else:
            scan = _plugged(session, kind, path, packing, options, number, stored=stored)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(f"there is no room for a copy of {path}") from None
        raise BadData(
            f"{path} cannot be unpacked or read ({type(error).__name__})",
            code="unreadable-data",
            hint="check that the file is whole and of the format its ending says",
        ) from None
    check_names(scan.names, str(path))
    return scan


def _csv(session: Session, path: Path, packing: str, dialect: Dialect, number: int) -> FileScan:
    """Every column as text, every row or an error; a file that is not regular is tidied first.

    The strict mode is DuckDB's default and must not be stated: beside `new_line`, DuckDB 2.0
    reads a file with carriage returns as empty.
    """
    check_names(dialect.names, str(path))
    reads, regular = path, dialect
    line_end = regular_line_end(path, dialect)
    if line_end is None:
        reads, packing, line_end = session.folder / f"tidy-{number}.csv", "none", "\n"
        regular = tidy(path, dialect, reads)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.names)))
    stated = {name: literal(value) for name, value in read_csv_options(regular, line_end).items()}
    options = {
        "auto_detect": "false",
        "columns": f"{{{columns}}}",
        **stated,
        "compression": literal(packing),
        "null_padding": "false",
        "ignore_errors": "false",
    }
    scan = f"read_csv({_path(reads)}, {_arguments(options)})"
    return FileScan(path, scan, dialect.names, dialect, is_text=True)


def _without_escapes(scan: FileScan) -> FileScan:
    """A release whose formulas were escaped, as it was before."""
    columns = ", ".join(f"{unescaped(f'c{i}')} AS c{i}" for i in range(len(scan.names)))
    return replace(scan, sql=f"(SELECT {columns} FROM {scan.sql})")


def _without_commas(scan: FileScan) -> FileScan:
    """A release with decimal commas, as it was before."""
    columns = ", ".join(f"{without_comma(f'c{i}')} AS c{i}" for i in range(len(scan.names)))
    return replace(scan, sql=f"(SELECT {columns} FROM {scan.sql})")


def _with_points(scan: FileScan, decimal: str) -> FileScan:
    """Numbers with this decimal mark, with a point and without marks between thousands."""
    number, marks = literal(pattern(decimal)), literal(removed(decimal))

    def read(column: str) -> str:
        plain = f"replace(translate({column}, {marks}, ''), {literal(decimal)}, '.')"
        return f"CASE WHEN regexp_full_match({column}, {number}) THEN {plain} ELSE {column} END"

    columns = ", ".join(f"{read(f'c{i}')} AS c{i}" for i in range(len(scan.names)))
    return replace(scan, sql=f"(SELECT {columns} FROM {scan.sql})")


def _refuse_layout(path: Path, options: FileOptions, kind: str) -> None:
    """Parquet and JSON say themselves what their names and numbers are."""
    row = rows_above(options.header)
    stated = "decimal" if options.decimal else "header" if row else None
    if stated:
        raise BadData(
            f"{path} is {kind}, which takes no `{stated}`",
            code="unknown-option",
            hint=f"leave out `{stated}`: only CSV and Excel files need it",
        )


def _layout(options: FileOptions) -> dict[str, str]:
    """The keys of a source that a reader gets as options, where they are stated.

    That the first row has the names is what every reader takes for granted.
    """
    found = {}
    if options.header is False or rows_above(options.header):
        found["header"] = str(options.header).lower()
    if options.decimal:
        found["decimal"] = options.decimal
    return found


def _parquet(alike: SameShape, paths: Sequence[Path]) -> FileScan:
    """One scan of files that are alike; a column of the files wins over a folder of its name."""
    constants = {name: value for name, value in alike.partition if name not in alike.schema.names}
    values = ["NULL" if value is None else literal(value) for value in constants.values()]
    selected = "".join(f", CAST({value} AS VARCHAR)" for value in values)
    files = ", ".join(_path(path) for path in paths)
    scan = f"(SELECT *{selected} FROM read_parquet([{files}], hive_partitioning=false))"
    return FileScan(
        paths[0], scan, (*alike.schema.names, *constants), faults=faults(alike.schema, paths)
    )


def _json(session: Session, path: Path, packing: str, *, stored: bool) -> FileScan:
    json_shape.refuse_open_array(path, packing)
    objects = f"read_json_objects({_path(path)}, format='auto', compression={literal(packing)})"
    columns_of = json_shape.stored_columns_of if stored else json_shape.columns_of
    columns = columns_of(session, objects, str(path))
    return FileScan(path, f"({json_shape.query(objects, columns)})", tuple(columns))


def _plugged(
    session: Session,
    kind: str,
    path: Path,
    packing: str,
    options: FileOptions,
    number: int,
    *,
    stored: bool,
) -> FileScan:
    """What a plugged-in reader gives, copied to a file of the session's own folder."""
    reads = path
    if packing != "none":
        reads = session.folder / f"unpacked-{number}{path.with_suffix('').suffix}"
        with pa.input_stream(str(path), compression=packing) as packed, reads.open("wb") as file:
            shutil.copyfileobj(packed, file)
    into = session.folder / f"read-{number}.parquet"
    names = spool(kind, reads, {**options.options, **_layout(options)}, into, stored=stored)
    return FileScan(path, f"read_parquet({_path(into)})", names, is_text=True)


def _path(path: Path) -> str:
    """A path for DuckDB, which would take `*`, `?` and `[` in it for a glob."""
    return literal(glob.escape(str(path)))


def _arguments(options: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items())


def _diagnosed(error: duckdb.Error, scans: Iterable[FileScan]) -> BadData | None:
    """Which file is gone, or where one is broken.

    CSV is read again in Python, for JSON DuckDB's message says where.
    """
    pattern = r'Malformed JSON in file "(.*)", at byte \d+ in (line|record/value) (\d+): ([\w -]+)'
    if match := re.search(pattern, str(error)):
        unit = "line" if match[2] == "line" else "record"
        return BadData(
            f"{match[1]} is not JSON near {unit} {match[3]}: {match[4].strip()}",
            code="unreadable-data",
            hint="check that the file is whole: one array of objects, or one object a line",
        )
    for scan in scans:
        if not scan.path.exists():
            return BadData(
                f"{scan.path} was there when it was opened, and is gone now",
                code="no-file",
                hint="put the file back, and run again",
            )
        if scan.dialect and (found := fault(scan.path, scan.dialect)):
            return found
    return None

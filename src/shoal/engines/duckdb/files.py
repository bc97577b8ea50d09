"""Files as sources: CSV, Parquet, JSON and what readers read, alone or by a glob, packed or not.

A folder is a source when it has Parquet files; folders named `column=value` are columns too.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from shoal import plugins
from shoal.engines.base import Resources, without_password
from shoal.engines.duckdb import json_shape
from shoal.engines.duckdb.formulas import ESCAPE, unescaped
from shoal.engines.duckdb.merging import merging
from shoal.engines.duckdb.partitions import fixed_folder, parquet_below, partitions_of
from shoal.engines.duckdb.relation import Relation
from shoal.engines.duckdb.session import Session, disk_full, explained, literal
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.writing import PACKED
from shoal.engines.failures import check_names, check_same_columns
from shoal.engines.formats import csv_rows, parquet_shape
from shoal.engines.formats.csv_dialect import Dialect, sniff
from shoal.engines.formats.readers import format_by_ending, readable, spool
from shoal.engines.same_file import from_home
from shoal.errors import BadData, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.engines.base import FileOptions

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


@dataclass(frozen=True)
class Part:
    """One file: SQL that reads it, the names of its columns, and its dialect if it is CSV.

    `is_text` says that all its columns are text, `faults` by name which of them DuckDB cannot read
    as they are.
    """

    path: Path
    reads: str
    names: tuple[str, ...]
    dialect: Dialect | None = None
    is_text: bool = False
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Alike:
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

    `expect` are column names the caller hopes for; they help to tell a header from a record. The
    table is called `name` in messages, by its path if none is given. With `stored` what is in the
    files is told apart as it is there, to be verified (see base.py).
    """
    paths = matching(options.path)
    session = Session(resources)
    try:
        parts = _parts(session, paths, options, expect, stored=stored)
        relation = _union(session, name or options.path, parts, stored=stored)
        if not {"FLOAT", "DOUBLE"}.isdisjoint(relation.types):
            session.distrust_statistics()
    except duckdb.Error as error:
        session.close()
        raise _diagnosed(error, ()) or explained(error, options.path) from None
    except BaseException:
        session.close()
        raise
    return TableSource(session, relation, paths, lambda error: _diagnosed(error, parts))


def matching(pattern: str) -> list[Path]:
    """The files of a path or glob, sorted; errors that say what stands there instead."""
    exact = from_home(pattern)
    if os.path.isdir(exact):  # noqa: PTH112 a name may be too long
        found = parquet_below(exact)
        if not found:
            raise BadData(
                f"{pattern} is a folder without Parquet files",
                code="source-is-a-folder",
                hint=f"name a file in it, or several by a glob such as {Path(pattern) / '*.csv'}",
            )
    elif os.path.exists(exact):  # noqa: PTH110
        found = [exact]
    else:
        names = glob.iglob(str(exact), recursive=True)  # noqa: PTH207 Path.glob: relative only
        found = sorted(path for path in map(Path, names) if path.is_file())
    if not found:
        raise _nothing_there(pattern, exact)
    for path in found:
        _check_readable(path)
    return found


def _nothing_there(pattern: str, exact: Path) -> BadData:
    if url := re.match(r"([A-Za-z][\w+.-]+):/+(.+)", pattern):
        return BadData(
            f"{without_password(f'{url[1]}://{url[2]}')} is a URL, not a file",
            code="bad-url",
            hint="a definition can read a database: source: {url: postgresql://host/db, table: t};"
            " fetch what is on the web first",
        )
    if glob.has_magic(pattern):
        return BadData(
            f"no file matches {pattern}",
            code="no-files",
            hint="see that the folder and the ending are right; ** looks in folders below too",
        )
    if not exact.parent.is_dir():
        return BadData(
            f"no folder {exact.parent} (for {exact.name})",
            code="no-file",
            hint="see that the path is right; in a definition it is relative to that file",
        )
    try:
        neighbours = [path.name for path in exact.parent.iterdir() if path.is_file()]
    except OSError as error:
        return BadData(
            f"the folder {exact.parent} cannot be read ({error.strerror})",
            code="file-not-readable",
            hint="change its permissions, or choose another file",
        )
    return BadData(
        f"no file {pattern}{did_you_mean(exact.name, neighbours)}",
        code="no-file",
        hint="see that the path is right; in a definition it is relative to that file",
    )


def _check_readable(path: Path) -> None:
    if not path.is_file():
        raise BadData(
            f"{path} is not a file that can be read twice",
            code="file-not-readable",
            hint="write what a pipe or a device gives to a file first",
        )
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise BadData(
            f"{path} cannot be read ({error.strerror})",
            code="file-not-readable",
            hint="change its permissions, or choose another file",
        ) from None
    if empty:
        raise BadData(f"{path} is empty", code="empty-file", hint="see that it is the right file")


def _format(path: Path, stated: str | None) -> tuple[str, str]:
    """The format and the packing of a file."""
    packing = PACKED.get(path.suffix.lower(), "none")
    ending = path.with_suffix("").suffix if packing != "none" else path.suffix
    ending = ending.lower()
    kind = stated or FORMATS.get(ending) or format_by_ending(path, ending)
    if kind is None:
        known = [*FORMATS, *plugins.endings("reader")]
        raise BadData(
            f"the ending of {path} says no format that can be read",
            code="unknown-format",
            hint=f"known endings are {quoted(known)}; or state one of the formats {readable()}:"
            f" source: {{path: {path}, format: csv}}",
        )
    return kind, packing


def _parts(
    session: Session,
    paths: Sequence[Path],
    options: FileOptions,
    expect: Collection[str],
    *,
    stored: bool,
) -> list[Part]:
    """Each file as a part of the table; Parquet files that are alike are one."""
    parts: list[Part] = []
    alike: dict[Alike, list[Path]] = {}
    root = fixed_folder(options.path)
    for number, path in enumerate(paths):
        if _format(path, options.format)[0] == "parquet":
            told = tuple(partitions_of(path, root).items())
            alike.setdefault(Alike(parquet_shape.schema_of(path), told), []).append(path)
        else:
            parts.append(_part(session, path, options, expect, number, stored=stored))
    return parts + [_parquet(kind, files) for kind, files in alike.items()]


def _part(
    session: Session,
    path: Path,
    options: FileOptions,
    expect: Collection[str],
    number: int,
    *,
    stored: bool,
) -> Part:
    kind, packing = _format(path, options.format)
    try:
        if kind == "csv":
            part = _csv(session, path, packing, sniff(path, options, expect), number)
            part = _without_escapes(part) if options.formulas == ESCAPE else part
        elif kind == "json":
            part = _json(session, path, packing, stored=stored)
        else:
            part = _foreign(session, kind, path, packing, options, number, stored=stored)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(f"there is no room for a copy of {path}") from None
        raise BadData(
            f"{path} cannot be unpacked or read ({type(error).__name__})",
            code="unreadable-data",
            hint="see that the file is whole and of the format its ending says",
        ) from None
    check_names(part.names, str(path))
    return part


def _csv(session: Session, path: Path, packing: str, dialect: Dialect, number: int) -> Part:
    """Every column as text, every row or an error; a file that is not regular is tidied first.

    The strict mode is DuckDB's default and must stay unsaid: stated beside `new_line`, DuckDB 2.0
    reads a file with carriage returns as empty.
    """
    check_names(dialect.names, str(path))
    reads, regular = path, dialect
    line_end = csv_rows.regular_line_end(path, dialect)
    if line_end is None:
        reads, packing, line_end = session.folder / f"tidy-{number}.csv", "none", "\n"
        regular = csv_rows.tidy(path, dialect, reads)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.names)))
    options = {
        "auto_detect": "false",
        "columns": f"{{{columns}}}",
        "header": str(regular.header).lower(),
        "delim": literal(regular.delimiter),
        "quote": literal(regular.quote),
        "escape": literal(regular.quote),
        "new_line": literal(line_end.replace("\r", "\\r").replace("\n", "\\n")),
        "compression": literal(packing),
        "null_padding": "false",
        "ignore_errors": "false",
    }
    scan = f"read_csv({_path(reads)}, {_arguments(options)})"
    return Part(path, scan, dialect.names, dialect, is_text=True)


def _without_escapes(part: Part) -> Part:
    """A release whose formulas were escaped, as it was before."""
    columns = ", ".join(f"{unescaped(f'c{i}')} AS c{i}" for i in range(len(part.names)))
    return replace(part, reads=f"(SELECT {columns} FROM {part.reads})")


def _parquet(alike: Alike, paths: Sequence[Path]) -> Part:
    """One scan of files that are alike; a column of the files wins over a folder of its name."""
    told = {name: value for name, value in alike.partition if name not in alike.schema.names}
    values = ["NULL" if value is None else literal(value) for value in told.values()]
    constants = "".join(f", CAST({value} AS VARCHAR)" for value in values)
    files = ", ".join(_path(path) for path in paths)
    scan = f"(SELECT *{constants} FROM read_parquet([{files}], hive_partitioning=false))"
    faults = parquet_shape.faults(alike.schema, paths)
    return Part(paths[0], scan, (*alike.schema.names, *told), faults=faults)


def _json(session: Session, path: Path, packing: str, *, stored: bool) -> Part:
    objects = f"read_json_objects({_path(path)}, format='auto', compression={literal(packing)})"
    columns_of = json_shape.stored_columns_of if stored else json_shape.columns_of
    columns = columns_of(session, objects, str(path))
    return Part(path, f"({json_shape.query(objects, columns)})", tuple(columns))


def _foreign(
    session: Session,
    kind: str,
    path: Path,
    packing: str,
    options: FileOptions,
    number: int,
    *,
    stored: bool,
) -> Part:
    """What a reader gives, in a file of the session's own folder; unpacked there before."""
    reads = path
    if packing != "none":
        reads = session.folder / f"unpacked-{number}{path.with_suffix('').suffix}"
        with pa.input_stream(str(path), compression=packing) as packed, reads.open("wb") as file:
            shutil.copyfileobj(packed, file)
    into = session.folder / f"read-{number}.parquet"
    names = spool(kind, reads, options.options, into, stored=stored)
    return Part(path, f"read_parquet({_path(into)})", names, is_text=True)


def _path(path: Path) -> str:
    """A path for DuckDB, which would take `*`, `?` and `[` in it for a glob."""
    return literal(glob.escape(str(path)))


def _arguments(options: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items())


def _union(session: Session, name: str, parts: Sequence[Part], *, stored: bool) -> Relation:
    """All parts as one relation, each with its columns in the order of the first."""
    names = parts[0].names
    for part in parts[1:]:
        check_same_columns(
            (str(parts[0].path), names),
            (str(part.path), part.names),
            "files of one source need the same columns, in any order; narrow the glob or mend it",
        )
    kinds = [_kinds(session, part, names) for part in parts]
    merged = [merging(each, stored=stored) for each in zip(*kinds, strict=True)]
    queries = []
    for number, part in enumerate(parts):
        places = ", ".join(f"p{i}" for i in range(len(names)))
        where = {column: i for i, column in enumerate(part.names)}
        selected = ", ".join(
            f"{merged[i].value(f'p{where[column]}', kinds[number][i])} AS c{i}"
            for i, column in enumerate(names)
        )
        queries.append(f"SELECT {selected} FROM {part.reads} AS part({places})")
    types = tuple(each.type for each in merged)
    faults = {name: fault for part in parts for name, fault in part.faults.items()}
    return Relation(name, " UNION ALL ".join(queries), names, types, stored, faults)


def _kinds(session: Session, part: Part, names: Sequence[str]) -> tuple[str, ...]:
    """DuckDB's types of a part, in the order of these names."""
    if part.is_text:
        return ("VARCHAR",) * len(names)
    types = session.types(f"SELECT * FROM {part.reads}")
    found = dict(zip(part.names, types, strict=True))
    return tuple(found[name] for name in names)


def _diagnosed(error: duckdb.Error, parts: Iterable[Part]) -> BadData | None:
    """Where a file is broken: CSV is read again in Python, for JSON DuckDB tells the place."""
    pattern = r'Malformed JSON in file "(.*)", at byte \d+ in (line|record/value) (\d+): ([\w -]+)'
    if match := re.search(pattern, str(error)):
        unit = "line" if match[2] == "line" else "record"
        return BadData(
            f"{match[1]} is not JSON near {unit} {match[3]}: {match[4].strip()}",
            code="unreadable-data",
            hint="see that the file is whole: one array of objects, or one object a line",
        )
    for part in parts:
        if part.dialect and (found := csv_rows.fault(part.path, part.dialect)):
            return found
    return None

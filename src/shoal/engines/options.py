"""What an engine is to open or to write, and what it may use: plain values, no data.

A definition is translated into these, so nothing below `shoal.engines` knows definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TypeAlias

NATIVE = ("csv", "parquet", "json")
"""The formats of files that DuckDB reads and writes itself; all others are plug-ins."""


def is_csv(path: PurePath, stated: str | None = None) -> bool:
    """Whether a file is CSV: by the format that is stated, else by its ending, packed or not."""
    plain = path.with_suffix("") if path.suffix.lower() in (".gz", ".zst") else path
    by_ending = plain.suffix.lower() in (".csv", ".tsv", ".txt")
    return stated == "csv" if stated is not None else by_ending


@dataclass(frozen=True)
class FileOptions:
    """A path or glob to read, here or in S3, and what is stated of its format, not guessed.

    `format` is one of NATIVE or the name of an installed reader; None means by the ending.
    `header` says whether the first row has the names, or which row has them: those above are
    skipped. `decimal` is the mark before the decimals of numbers in CSV files and in text cells of
    workbooks; without it texts stay as they are. `options` are the reader's. `formulas` and
    `written_decimal` are what the output of a CSV release said: what they changed is undone.
    """

    path: str
    format: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | int | None = None
    decimal: str | None = None
    formulas: str = "keep"
    written_decimal: str = "."
    options: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class FileTarget:
    """A file to write: one of NATIVE or an installed writer by `format`, else by the ending.

    Parquet may be written as a folder of files: `partition_by` names columns whose values become
    folders, `file_size` is about how many bytes a file may have. `options` are the writer's.
    `formulas` says whether cells of a CSV file that a spreadsheet would run are kept or escaped,
    `decimal` what is before the decimals of its numbers, `encoding` in which bytes it is written.
    """

    path: Path
    format: str | None = None
    delimiter: str = ","
    formulas: str = "keep"
    encoding: str = "utf-8"
    decimal: str = "."
    partition_by: tuple[str, ...] = ()
    file_size: int | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def is_folder(self) -> bool:
        """Whether a folder of files is written, in place of a file."""
        return bool(self.partition_by) or self.file_size is not None

    def read_back(self, path: str | Path, format: str | None, *, is_csv: bool) -> FileOptions:  # noqa: A002
        """How a file is read that was written like this one, wherever it is now."""
        if not is_csv:
            return FileOptions(str(path), format, options=self.options)
        return FileOptions(
            path=str(path),
            format=format,
            delimiter=self.delimiter,
            quote='"',
            encoding=None if self.encoding in ("utf-8", "utf-8-sig") else self.encoding,
            header=True,
            formulas=self.formulas,
            written_decimal=self.decimal,
            options=self.options,
        )


@dataclass(frozen=True)
class ObjectTarget:
    """An object of S3 to write, in a format of files; `FileTarget` says the rest."""

    url: str
    format: str | None = None
    delimiter: str = ","
    formulas: str = "keep"
    encoding: str = "utf-8"
    decimal: str = "."
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def file(self, folder: Path = Path()) -> FileTarget:
        """The file that is written before it is uploaded."""
        return FileTarget(
            folder / self.url.rpartition("/")[2],
            self.format,
            self.delimiter,
            self.formulas,
            self.encoding,
            self.decimal,
            options=self.options,
        )


@dataclass(frozen=True)
class DatabaseOptions:
    """A table, view or query of a database, which a SQLAlchemy URL names."""

    url: str
    table: str | None = None
    query: str | None = None


@dataclass(frozen=True)
class DatabaseTarget:
    """A table to make in a database; an existing one is replaced only with `replace`."""

    url: str
    table: str
    replace: bool = False


@dataclass(frozen=True)
class SparkOptions:
    """A table, view or path that Spark reads; `master` is the cluster for a session of our own."""

    name: str
    format: str | None = None
    master: str | None = None


@dataclass(frozen=True)
class SparkTarget:
    """A table or folder that Spark writes."""

    name: str
    format: str | None = None
    master: str | None = None
    replace: bool = False


@dataclass(frozen=True)
class Member:
    """One of the tables that are united: where it is, which of its columns, under which names.

    No `columns` means all. `rename` gives columns of the table other names.
    """

    options: FileOptions | DatabaseOptions | SparkOptions
    rename: Mapping[str, str] = field(default_factory=dict, hash=False)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnitedOptions:
    """Tables of the same columns that are one table of records."""

    members: tuple[Member, ...]


SourceOptions: TypeAlias = FileOptions | DatabaseOptions | SparkOptions | UnitedOptions


Target: TypeAlias = FileTarget | ObjectTarget | DatabaseTarget | SparkTarget


@dataclass(frozen=True)
class Resources:
    """What an engine on this machine may use: bytes of memory, a folder to spill to, threads.

    `on_progress` is called now and then with the share of a long query that is done. `in_order`
    lets DuckDB give the records of files and frames in their order, which takes longer.
    """

    memory_limit: int | None = None
    spill_folder: Path | None = None
    threads: int | None = None
    in_order: bool = False
    on_progress: Callable[[float], None] | None = field(default=None, compare=False)


_PART = re.compile(r'(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|\[([^\]]+)\]|([^.]+))(?:\.(?=.)|$)')
"""A part of a name, in quotes of any database or without, and the dot or the end after it."""


def name_parts(text: str) -> list[str]:
    """The parts of a table's name that dots separate, where what is in quotes is one part."""
    parts = []
    for match in _PART.finditer(text):
        double, back, bracketed, plain = match.groups()
        inner = double and double.replace('""', '"'), back and back.replace("``", "`")
        parts.append(next(filter(None, (*inner, bracketed, plain))))
    return parts


def shown_master(master: str) -> str:
    """A master of Spark without the parameters of its URL, one of which may be a token."""
    return master.partition(";")[0]


def without_password(url: str) -> str:
    """A URL without its password, for messages.

    A port that is no number is left out too: it may be a password, where the host was forgotten.
    """
    shown = re.sub(r"://([^:/@?]*):[^@]*@", r"://\1:***@", url)
    shown = re.sub(r"(://[^:/@?\[]*):(?!\d*(?:[/?]|$)|\*\*\*@)[^/@?]*", r"\1:***", shown)
    return re.sub(r"(?i)([?&][^=&]*(?:passw|pwd)[^=&]*=)[^&]*", r"\1***", shown)

"""Where records come from: files, tables of databases, Spark, or several of them as one table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    model_validator,
)

from shoal.definition.locations import (
    Names,
    check_options,
    installed,
    kind_of,
    local_path,
    long_form,
)
from shoal.definition.scalars import (
    DefinitionPart,
    Delimiter,
    Pattern,
    Text,
    Wrong,
    shown,
)
from shoal.engines.local_files import (
    file_of_url,
    files_beside,
    is_read_by,
    is_same_file,
    lies_in,
)
from shoal.engines.object_store.address import is_object
from shoal.engines.options import (
    DatabaseOptions,
    FileOptions,
    Member,
    SourceOptions,
    SparkOptions,
    UnitedOptions,
    without_password,
)

ReadFormat: TypeAlias = Annotated[str, installed("reader", "read")]


def _header(value: object) -> bool | int:
    """`true`, `false`, or the number of the row that has the names; the first row is `true`."""
    text = str(value).strip().lower()
    if text in _NO:
        return False
    if text in _YES:
        return True
    if re.fullmatch("[0-9]{1,9}", text):
        return int(text)
    raise Wrong(
        f"{shown(value)} is neither true or false nor the number of a row",
        "write for example `header: 3` if the third row has the names of the columns",
    )


_YES = ("true", "yes", "on", "y", "t", "1")
_NO = ("false", "no", "off", "n", "f", "0")
Header: TypeAlias = Annotated[bool | Annotated[int, Field(ge=1)], BeforeValidator(_header)]


class SourceLocation(DefinitionPart):
    """Where records come from: each kind gives its options of an engine by `own`.

    `rename` gives columns other names; with `columns` only those are read, by their own names.
    """

    rename: Mapping[Text, Text] = Field(default_factory=dict)
    columns: Names = ()

    @model_validator(mode="after")
    def _names_stay_apart(self) -> SourceLocation:
        new = list(self.rename.values())
        for name in new:
            if new.count(name) > 1:
                raise Wrong(f"several columns are renamed to {shown(name)}", "keep one of them")
        if len(set(self.columns)) < len(self.columns):
            raise Wrong("`columns` names a column twice", "name each column once")
        for name in self.rename:
            if self.columns and name not in self.columns:
                raise Wrong(
                    f"{shown(name)} is renamed, but it is not among the `columns`",
                    "add it to `columns`, by the name it has in the source",
                )
        return self

    @property
    def locations(self) -> tuple[SourceLocation, ...]:
        """Every single location."""
        return (self,)

    def own(self) -> FileOptions | DatabaseOptions | SparkOptions:
        """This location alone, as options of an engine."""
        raise NotImplementedError

    def member(self) -> Member:
        """This location as one of several, as options of an engine."""
        return Member(self.own(), self.rename, self.columns)

    def options(self) -> SourceOptions:
        """The same as options of an engine."""
        return UnitedOptions((self.member(),)) if self.rename or self.columns else self.own()

    @property
    def shown(self) -> str:
        """What people see of it."""
        raise NotImplementedError

    def lies_in(self, folder: Path) -> bool:  # noqa: ARG002
        """Whether what is read, or some of it, is in a folder."""
        return False

    def reads(self, path: Path) -> bool:
        """Whether a path is, or would be once it exists, among what is read."""
        raise NotImplementedError


class Files(SourceLocation):
    """Files to read, here or in S3: a path or glob, and what sniffing should not decide.

    `header` is also the number of the row with the names, below titles. `decimal` is the mark
    before decimals, for numbers such as `1.234,56`. `options` are those of the reader of the
    format.
    """

    path: Pattern
    format: ReadFormat | None = None
    delimiter: Delimiter | None = None
    quote: str | None = None
    encoding: str | None = None
    header: Header | None = None
    decimal: Literal[",", "."] | None = None
    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="after")
    def _options_of_the_reader(self) -> Files:
        check_options("reader", self.format, PurePath(self.path), self.settings)
        return self

    def own(self) -> FileOptions:
        """This location alone, as options of an engine."""
        keys = self.model_dump(exclude={"rename", "columns", "settings"})
        return FileOptions(**keys, options=self.settings)

    @property
    def shown(self) -> str:
        """What people see of it."""
        return self.path if is_object(self.path) else PurePath(self.path).name

    def lies_in(self, folder: Path) -> bool:
        """Whether the files, or some of them, are in a folder."""
        return not is_object(self.path) and lies_in(self.path, folder)

    def reads(self, path: Path) -> bool:
        """Whether a path is, or would be once it exists, among the files."""
        return not is_object(self.path) and is_read_by(self.path, path)


class Database(SourceLocation):
    """A table or view of a database, or a query."""

    url: str
    table: str | None = None
    query: str | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Database:
        if (self.table is None) == (self.query is None):
            raise Wrong(
                "needs either `table` or `query`",
                "write for example `{url: postgresql://host/db, table: public.patients}`",
            )
        return self

    def own(self) -> DatabaseOptions:
        """This location alone, as options of an engine."""
        return DatabaseOptions(self.url, self.table, self.query)

    @property
    def shown(self) -> str:
        """What people see of it: never a password."""
        return f"{self.table or 'a query'} of {without_password(self.url)}"

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read: SQLite keeps its tables in a file."""
        file = file_of_url(self.url)
        return file is not None and any(is_same_file(path, each) for each in files_beside(file))

    def lies_in(self, folder: Path) -> bool:
        """Whether what is read is in a folder."""
        file = file_of_url(self.url)
        return file is not None and lies_in(str(file), folder)


class Spark(SourceLocation):
    """A table or a path that a Spark cluster reads."""

    spark: str
    format: Literal["csv", "parquet", "json", "orc"] | None = None
    master: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spark_reads_plain_csv(cls, keys: Any) -> Any:
        stated = [key for key in ("header", "decimal") if isinstance(keys, Mapping) and key in keys]
        if stated:
            raise Wrong(
                f"Spark reads names from the first row and decimal points: it has no `{stated[0]}`",
                f"leave it out, or read the file with `path` and `{stated[0]}`",
            )
        return keys

    def own(self) -> SparkOptions:
        """This location alone, as options of an engine."""
        return SparkOptions(self.spark, self.format, self.master)

    @property
    def shown(self) -> str:
        """What people see of it."""
        return f"{self.spark} in Spark"

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read."""
        local = local_path(self.spark, self.format)
        return local is not None and is_read_by(local, path)

    def lies_in(self, folder: Path) -> bool:
        """Whether what is read, or some of it, is in a folder."""
        local = local_path(self.spark, self.format)
        return local is not None and lies_in(local, folder)


SOURCES: Mapping[str, type[DefinitionPart]] = {"path": Files, "url": Database, "spark": Spark}
SEVERAL = "several"
"""The kind of a list of sources."""


def _one_or_several(value: Any) -> Any:
    """A list of one is that one."""
    if isinstance(value, Several):
        return value
    if isinstance(value, list | tuple):
        if not value:
            raise Wrong("lists no source", "write for example `[north.csv, south.csv]`")
        return long_form(value[0]) if len(value) == 1 else value
    return long_form(value)


def _one_kind_or_several(value: Any) -> str:
    return SEVERAL if isinstance(value, Several | list | tuple) else kind_of(value)


OneSource: TypeAlias = Annotated[
    Annotated[Files, Tag("path")]
    | Annotated[Database, Tag("url")]
    | Annotated[Spark, Tag("spark")],
    Discriminator(kind_of),
    BeforeValidator(long_form),
]
"""A single location to read from, as the file has it, short forms included."""


class Several(RootModel[tuple[OneSource, ...]]):
    """Sources of the same columns, once they are renamed: their records are one table."""

    model_config = ConfigDict(frozen=True)

    @property
    def locations(self) -> tuple[SourceLocation, ...]:
        """Every single location."""
        return self.root

    def options(self) -> UnitedOptions:
        """The same as options of an engine."""
        return UnitedOptions(tuple(location.member() for location in self.root))

    @property
    def shown(self) -> str:
        """What people see of them."""
        return ", ".join(location.shown for location in self.root)

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read."""
        return any(location.reads(path) for location in self.root)


SourceChoice: TypeAlias = Annotated[
    Annotated[Files, Tag("path")]
    | Annotated[Database, Tag("url")]
    | Annotated[Spark, Tag("spark")]
    | Annotated[Several, Tag(SEVERAL)],
    Discriminator(_one_kind_or_several),
    BeforeValidator(_one_or_several),
]
"""One or several locations to read from, as the file has them, short forms included."""

"""Where records come from and where a release goes: files, tables of databases, Spark.

The keys tell the kind: `path` a file, `url` a database, `spark` a cluster. A bare text is a path,
and a list of sources is one table that all of them make up.
"""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    model_validator,
)

from shoal import plugins
from shoal.definition.scalars import (
    Bytes,
    Delimiter,
    FilePath,
    Part,
    Pattern,
    Text,
    Wrong,
    listed,
    nearest,
    shown,
)
from shoal.engines.base import (
    NATIVE,
    DatabaseOptions,
    DatabaseTarget,
    FileOptions,
    FileTarget,
    Member,
    SourceOptions,
    SparkOptions,
    SparkTarget,
    UnitedOptions,
    without_password,
)
from shoal.errors import MissingExtra


def _installed(kind: str, verb: str) -> AfterValidator:
    """A format is one of our own or the name of an installed reader or writer."""

    def known(name: str) -> str:
        formats = [*NATIVE, *plugins.names(kind)]
        if name not in formats:
            raise Wrong(f"{shown(name)} is no format that can be {verb}", nearest(name, formats))
        return name

    return AfterValidator(known)


ReadFormat: TypeAlias = Annotated[str, _installed("reader", "read")]
WriteFormat: TypeAlias = Annotated[str, _installed("writer", "written")]
Names: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(listed)]


def _check_options(
    kind: str, stated: str | None, path: PurePath, options: Mapping[str, str]
) -> None:
    """Options are those of a reader or writer, which the format or the ending names."""
    names = (stated,) if stated else plugins.by_ending(kind, path.suffix.lower())
    if not options or len(names) > 1:
        return
    name = next(iter(names), "") or path.suffix.lower().removeprefix(".")
    try:
        takes = () if name in NATIVE else tuple(getattr(plugins.ready(kind, name), "takes", ()))
    except MissingExtra as error:
        raise Wrong(error.what, error.hint) from None
    for option in options:
        if option not in takes:
            raise Wrong(
                f"{name} takes no option {shown(option)}",
                nearest(option, takes, "it takes none") if takes else "leave it out",
            )


class Place(Part):
    """Where records come from: each kind says by `own` what an engine is told.

    `rename` gives columns other names; with `columns` only those are read, by their own names.
    """

    rename: Mapping[Text, Text] = Field(default_factory=dict)
    columns: Names = ()

    @model_validator(mode="after")
    def _names_stay_apart(self) -> Place:
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
    def places(self) -> tuple[Place, ...]:
        """Every single place."""
        return (self,)

    def own(self) -> FileOptions | DatabaseOptions | SparkOptions:
        """The place alone, told to an engine."""
        raise NotImplementedError

    def member(self) -> Member:
        """The place as one of several, told to an engine."""
        return Member(self.own(), self.rename, self.columns)

    def options(self) -> SourceOptions:
        """The same, told to an engine."""
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


class Files(Place):
    """Files to read: a path or glob, and what sniffing should not decide.

    `options` are those of the reader of the format.
    """

    path: Pattern
    format: ReadFormat | None = None
    delimiter: Delimiter | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="after")
    def _options_of_the_reader(self) -> Files:
        _check_options("reader", self.format, PurePath(self.path), self.settings)
        return self

    def own(self) -> FileOptions:
        """The place alone, told to an engine."""
        said = self.model_dump(exclude={"rename", "columns", "settings"})
        return FileOptions(**said, options=self.settings)

    @property
    def shown(self) -> str:
        """What people see of it."""
        return PurePath(self.path).name

    def lies_in(self, folder: Path) -> bool:
        """Whether the files, or some of them, are in a folder."""
        return Path(self.path).resolve().is_relative_to(folder.resolve())

    def reads(self, path: Path) -> bool:
        """Whether a path is, or would be once it exists, among the files."""
        wanted, candidate = Path(self.path).absolute(), path.absolute()
        if wanted.is_dir():
            return candidate.resolve().is_relative_to(wanted.resolve())
        if "**" in self.path:
            return fnmatch.fnmatch(str(candidate), str(wanted).replace("**/", "*"))
        if glob.has_magic(self.path) and not wanted.exists():
            return candidate.match(str(wanted))
        return candidate.resolve() == wanted.resolve()


class Database(Place):
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
        """The place alone, told to an engine."""
        return DatabaseOptions(self.url, self.table, self.query)

    @property
    def shown(self) -> str:
        """What people see of it: never a password."""
        return f"{self.table or 'a query'} of {without_password(self.url)}"

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read: SQLite keeps its tables in a file."""
        _, is_sqlite, file = self.url.partition("sqlite:///")
        return bool(is_sqlite) and Path(file.partition("?")[0]).resolve() == path.resolve()


class Spark(Place):
    """A table or a path that a Spark cluster reads."""

    spark: str
    format: Literal["csv", "parquet", "json", "orc"] | None = None
    master: str | None = None

    def own(self) -> SparkOptions:
        """The place alone, told to an engine."""
        return SparkOptions(self.spark, self.format, self.master)

    @property
    def shown(self) -> str:
        """What people see of it."""
        return f"{self.spark} in Spark"

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read."""
        return "/" in self.spark and Path(self.spark).resolve() == path.resolve()


class OutputFile(Part):
    """The file to write; the ending of the path decides the format unless `format` does.

    With `partition by` or `file size` it is a folder of Parquet files. `options` are those of the
    writer of the format.
    """

    path: FilePath
    format: WriteFormat | None = None
    delimiter: Delimiter = ","
    partition_by: Annotated[tuple[Text, ...], BeforeValidator(listed)] = Field(
        default=(), alias="partition by"
    )
    file_size: Bytes | None = Field(default=None, alias="file size", gt=0, lt=2**62)

    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="after")
    def _options_of_the_writer(self) -> OutputFile:
        _check_options("writer", self.format, self.path, self.settings)
        return self

    @model_validator(mode="after")
    def _parquet_alone_is_parted(self) -> OutputFile:
        kind = self.format or self.path.suffix.lower().removeprefix(".")
        if self.target().is_folder and kind != "parquet":
            raise Wrong(
                "only Parquet can be written to several files",
                "write for example `{path: release, format: parquet, partition by: [year]}`",
            )
        return self

    def target(self) -> FileTarget:
        """The same, told to an engine."""
        return FileTarget(**self.model_dump(exclude={"settings"}), options=self.settings)

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one."""
        return self.path


class OutputTable(Part):
    """A table of a database; one that is there already is replaced only when that is said."""

    url: str
    table: str
    replace: bool = False

    def target(self) -> DatabaseTarget:
        """The same, told to an engine."""
        return DatabaseTarget(**self.model_dump())

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one."""
        return None


class OutputSpark(Part):
    """A table or a folder that a Spark cluster writes."""

    spark: str
    format: Literal["csv", "parquet", "json", "orc"] | None = None
    master: str | None = None
    replace: bool = False

    def target(self) -> SparkTarget:
        """The same, told to an engine."""
        return SparkTarget(self.spark, self.format, self.master, self.replace)

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one."""
        return None


KINDS = ("path", "url", "spark")
"""The key that tells the kind of a place."""
SOURCES: Mapping[str, type[Part]] = {"path": Files, "url": Database, "spark": Spark}
OUTPUTS: Mapping[str, type[Part]] = {"path": OutputFile, "url": OutputTable, "spark": OutputSpark}


SEVERAL = "several"
"""What stands for the kind of a list of sources."""


def _long_form(value: Any) -> Any:
    if isinstance(value, str) and "://" in value:
        raise Wrong(
            "a URL alone does not say which table",
            "write for example `{url: postgresql://host/db, table: public.patients}`",
        )
    if isinstance(value, str | PurePath):
        return {"path": value}
    if isinstance(value, Mapping):
        kinds = [key for key in KINDS if key in value]
        if len(kinds) > 1:
            raise Wrong(f"several kinds of places at once: {', '.join(kinds)}", "keep one of them")
        if not kinds:
            first = str(next(iter(value), ""))
            raise Wrong("says no place", nearest(first, KINDS, f"give one of {', '.join(KINDS)}"))
        return value
    if isinstance(value, Part):
        return value
    raise Wrong(f"{shown(value)} is no place", "write for example `patients.csv`")


def _one_or_several(value: Any) -> Any:
    """A list of one is that one."""
    if isinstance(value, Several):
        return value
    if isinstance(value, list | tuple):
        if not value:
            raise Wrong("lists no source", "write for example `[north.csv, south.csv]`")
        return _long_form(value[0]) if len(value) == 1 else value
    return _long_form(value)


def kind_of(value: Any) -> str:
    """The key that tells the kind: of a part, or of a mapping in its long form."""
    if isinstance(value, Several | list | tuple):
        return SEVERAL
    if isinstance(value, Part):
        return next(key for key in KINDS if key in type(value).model_fields)
    return next((key for key in KINDS if key in value), "path")


OneSource: TypeAlias = Annotated[
    Annotated[Files, Tag("path")]
    | Annotated[Database, Tag("url")]
    | Annotated[Spark, Tag("spark")],
    Discriminator(kind_of),
    BeforeValidator(_long_form),
]
"""A single place to read from, as the file spells it, short forms included."""


class Several(RootModel[tuple[OneSource, ...]]):
    """Sources of the same columns, once they are renamed: their records are one table."""

    model_config = ConfigDict(frozen=True)

    @property
    def places(self) -> tuple[Place, ...]:
        """Every single place."""
        return self.root

    def options(self) -> UnitedOptions:
        """The same, told to an engine."""
        return UnitedOptions(tuple(place.member() for place in self.root))

    @property
    def shown(self) -> str:
        """What people see of them."""
        return ", ".join(place.shown for place in self.root)

    def reads(self, path: Path) -> bool:
        """Whether a path is among what is read."""
        return any(place.reads(path) for place in self.root)


SourceChoice: TypeAlias = Annotated[
    Annotated[Files, Tag("path")]
    | Annotated[Database, Tag("url")]
    | Annotated[Spark, Tag("spark")]
    | Annotated[Several, Tag(SEVERAL)],
    Discriminator(kind_of),
    BeforeValidator(_one_or_several),
]
"""One or several places to read from, as the file spells them, short forms included."""
OutputChoice: TypeAlias = Annotated[
    Annotated[OutputFile, Tag("path")]
    | Annotated[OutputTable, Tag("url")]
    | Annotated[OutputSpark, Tag("spark")],
    Discriminator(kind_of),
    BeforeValidator(_long_form),
]
"""A place to write to, as the file spells it, short forms included."""

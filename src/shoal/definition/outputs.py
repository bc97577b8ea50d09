"""Where a release goes: a file, a folder, an object of S3, a table of a database or of Spark.

The second half refuses a file that would overwrite one that is read, or another that is written.
Files are compared by what they are, not by what they are called: a link, another form of the path
or of its case is the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from shoal.definition.hierarchies.listed import Csv
from shoal.definition.locations import (
    Names,
    check_options,
    installed,
    kind_of,
    local_path,
    long_form,
)
from shoal.definition.scalars import (
    Bytes,
    DefinitionPart,
    Delimiter,
    Encoding,
    LocalPath,
    ObjectUrl,
    Text,
    Wrong,
)
from shoal.engines.local_files import file_of_url, files_beside, is_read_by, is_same_file, resolved
from shoal.engines.object_store.address import is_object
from shoal.engines.options import (
    DatabaseTarget,
    FileOptions,
    FileTarget,
    ObjectTarget,
    SparkTarget,
    is_csv,
)
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.definition.sources import Several, SourceLocation


def _path_by_its_other_name(value: Any) -> Any:
    """`file` is another name for `path`."""
    if isinstance(value, Mapping) and "file" in value and "path" not in value:
        return {("path" if key == "file" else key): each for key, each in value.items()}
    return value


WriteFormat: TypeAlias = Annotated[str, installed("writer", "written")]


class WrittenFile(DefinitionPart):
    """What files and objects have in common; the ending decides the format unless `format` does.

    With `formulas: escape` the cells of a CSV file that a spreadsheet would run get an apostrophe.
    `encoding` is that of a CSV file, and `decimal` the mark before decimals in it: with a comma the
    delimiter is a semicolon, unless it is stated. `options` are those of the writer of the format.
    """

    path: Path | str
    format: WriteFormat | None = None
    delimiter: Delimiter = ","
    formulas: Literal["keep", "escape"] = "keep"
    encoding: Encoding = "utf-8"
    decimal: Literal[",", "."] = "."

    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="before")
    @classmethod
    def _semicolons_beside_decimal_commas(cls, keys: Any) -> Any:
        if isinstance(keys, Mapping) and keys.get("decimal") == ",":
            return {"delimiter": ";", **keys}
        return keys

    @model_validator(mode="after")
    def _options_of_the_writer(self) -> WrittenFile:
        check_options("writer", self.format, PurePath(self.path), self.settings)
        return self

    @model_validator(mode="after")
    def _only_csv_has_a_layout(self) -> WrittenFile:
        if self.is_csv:
            return self
        if self.formulas == "escape":
            raise Wrong(
                "only CSV files have cells that a spreadsheet would run",
                "leave out `formulas`: what other formats hold as text is never run",
            )
        stated = "decimal" if self.decimal == "," else "encoding"
        if self.decimal == "," or self.encoding != "utf-8":
            raise Wrong(
                f"only CSV files are written with `{stated}`",
                f"leave out `{stated}`, or write `{{path: release.csv, {stated}: ...}}`",
            )
        return self

    @property
    def is_csv(self) -> bool:
        """Whether it is written as CSV."""
        return is_csv(PurePath(self.path), self.format)

    def target(self) -> FileTarget | ObjectTarget:
        """The same as options of an engine."""
        raise NotImplementedError

    def read_back(self, path: str | Path) -> FileOptions:
        """How a file is read that was written like this one, here or at another path."""
        target = self.target()
        written = target.file() if isinstance(target, ObjectTarget) else target
        if PurePath(self.path).suffix == PurePath(path).suffix:
            return written.read_back(path, self.format, is_csv=self.is_csv)
        plain = replace(written, options={})
        return plain.read_back(path, None, is_csv=is_csv(PurePath(path)))


class OutputFile(WrittenFile):
    """The file to write. With `partition by` or `file size` it is a folder of Parquet files."""

    path: LocalPath
    partition_by: Names = Field(default=(), alias="partition by")
    file_size: Bytes | None = Field(default=None, alias="file size", gt=0, lt=2**62)

    @model_validator(mode="after")
    def _only_parquet_has_partitions(self) -> OutputFile:
        kind = self.format or self.path.suffix.lower().removeprefix(".")
        if self.target().is_folder and kind != "parquet":
            raise Wrong(
                "only Parquet can be written to several files",
                "write for example `{path: release, format: parquet, partition by: [year]}`",
            )
        return self

    def target(self) -> FileTarget:
        """The same as options of an engine."""
        return FileTarget(**self.model_dump(exclude={"settings"}), options=self.settings)

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one."""
        return self.path


class OutputObject(WrittenFile):
    """The object of S3 to write, such as `s3://bucket/release.parquet`."""

    path: ObjectUrl

    def target(self) -> ObjectTarget:
        """The same as options of an engine."""
        keys = self.model_dump(exclude={"path", "settings"})
        return ObjectTarget(self.path, **keys, options=self.settings)

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one of this machine."""
        return None


class OutputTable(DefinitionPart):
    """A table of a database; an existing one is replaced only with `replace: true`."""

    url: str
    table: str
    replace: bool = False

    def target(self) -> DatabaseTarget:
        """The same as options of an engine."""
        return DatabaseTarget(**self.model_dump())

    @property
    def file(self) -> Path | None:
        """The file that is written, if it is one."""
        return None


class OutputSpark(DefinitionPart):
    """A table or a folder that a Spark cluster writes."""

    spark: str
    format: Literal["csv", "parquet", "json", "orc"] | None = None
    master: str | None = None
    replace: bool = False

    @model_validator(mode="before")
    @classmethod
    def _spark_writes_plain_csv(cls, keys: Any) -> Any:
        for key in ("encoding", "decimal"):
            if isinstance(keys, Mapping) and key in keys:
                raise Wrong(
                    f"Spark writes UTF-8 and decimal points: it has no `{key}`",
                    f"leave it out, or write `output: {{path: release.csv, {key}: ...}}`",
                )
        if isinstance(keys, Mapping) and "formulas" in keys:
            raise Wrong(
                "Spark cannot escape formulas",
                "leave out `formulas`, or write `output: {path: release.csv, formulas: escape}`",
            )
        return keys

    def target(self) -> SparkTarget:
        """The same as options of an engine."""
        return SparkTarget(self.spark, self.format, self.master, self.replace)

    @property
    def file(self) -> Path | None:
        """The folder that is written, where it is one of this machine."""
        local = local_path(self.spark, self.format)
        return None if local is None else Path(local)


OBJECT = "object"
"""The kind of an output whose path is the URL of an object."""


def _kind_of_output(value: Any) -> str:
    """The kind of a location, where a path may be that of a file or of an object."""
    if isinstance(value, OutputObject):
        return OBJECT
    path = value.get("path") if isinstance(value, Mapping) else None
    return OBJECT if isinstance(path, str) and is_object(path) else kind_of(value)


def elsewhere(output: DefinitionPart | None, path: str | Path) -> dict[str, Any]:
    """The output at another path: of a CSV file that takes the place of one, with its layout."""
    found: dict[str, Any] = {"path": str(path)}
    if isinstance(output, WrittenFile) and output.is_csv and is_csv(PurePath(path)):
        found.update(output.model_dump(include={"delimiter", "formulas", "encoding", "decimal"}))
    return found


OUTPUTS: Mapping[str, type[DefinitionPart]] = {
    "path": OutputFile,
    OBJECT: OutputObject,
    "url": OutputTable,
    "spark": OutputSpark,
}
OutputChoice: TypeAlias = Annotated[
    Annotated[OutputFile, Tag("path")]
    | Annotated[OutputObject, Tag(OBJECT)]
    | Annotated[OutputTable, Tag("url")]
    | Annotated[OutputSpark, Tag("spark")],
    Discriminator(_kind_of_output),
    BeforeValidator(lambda value: long_form(_path_by_its_other_name(value))),
]
"""Where to write, as the file has it, short forms included."""


@dataclass(frozen=True)
class Clash:
    """A file that may not be written: which one, and what it is already."""

    key: str
    path: Path
    what: str


def clashes(
    definition: Definition, further: Mapping[str, Path] | None = None, file: Path | None = None
) -> Iterator[Clash]:
    """The files of a run that would overwrite others.

    `further` are written beside the output and the report; `file` is the definition itself.
    """
    taken = list(_read(definition, file))
    output = definition.output
    if isinstance(output, OutputTable) and (database := file_of_url(output.url)) is not None:
        taken += [(each, "the database of the output") for each in files_beside(database)]
    written = dict(_written(definition)) | dict(further or {})
    for key, path in written.items():
        if key == "output" and _is_folder(definition):
            yield from _clashes_of_folder(definition, path, taken)
        elif (name := _read_by(definition, path)) is not None:
            yield Clash(key, path, f"{str(path)!r} is a file of the {name}")
        else:
            same = (what for other, what in taken if is_same_file(path, other))
            yield from (Clash(key, path, f"{str(path)!r} is {what}") for what in same)
        taken.append((path, f"the same file as the {key}"))


def check_written(definition: Definition, file: str, further: Mapping[str, Path]) -> None:
    """Refuse, before any long work, a run of which one file would overwrite another.

    `file` is what messages call the definition: where it comes from a file, its path.
    """
    path = Path(file)
    for clash in clashes(definition, further, path if path.is_file() else None):
        raise would_overwrite(clash.key, clash.what)


def check_kept(definition: Definition, file: Path, path: Path) -> None:
    """Refuse a path that a definition, its source or one of its hierarchies is read from."""
    if (name := _read_by(definition, path)) is not None:
        raise would_overwrite("output", f"{str(path)!r} is a file of the {name}")
    for other, what in _read(definition, file):
        if is_same_file(path, other):
            raise would_overwrite("output", f"{str(path)!r} is {what}")


def sources_of(definition: Definition) -> Iterator[tuple[str, SourceLocation | Several]]:
    """What a run reads records from, and what messages call it."""
    yield "source", definition.source
    if definition.population is not None:
        yield "population", definition.population.source


def _read_by(definition: Definition, path: Path) -> str | None:
    """What reads a path: the source or the population."""
    return next((name for name, each in sources_of(definition) if each.reads(path)), None)


def check_data_kept(pattern: str, path: Path) -> None:
    """Refuse a path that is among the data of a path, folder or glob."""
    if is_read_by(pattern, path):
        raise would_overwrite("output", f"{str(path)!r} is a file of the data")


def would_overwrite(key: str, what: str) -> BadOutput:
    """The error for a file that would overwrite another."""
    return BadOutput(
        f"the {key} would overwrite another file: {what}",
        code="would-overwrite",
        hint=f"give the {key} a file of its own",
    )


def _written(definition: Definition) -> Iterator[tuple[str, Path]]:
    output = definition.output
    if output is not None and output.file is not None:
        yield "output", output.file
    if definition.report is not None:
        yield "report", definition.report


def _read(definition: Definition, file: Path | None) -> Iterator[tuple[Path, str]]:
    """The files that are read beside the source, and what each is."""
    if file is not None:
        yield file, "the definition"
    for name, attribute in definition.attributes.items():
        if isinstance(attribute.hierarchy, Csv):
            yield attribute.hierarchy.path, f"the hierarchy of {name!r}"


def _is_folder(definition: Definition) -> bool:
    """Whether the output is a folder that is replaced as a whole."""
    output = definition.output
    if isinstance(output, OutputFile):
        return output.target().is_folder
    return isinstance(output, OutputSpark)


def _clashes_of_folder(
    definition: Definition, folder: Path, taken: list[tuple[Path, str]]
) -> Iterator[Clash]:
    """What would go with the folder, and a folder that the source reads."""
    for name, source in sources_of(definition):
        if any(location.lies_in(folder) for location in source.locations):
            what = f"is a folder that holds the {name}, and a folder is replaced as a whole"
            yield Clash("output", folder, what)
        elif source.reads(folder):
            yield Clash("output", folder, f"{str(folder)!r} is in a folder of the {name}")
    for path, what in taken:
        if resolved(path).is_relative_to(resolved(folder)):
            yield Clash("output", folder, f"is a folder that holds {what}")

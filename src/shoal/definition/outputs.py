"""Where a release goes: a file, a folder, an object of S3, a table of a database or of Spark.

The second half refuses a file that would overwrite one that is read, or another that is written.
Files are compared by what they are, not by what they are called: a link, another form of the path
or of its case is the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from shoal.definition.hierarchies.listed import Csv
from shoal.definition.scalars import (
    Bytes,
    DefinitionPart,
    Delimiter,
    LocalPath,
    ObjectUrl,
    Text,
    Wrong,
)
from shoal.definition.sources import Names, check_options, installed, kind_of, local_path, long_form
from shoal.engines.local_files import file_of_url, files_beside, is_read_by, is_same_file, resolved
from shoal.engines.object_store import is_object
from shoal.engines.options import DatabaseTarget, FileTarget, ObjectTarget, SparkTarget
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.definition.sources import Several, SourceLocation


WriteFormat: TypeAlias = Annotated[str, installed("writer", "written")]


class WrittenFile(DefinitionPart):
    """What files and objects have in common; the ending decides the format unless `format` does.

    With `formulas: escape` the cells of a CSV file that a spreadsheet would run get an apostrophe.
    `options` are those of the writer of the format.
    """

    path: Path | str
    format: WriteFormat | None = None
    delimiter: Delimiter = ","
    formulas: Literal["keep", "escape"] = "keep"

    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="after")
    def _options_of_the_writer(self) -> WrittenFile:
        check_options("writer", self.format, PurePath(self.path), self.settings)
        return self

    @model_validator(mode="after")
    def _only_csv_has_formulas(self) -> WrittenFile:
        path = PurePath(self.path)
        packed = path.suffix.lower() in (".gz", ".zst")
        kind = self.format or (path.with_suffix("") if packed else path).suffix.lower()[1:]
        if self.formulas == "escape" and kind not in ("csv", "tsv", "txt"):
            raise Wrong(
                "only CSV files have cells that a spreadsheet would run",
                "leave out `formulas`: what other formats hold as text is never run",
            )
        return self


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
    def _spark_escapes_nothing(cls, keys: Any) -> Any:
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
    BeforeValidator(long_form),
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

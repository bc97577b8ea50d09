"""Where a release goes: a file, a folder, a table of a database or of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from shoal.definition.scalars import Bytes, DefinitionPart, Delimiter, FilePath, Text, Wrong
from shoal.definition.sources import (
    Names,
    check_options,
    installed,
    kind_of,
    local_path,
    long_form,
)
from shoal.engines.base import DatabaseTarget, FileTarget, SparkTarget

WriteFormat: TypeAlias = Annotated[str, installed("writer", "written")]


class OutputFile(DefinitionPart):
    """The file to write; the ending of the path decides the format unless `format` does.

    With `partition by` or `file size` it is a folder of Parquet files. With `formulas: escape` the
    cells of a CSV file that a spreadsheet would run get an apostrophe. `options` are those of the
    writer of the format.
    """

    path: FilePath
    format: WriteFormat | None = None
    delimiter: Delimiter = ","
    formulas: Literal["keep", "escape"] = "keep"
    partition_by: Names = Field(default=(), alias="partition by")
    file_size: Bytes | None = Field(default=None, alias="file size", gt=0, lt=2**62)

    settings: Mapping[Text, Text] = Field(default_factory=dict, alias="options")

    @model_validator(mode="after")
    def _options_of_the_writer(self) -> OutputFile:
        check_options("writer", self.format, self.path, self.settings)
        return self

    @model_validator(mode="after")
    def _only_csv_has_formulas(self) -> OutputFile:
        packed = self.path.suffix.lower() in (".gz", ".zst")
        path = self.path.with_suffix("") if packed else self.path
        kind = self.format or path.suffix.lower().removeprefix(".")
        if self.formulas == "escape" and kind not in ("csv", "tsv", "txt"):
            raise Wrong(
                "only CSV files have cells that a spreadsheet would run",
                "leave out `formulas`: what other formats hold as text is never run",
            )
        return self

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


OUTPUTS: Mapping[str, type[DefinitionPart]] = {
    "path": OutputFile,
    "url": OutputTable,
    "spark": OutputSpark,
}
OutputChoice: TypeAlias = Annotated[
    Annotated[OutputFile, Tag("path")]
    | Annotated[OutputTable, Tag("url")]
    | Annotated[OutputSpark, Tag("spark")],
    Discriminator(kind_of),
    BeforeValidator(long_form),
]
"""Where to write, as the file has it, short forms included."""

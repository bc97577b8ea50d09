"""The definition: one frozen model of a release. YAML and JSON are spellings of it.

Field aliases are the keys of the file. Values are checked one by one here; what needs several
fields at once is checked in check.py. Short forms (`source: patients.csv`, a bare role) become
their long form before anything else, so that there is one model of each part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, field_validator, model_validator

from shoal.definition.hierarchies import (
    HIERARCHY_KEYS,
    Csv,
    Cuts,
    Dates,
    DateUnit,
    Groups,
    Hierarchy,
    HierarchyChoice,
    Intervals,
    Mask,
    Suppress,
    Taxonomy,
)
from shoal.definition.protection import (
    Closeness,
    Diversity,
    Likeness,
    Parameters,
    Recursive,
    parameters_of,
)
from shoal.definition.scalars import (
    Delimiter,
    FilePath,
    Part,
    Pattern,
    Seconds,
    Share,
    Text,
    Wrong,
)
from shoal.engines.base import FileOptions, FileTarget

__all__ = [
    "HIERARCHY_KEYS",
    "ROLES",
    "Attribute",
    "Closeness",
    "Csv",
    "Cuts",
    "DateUnit",
    "Dates",
    "Definition",
    "Diversity",
    "Files",
    "Groups",
    "Hierarchy",
    "Intervals",
    "Likeness",
    "LossChoice",
    "Mask",
    "Missing",
    "OutputFile",
    "Part",
    "Recursive",
    "Role",
    "Search",
    "Suppress",
    "Taxonomy",
]


def _parameters_of_each(data: Any) -> Any:
    """Each model of a plug-in with its parameters, none where nothing is said."""
    if not isinstance(data, Mapping):
        raise Wrong("must map names of models to parameters", "as in `privacy: {my-model: {l: 3}}`")
    return {
        name: parameters_of(given) if isinstance(given, Mapping) else given or {}
        for name, given in data.items()
    }


ModelChoices: TypeAlias = Annotated[Mapping[str, Parameters], BeforeValidator(_parameters_of_each)]

Role: TypeAlias = Literal["identifier", "quasi-identifier", "sensitive", "keep", "drop"]
ROLES: tuple[str, ...] = ("identifier", "quasi-identifier", "sensitive", "keep", "drop")


class Attribute(Part):
    """One column: its role, and for some roles how it may be generalized or must be protected."""

    role: Role
    hierarchy: HierarchyChoice | None = None
    limit: int | None = Field(default=None, ge=0)
    priority: float | None = Field(default=None, ge=0)
    information_loss: tuple[float, ...] | None = Field(default=None, alias="information loss")
    diversity: Diversity | None = None
    closeness: Closeness | None = None
    alpha: float | None = Field(default=None, gt=0, lt=1)
    likeness: Likeness | None = None
    disclosure: float | None = Field(default=None, gt=0)
    privacy: ModelChoices = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _bare_role(cls, data: Any) -> Any:
        if data is None:
            raise Wrong("says nothing", f"give it a role: {', '.join(ROLES)}")
        return {"role": data} if isinstance(data, str) else data


class Files(Part):
    """Files to read: a path or glob, and what sniffing should not decide."""

    path: Pattern
    format: Literal["csv", "parquet", "json"] | None = None
    delimiter: Delimiter | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_path(cls, data: Any) -> Any:
        refuse_elsewhere(data, "export the table to Parquet and give the path of that file")
        return {"path": data} if isinstance(data, str) else data

    def options(self) -> FileOptions:
        """The same, told to an engine."""
        return FileOptions(**self.model_dump())


class OutputFile(Part):
    """The file to write; the ending of the path decides the format unless `format` does."""

    path: FilePath
    format: Literal["csv", "parquet", "json"] | None = None
    delimiter: Delimiter = ","

    @model_validator(mode="before")
    @classmethod
    def _bare_path(cls, data: Any) -> Any:
        refuse_elsewhere(data, "write a Parquet file and load it from there")
        return {"path": data} if isinstance(data, str | PurePath) else data

    @field_validator("path")
    @classmethod
    def _no_xml(cls, path: PurePath) -> PurePath:
        if path.suffix.lower() == ".xml":
            raise Wrong(
                "XML output is not supported in this version",
                "write a .csv, .parquet or .json file",
            )
        return path

    def target(self) -> FileTarget:
        """The same, told to an engine."""
        return FileTarget(**self.model_dump())


def refuse_elsewhere(data: object, remedy: str) -> None:
    """Databases and Spark are no place to read from or write to."""
    text = data if isinstance(data, str) else ""
    if "://" in text or (isinstance(data, Mapping) and {"url", "spark"} & set(data)):
        raise Wrong("databases and Spark are not supported in this version", remedy)


class Missing(Part):
    """What a missing value is, besides empty and NULL, and what it matches.

    `sensitive` says whether a missing sensitive value counts as a value of its own or as none.
    """

    match: Literal["extended", "basic"] = "extended"
    values: tuple[Text, ...] = ()
    sensitive: Literal["none", "value"] = "none"

    @model_validator(mode="before")
    @classmethod
    def _bare_match(cls, data: Any) -> Any:
        return {"match": data} if isinstance(data, str) else data


def _loss_parameters(data: Any) -> Any:
    return parameters_of(data) if isinstance(data, Mapping) else data


class LossChoice(Part):
    """Which loss to minimise, and how a loss of cells joins the attributes."""

    name: str = "iyengar"
    aggregate: Literal["mean", "geometric"] = "mean"
    parameters: Annotated[Parameters, BeforeValidator(_loss_parameters)] = Field(
        default_factory=dict
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data


class Search(Part):
    """How to search, and when to stop early."""

    strategy: str = "box"
    time_limit: Seconds | None = Field(default=None, alias="time limit", gt=0)
    gap: float = Field(default=0.0, ge=0)
    threads: int | None = Field(default=None, ge=1)


class Definition(Part):
    """A release: what to read, what each column is, what is demanded, where to write."""

    source: Files
    output: OutputFile | None = None
    report: FilePath | None = None
    k: int = Field(ge=2)
    suppression: Share = 0
    suppressed: Literal["drop", "mark"] = "drop"
    missing: Missing = Missing()
    loss: LossChoice = LossChoice()
    search: Search = Search()
    privacy: ModelChoices = Field(default_factory=dict)
    attributes: Mapping[str, Attribute]
    others: Literal["keep", "drop"] | None = None

    def names(self, *roles: str) -> tuple[str, ...]:
        """The attributes of these roles, in the order of the definition."""
        return tuple(name for name, a in self.attributes.items() if a.role in roles)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers, in the order of the definition."""
        return self.names("quasi-identifier")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive attributes, in the order of the definition."""
        return self.names("sensitive")

    def suppression_limit(self, records: int) -> int:
        """How many of the records may be suppressed: floor(share * records), or the number given.

        The product is rounded to 9 decimals first, so that 0.07 * 100 counts as 7, not 6.999...
        """
        if isinstance(self.suppression, int):
            return min(self.suppression, records)
        return int(round(self.suppression * records, 9))

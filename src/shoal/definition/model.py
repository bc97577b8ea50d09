"""The definition: one frozen model of a release, which YAML, JSON and XML files write down.

Field aliases are the keys of the file. Values are checked one by one here; what needs several
fields at once is checked in check.py. Short forms (`source: patients.csv`, a bare role) become
their long form before anything else, so that there is one model of each part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from shoal.definition.demands import (
    AboveThreshold,
    Closeness,
    Diversity,
    Likeness,
    Parameters,
    Population,
    Recursive,
    Risk,
    parameters_of,
)
from shoal.definition.hierarchies.base import Kind as Hierarchy
from shoal.definition.hierarchies.dates import Dates, DateUnit
from shoal.definition.hierarchies.groups import Groups
from shoal.definition.hierarchies.listed import Csv, Taxonomy
from shoal.definition.hierarchies.mask import Mask, Suppress
from shoal.definition.hierarchies.numbers import Cuts, Intervals
from shoal.definition.hierarchies.plugin import PluggedIn
from shoal.definition.hierarchies.registry import HierarchyChoice  # noqa: TC001 the model needs it
from shoal.definition.locations import Names  # noqa: TC001 the model needs it
from shoal.definition.outputs import (
    OutputChoice,
    OutputFile,
    OutputObject,
    OutputSpark,
    OutputTable,
    WrittenFile,
)
from shoal.definition.scalars import (
    Bytes,
    DefinitionPart,
    FilePath,
    Seconds,
    Share,
    Text,
    Wrong,
)
from shoal.definition.sources import (
    Database,
    Files,
    Several,
    SourceChoice,
    SourceLocation,
    Spark,
)
from shoal.engines.options import Resources

__all__ = [
    "ROLES",
    "AboveThreshold",
    "Attribute",
    "Closeness",
    "Csv",
    "Cuts",
    "Database",
    "DateUnit",
    "Dates",
    "Definition",
    "DefinitionPart",
    "Diversity",
    "Engine",
    "Files",
    "Groups",
    "Hierarchy",
    "Intervals",
    "Likeness",
    "LossChoice",
    "Mask",
    "Missing",
    "OutputFile",
    "OutputObject",
    "OutputSpark",
    "OutputTable",
    "PluggedIn",
    "Population",
    "Recursive",
    "Risk",
    "Role",
    "Search",
    "Several",
    "SourceLocation",
    "Spark",
    "Suppress",
    "Taxonomy",
    "WrittenFile",
]


def _parameters_of_each(data: Any) -> Any:
    """Each model of a plug-in with its parameters, none by default."""
    if not isinstance(data, Mapping):
        raise Wrong("must map names of models to parameters", "as in `privacy: {my-model: {l: 3}}`")
    return {
        name: parameters_of(given) if isinstance(given, Mapping) else given or {}
        for name, given in data.items()
    }


ModelChoices: TypeAlias = Annotated[Mapping[str, Parameters], BeforeValidator(_parameters_of_each)]

Role: TypeAlias = Literal["identifier", "quasi-identifier", "sensitive", "keep", "drop"]
ROLES: tuple[str, ...] = ("identifier", "quasi-identifier", "sensitive", "keep", "drop")


class Attribute(DefinitionPart):
    """One column: its role, and for some roles how it may be generalized or must be protected."""

    role: Role
    hierarchy: HierarchyChoice | None = None
    lowest: int = Field(default=0, alias="from", ge=0)
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


class Missing(DefinitionPart):
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


def _part_parameters(data: Any) -> Any:
    return parameters_of(data) if isinstance(data, Mapping) else data


class LossChoice(DefinitionPart):
    """Which loss to minimise, and how a loss of cells joins the attributes."""

    name: str = "iyengar"
    aggregate: Literal["mean", "geometric"] = "mean"
    parameters: Annotated[Parameters, BeforeValidator(_part_parameters)] = Field(
        default_factory=dict
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data


class Search(DefinitionPart):
    """How to search, and when to stop early.

    `backtrack` is a key of the strategy priority-path; `parameters` are those of a plug-in.
    `effort` is how long local recoding looks for a better one and for a higher bound.
    """

    strategy: str = "box"
    time_limit: Seconds | None = Field(default=None, alias="time limit", gt=0)
    gap: float = Field(default=0.0, ge=0)
    threads: int | None = Field(default=None, ge=1)
    effort: Literal["low", "normal", "high"] | None = None
    backtrack: bool | None = None
    parameters: Annotated[Parameters, BeforeValidator(_part_parameters)] = Field(
        default_factory=dict
    )

    @property
    def of_strategy(self) -> Parameters:
        """The parameters that the strategy is made with."""
        own = {} if self.backtrack is None else {"backtrack": self.backtrack}
        return {**own, **self.parameters}


class Engine(DefinitionPart):
    """What the engine on this machine may use: memory, a folder to spill to, distinct tuples.

    More distinct tuples than `tuples` are not read: they are counted from a higher level up.
    """

    memory_limit: Bytes | None = Field(default=None, alias="memory limit", gt=0, lt=2**62)
    spill_folder: FilePath | None = Field(default=None, alias="spill folder")
    threads: int | None = Field(default=None, ge=1, le=4096)
    tuples: int | None = Field(default=None, ge=1, lt=2**62)

    def resources(self, on_progress: Callable[[float], None] | None = None) -> Resources:
        """The same for an engine; `on_progress` gets the share of a long query that is done."""
        return Resources(
            self.memory_limit, self.spill_folder, self.threads, on_progress=on_progress
        )


class Definition(DefinitionPart):
    """A release: what to read, what each column is, what is demanded, where to write.

    `person` names the columns that identify a person, where one person can have several records.
    `recoding` says whether a column has one level, or every class its own levels. `strict` lets
    warnings refuse the release.
    """

    source: SourceChoice
    output: OutputChoice | None = None
    report: FilePath | None = None
    k: int = Field(ge=2)
    person: Names = ()
    risk: Risk | None = None
    population: Population | None = None
    suppression: Share = 0
    suppressed: Literal["drop", "mark"] = "drop"
    missing: Missing = Missing()
    loss: LossChoice = LossChoice()
    recoding: Literal["full-domain", "local"] = "full-domain"
    search: Search = Search()
    engine: Engine = Engine()
    privacy: ModelChoices = Field(default_factory=dict)
    attributes: Mapping[str, Attribute]
    others: Literal["keep", "drop"] | None = None
    strict: bool = False

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

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns whose combinations are counted: what classes are made of and judged by."""
        return tuple(dict.fromkeys(self.quasi_identifiers + self.sensitive + self.person))

    def suppression_limit(self, records: int) -> int:
        """How many of the records may be suppressed: floor(share * records), or the number given.

        The product is rounded to 9 decimals first, so that 0.07 * 100 counts as 7, not 6.999...
        """
        if isinstance(self.suppression, int):
            return min(self.suppression, records)
        return int(round(self.suppression * records, 9))

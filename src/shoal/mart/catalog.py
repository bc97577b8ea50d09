"""The catalog of a data mart: one frozen model, which YAML, JSON and XML files write down.

Field aliases are the keys of the file. Single values are checked here; what needs several keys at
once, or the sources, is checked in check.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo

from shoal.definition.demands import Diversity  # noqa: TC001 the model needs it
from shoal.definition.locations import Names  # noqa: TC001 the model needs it
from shoal.definition.model import Attribute, Engine, Missing
from shoal.definition.scalars import DefinitionPart, FilePath, Portion, Share, Text, Wrong
from shoal.definition.sources import SourceChoice  # noqa: TC001 the model needs it
from shoal.errors import UserError, did_you_mean, quoted
from shoal.mart.lookups import Lookup, lookup_of

SharedRole: TypeAlias = Literal["quasi-identifier", "sensitive", "keep"]
"""The roles of columns that a source shares; all its other columns are never released."""
LinkKind: TypeAlias = Literal["one-to-one", "one-to-many", "many-to-one"]
RANDOM_ID = "person_id"
"""The column of random ids in a release with `keys: random`; no source may share such a column."""
ALL_COLUMNS = ".*"
"""`genes.*` in a request means all columns that the source `genes` shares."""


@dataclass(frozen=True, order=True)
class ColumnRef:
    """A shared column of a source."""

    source: str
    column: str

    def __str__(self) -> str:
        return f"{self.source}.{self.column}"

    @property
    def names(self) -> tuple[str, str]:
        """What it can be called, alone and with its source."""
        return self.column, str(self)


class PersonKey(DefinitionPart):
    """What identifies a person: columns of one source, which every other is linked with."""

    source: Text
    columns: Names = Field(min_length=1)


def _no_role_of_hidden_columns(value: Any) -> Any:
    if value in ("identifier", "drop"):
        raise Wrong(
            f"{value!r} is no role of a shared column",
            "leave the column out: what is not listed is never released",
        )
    return value


class SharedColumn(Attribute):
    """A column that a source shares; with `derive` it is computed by an expression."""

    role: Annotated[SharedRole, BeforeValidator(_no_role_of_hidden_columns)]
    derive: Text | None = None


class CatalogSource(DefinitionPart):
    """A source: where it is, who may ask for it, and which columns it shares.

    `untransformed` says why its columns can be released as they are. Then they are never counted.
    """

    source: SourceChoice
    askers: Names | None = None
    untransformed: Text | None = None
    columns: Mapping[Text, SharedColumn] = Field(default_factory=dict)


class End(DefinitionPart):
    """One end of a link: the columns of a source whose values are the key."""

    source: Text
    columns: Names = Field(min_length=1)


_EXAMPLE_OF_ENDS = "write for example `between: {findings: PatId, patient: PatId}`"


def _ends(value: Any) -> Any:
    """`{findings: PatId, patient: PatId}` as two ends, in the order in which they are written."""
    if isinstance(value, Mapping):
        value = [{"source": source, "columns": columns} for source, columns in value.items()]
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Wrong("must map two sources to their key columns", _EXAMPLE_OF_ENDS)
    return value


def _no_many_to_many(value: Any) -> Any:
    if value == "many-to-many":
        raise Wrong(
            "many-to-many cannot be joined: a record of one end would count with all of the other",
            "link both ends with a source between them, many-to-one each",
        )
    return value


class Link(DefinitionPart):
    """How two sources are joined: equal keys, compared by their text.

    `kind` is read in the order of the ends. Rows without a partner at the `optional` end stay.
    """

    ends: Annotated[tuple[End, End], BeforeValidator(_ends)] = Field(alias="between")
    kind: Annotated[LinkKind, BeforeValidator(_no_many_to_many)]
    optional: Text | None = None

    @property
    def sources(self) -> tuple[str, str]:
        """The names of the two sources."""
        return self.ends[0].source, self.ends[1].source

    def end(self, source: str) -> End:
        """The end at a source."""
        return self.ends[self.sources.index(source)]

    def other(self, source: str) -> End:
        """The end opposite a source."""
        return self.ends[1 - self.sources.index(source)]

    def is_unique(self, source: str) -> bool:
        """Whether a key occurs at most once at this end: it is a "one" side."""
        return self.kind.split("-to-")[self.sources.index(source)] == "one"


class Policy(DefinitionPart):
    """What a request must demand at least, and what it may ask for at most.

    `suppression` is the most that a request may allow. `share` is the largest part of the persons
    of a source that a release may have. `apart` lists columns that are never released together.
    `overlap` says what happens to a release that can be intersected with an earlier one of the
    same asker, or of any asker where `across` is `all`.
    """

    k: int = Field(default=2, ge=2)
    suppression: Share = 0
    diversity: Diversity | None = None
    share: Portion | None = Field(default=None, gt=0, le=1)
    apart: tuple[Names, ...] = ()
    askers: Names | None = None
    overlap: Literal["refuse", "report"] = "refuse"
    across: Literal["asker", "all"] = "asker"


def _lookup(value: Any, info: ValidationInfo) -> Lookup:
    return lookup_of(value, Path((info.context or {}).get("folder", "")))


LookupChoice: TypeAlias = Annotated[Mapping[str, str], PlainValidator(_lookup)]
"""A lookup as the file has it: inline, or from a file."""


class Catalog(DefinitionPart):
    """A data mart: its sources, persons, links, lookups of derived columns, policy and log."""

    name: Text = Field(alias="mart")
    log: FilePath
    person: PersonKey
    sources: Mapping[Text, CatalogSource]
    links: tuple[Link, ...] = ()
    maps: Mapping[Text, LookupChoice] = Field(default_factory=dict)
    policy: Policy = Policy()
    missing: Missing = Missing()
    engine: Engine = Engine()

    @property
    def columns(self) -> Iterator[ColumnRef]:
        """Every shared column, source by source in the order of the catalog."""
        for name, source in self.sources.items():
            yield from (ColumnRef(name, column) for column in source.columns)

    def column(self, ref: ColumnRef) -> SharedColumn:
        """What the catalog says of a shared column."""
        return self.sources[ref.source].columns[ref.column]

    def find(self, name: str) -> ColumnRef:
        """The shared column that `PT` or `findings.PT` means.

        UserError `unknown-column` if none is called so, `ambiguous-column` if several are.
        """
        found = [ref for ref in self.columns if name in ref.names]
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(
                f"{name!r} can be {' or '.join(repr(str(ref)) for ref in found)}",
                code="ambiguous-column",
                hint="write the source before the column",
            )
        known = dict.fromkeys(each for ref in self.columns for each in ref.names)
        near = did_you_mean(name, known).lstrip("; ")
        shared = quoted(dict.fromkeys(ref.column for ref in self.columns))
        raise UserError(
            f"the mart {self.name!r} shares no column {name!r}",
            code="unknown-column",
            hint=near or f"its columns are {shared}",
        )

    def short_names(self, refs: Iterable[ColumnRef]) -> dict[ColumnRef, str]:
        """What to call columns: the column alone where that is clear, else with its source.

        It is clear where only one source shares such a column. Case does not count: engines take
        `Age` and `age` for one name. `find` gives the same column back. A name depends on the
        catalog alone, never on a request.
        """
        taken = Counter(name for ref in self.columns for name in {*map(str.casefold, ref.names)})
        return {ref: ref.column if taken[ref.column.casefold()] == 1 else str(ref) for ref in refs}

    def short_name(self, ref: ColumnRef) -> str:
        """What to call one column."""
        return self.short_names([ref])[ref]

    def expand(self, names: Iterable[str]) -> tuple[ColumnRef, ...]:
        """The columns that these names mean, each once; `genes.*` is all of a source."""
        found: dict[ColumnRef, None] = {}
        for name in names:
            source = name.removesuffix(ALL_COLUMNS)
            if name.endswith(ALL_COLUMNS) and source in self.sources:
                found |= dict.fromkeys(ref for ref in self.columns if ref.source == source)
            else:
                found[self.find(name)] = None
        return tuple(found)

    def links_of(self, source: str) -> tuple[Link, ...]:
        """The links that have an end at a source."""
        return tuple(link for link in self.links if source in link.sources)

    @property
    def files(self) -> Iterator[tuple[Path, str]]:
        """The files that are read beside the sources, and what each is."""
        for ref in self.columns:
            path = getattr(self.column(ref).hierarchy, "path", None)
            if isinstance(path, Path):
                yield path, f"the hierarchy of {str(ref)!r}"
        for name, lookup in self.maps.items():
            if isinstance(lookup, Lookup) and lookup.path is not None:
                yield lookup.path, f"the map {name!r}"


CatalogLike: TypeAlias = Catalog | Mapping[str, object] | str | Path
"""A catalog of a data mart; or what one is read from."""

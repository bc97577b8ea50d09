"""From a request to what it asks of each source: the first two steps of the paper's method.

With `scope: source` every source with projected quasi-identifiers gets a definition of its own on
the linked table, in which the columns of all other sources are kept as they are. With
`scope: joint` there is one definition with the quasi-identifiers of all sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shoal.definition.check import mistakes
from shoal.definition.demands import demands_on
from shoal.definition.model import Attribute, Definition, Files
from shoal.errors import BadDefinition, UserError
from shoal.mart.policy import demanded_diversity
from shoal.mart.recipe import JOINT

if TYPE_CHECKING:
    from shoal.errors import Mistake
    from shoal.mart.catalog import Catalog, ColumnRef
    from shoal.mart.linking import LinkedTable
    from shoal.mart.request import Request
    from shoal.mart.selection import Selection


@dataclass(frozen=True, eq=False)
class Resolved:
    """A request whose columns and conditions are known.

    `columns` maps the names in the release to what they are; `k` is the least number of persons in
    a class.
    """

    catalog: Catalog
    request: Request
    k: int
    columns: Mapping[str, ColumnRef]
    selection: Selection

    def is_counted(self, name: str) -> bool:
        """Whether a projected column is a quasi-identifier of a source that is transformed."""
        ref = self.columns[name]
        if self.catalog.sources[ref.source].untransformed is not None:
            return False
        return self.catalog.column(ref).role == "quasi-identifier"

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The projected quasi-identifiers of all sources, in the order of the projection."""
        return tuple(name for name in self.columns if self.is_counted(name))

    def without_effect(self) -> Iterator[str]:
        """Notes on limits and priorities of columns that are no projected quasi-identifiers."""
        counted = {self.columns[name] for name in self.quasi_identifiers}
        given = {"limits": self.request.limits, "priorities": self.request.priorities}
        for key, names in given.items():
            for name in names:
                if self.catalog.find(name) not in counted:
                    yield f"{key}: {name!r} is no projected quasi-identifier, so it has no effect"


@dataclass(frozen=True)
class Limit:
    """The highest level that a column may have, and where that comes from."""

    level: int
    reason: str


@dataclass(frozen=True, eq=False)
class Subrequest:
    """What is asked of one source, or of all together: its quasi-identifiers and its definition.

    `limits` has the columns that may not rise to the top of their hierarchies.
    """

    name: str
    columns: tuple[str, ...]
    limits: Mapping[str, Limit]
    definition: Definition


def subrequests(asked: Resolved, linked: LinkedTable) -> tuple[Subrequest, ...]:
    """One for each source with projected quasi-identifiers, or one for all of them.

    A source without any asks for nothing: nobody is found by its columns.
    """
    groups: dict[str, list[str]] = {}
    for name in asked.quasi_identifiers:
        joint = asked.request.scope == "joint"
        groups.setdefault(JOINT if joint else asked.columns[name].source, []).append(name)
    return tuple(_subrequest(asked, linked, each, tuple(groups[each])) for each in groups)


def _subrequest(
    asked: Resolved, linked: LinkedTable, name: str, columns: tuple[str, ...]
) -> Subrequest:
    limits = {column: limit for column in columns if (limit := _limit(asked, column)) is not None}
    catalog, request = asked.catalog, asked.request
    priorities = {catalog.find(each): value for each, value in request.priorities.items()}
    attributes = {}
    for each, ref in asked.columns.items():
        attributes[each] = _other(asked, each)
        if each in columns:
            declared = catalog.column(ref)
            level = limits[each].level if each in limits else None
            changed = {"limit": level, "priority": priorities.get(ref, declared.priority)}
            attributes[each] = declared.model_copy(update=changed)
    if request.keys == "random":
        attributes[linked.random_ids] = Attribute(role="keep")
    definition = Definition(
        source=Files(path=linked.options.path, format="parquet"),
        k=asked.k,
        person=(linked.person,),
        suppression=request.suppression,
        missing=catalog.missing,
        recoding=request.recoding,
        loss=request.demanded_loss,
        search=request.search,
        engine=catalog.engine,
        attributes=attributes,
        others="drop",
    )
    if found := mistakes(definition):
        raise BadDefinition("request", [_of_request(each) for each in found])
    return Subrequest(name, columns, limits, definition)


def _of_request(mistake: Mistake) -> Mistake:
    """The mistake with the key that a request has for it."""
    key = re.sub(r"^attributes\.(.*)\.limit$", r"limits.\1", mistake.key)
    return replace(mistake, key="priorities" if key == "attributes" else key)


def _other(asked: Resolved, name: str) -> Attribute:
    """A column that is no quasi-identifier here: kept, and judged where something is demanded."""
    return demanded(asked).get(name, Attribute(role="keep"))


def demanded(asked: Resolved) -> dict[str, Attribute]:
    """The projected sensitive columns of which something is demanded.

    It is demanded in the classes of every source. The party that holds a source knows its own
    values; what it must not learn are those of the others.
    """
    found: dict[str, Attribute] = {}
    for name, ref in asked.columns.items():
        declared = asked.catalog.column(ref)
        untransformed = asked.catalog.sources[ref.source].untransformed
        if declared.role == "sensitive" and untransformed is None:
            diversity = demanded_diversity(asked.catalog, asked.request, declared)
            sensitive = declared.model_copy(update={"diversity": diversity})
            if any(demands_on(name, sensitive)):
                found[name] = sensitive
    return found


def _limit(asked: Resolved, name: str) -> Limit | None:
    """The least of the limits of selection, request and catalog; None where there is none."""
    ref = asked.columns[name]
    limit = min(_limits(asked, ref), key=lambda each: each.level, default=None)
    lowest = asked.catalog.column(ref).lowest
    if limit is not None and limit.level < lowest:
        raise UserError(
            f"the limit of {name!r} is level {limit.level} by the {limit.reason}, but the catalog "
            f"releases it from level {lowest} on",
            code="limit-below-from",
            hint=f"set its limit to {lowest} or higher, or leave the column out",
        )
    return limit


def _limits(asked: Resolved, ref: ColumnRef) -> Iterator[Limit]:
    limits = {asked.catalog.find(each): level for each, level in asked.request.limits.items()}
    if ref in asked.selection.limits:
        yield Limit(asked.selection.limits[ref], "selection")
    if ref in limits:
        yield Limit(limits[ref], "request")
    of_catalog = asked.catalog.column(ref).limit
    if of_catalog is not None:
        yield Limit(of_catalog, "catalog")

"""From the conditions of a request to the values that they select, and to limits of levels.

A condition is resolved to a set of values of its column, before any record is read. The values are
those of the whole source, so a selection changes no hierarchy.

One principle gives the limit: a label must not say less than the selection does. Whoever asks for
`PT = 1` knows that every record has a value below 1, so `[1-2]` would tell them nothing new and
would only look like protection. The limit is the highest level at which no label covers all
selected values and others besides. An exact value, and `is missing`, limit a column to level 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from shoal.definition.hierarchies.dates import parse_date
from shoal.definition.hierarchies.numbers import parse_number
from shoal.encode.hierarchy import build
from shoal.encode.propose import propose
from shoal.encode.table import attribute_of
from shoal.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from shoal.encode.hierarchy import Hierarchy
    from shoal.encode.table import Attribute
    from shoal.mart.catalog import Catalog, ColumnRef, Link, SharedColumn
    from shoal.mart.conditions import Condition

Values: TypeAlias = frozenset[str | None]
"""Values of a column as text; None is missing."""


class Domains(Protocol):
    """A catalog, and the values of its columns in the whole sources (see `OpenSources`)."""

    @property
    def catalog(self) -> Catalog: ...

    def values(self, ref: ColumnRef) -> Mapping[str | None, int]: ...


@dataclass(frozen=True, eq=False)
class Domain:
    """A column in the whole source: its values with their records, None for missing.

    Only a quasi-identifier has a `hierarchy`: other columns are selected by their values alone.
    `stated` are the values that the catalog itself lists, so that everybody may know them.
    """

    name: str
    counts: Mapping[str | None, int]
    hierarchy: Hierarchy | None = None
    stated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, name: str, column: SharedColumn, counts: Mapping[str | None, int]) -> Domain:
        """The domain of a shared column; its hierarchy is the declared one, else a proposed one."""
        if column.role != "quasi-identifier":
            return cls(name, counts)
        known = {value: number for value, number in counts.items() if value is not None}
        kind = column.hierarchy or propose(list(known))
        hierarchy = build(name, kind, known, lowest=column.lowest)
        stated = frozenset(hierarchy.labels[0]) if kind.names_values else frozenset[str]()
        return cls(name, counts, hierarchy, stated)

    @property
    def values(self) -> frozenset[str]:
        """All values but missing, those that only the hierarchy has included."""
        leaves = () if self.hierarchy is None else self.hierarchy.labels[0]
        return frozenset(leaves).union(value for value in self.counts if value is not None)

    def labelled(self, text: str) -> tuple[int, frozenset[str]] | None:
        """The highest level that has this label, and the values below it; None if none has it."""
        if self.hierarchy is None:
            return None
        leaves = np.array(self.hierarchy.labels[0], dtype=object)
        for level in range(self.hierarchy.height, 0, -1):
            if text in self.hierarchy.labels[level]:
                group = self.hierarchy.labels[level].index(text)
                return level, frozenset(leaves[self.hierarchy.groups[level] == group].tolist())
        return None

    def limit(self, selected: Values) -> int | None:
        """The highest level at which no label covers all selected values and others besides.

        Levels are nested, so no label of a lower level does either.
        """
        if self.hierarchy is None or not selected:
            return None
        is_chosen = np.array([leaf in selected for leaf in self.hierarchy.labels[0]], dtype=bool)
        for level in range(self.hierarchy.height, 0, -1):
            groups = self.hierarchy.groups[level]
            covering = np.unique(groups[is_chosen])
            others = ~is_chosen & (groups == covering[0])
            if len(covering) > 1 or not others.any():
                return level
        return 0


@dataclass(frozen=True)
class Selection:
    """What a request selects: accepted values of columns, limits of levels, and notes for people.

    `only` has every column with a condition; `limits` those of them that have a hierarchy.
    """

    only: Mapping[ColumnRef, Values]
    limits: Mapping[ColumnRef, int]
    notes: tuple[str, ...]


def resolve(
    catalog: Catalog,
    conditions: Iterable[Condition],
    counts_of: Callable[[ColumnRef], Mapping[str | None, int]],
    *,
    shown: int,
) -> Selection:
    """The values and limits that conditions mean; conditions on one column must hold together.

    `counts_of` gives the values of a column in the whole source. A value that fewer than `shown`
    records have, each of one person, is answered like one that does not exist, and never suggested:
    else a request could ask whether somebody has it. Values that the catalog lists are known.
    """
    by_column: dict[ColumnRef, list[Condition]] = {}
    for condition in conditions:
        by_column.setdefault(catalog.find(condition.column), []).append(condition)
    only: dict[ColumnRef, Values] = {}
    limits: dict[ColumnRef, int] = {}
    notes: list[str] = []
    for ref, its in by_column.items():
        column = catalog.column(ref)
        domain = Domain.of(str(ref), column, counts_of(ref))
        least = shown if has_one_person(catalog, ref.source) else 1
        found = [_resolved(each, domain, least) for each in its]
        only[ref] = frozenset.intersection(*(each.values for each in found))
        notes += [each.note for each in found if each.note]
        limit = 0 if any(each.is_exact for each in found) else domain.limit(only[ref])
        if domain.hierarchy is not None and limit is not None:
            _refuse_below_lowest(its, column.lowest, limit)
            limits[ref] = limit
    return Selection(only, limits, tuple(notes))


def has_one_person(catalog: Catalog, source: str, but: Link | None = None) -> bool:
    """Whether each record of a source belongs to one person at most.

    It does where no link on the way to the person's source has many records at its other side.
    """
    if source == catalog.person.source:
        return True
    for link in catalog.links_of(source):
        other = link.other(source).source
        if link is not but and link.is_unique(other) and has_one_person(catalog, other, link):
            return True
    return False


def attribute(sources: Domains, ref: ColumnRef) -> Attribute:
    """A shared quasi-identifier with its hierarchy, made from the values of the whole source."""
    column = sources.catalog.column(ref)
    counts = {value: number for value, number in sources.values(ref).items() if value is not None}
    kind = column.hierarchy or propose(list(counts))
    return attribute_of(str(ref), column.model_copy(update={"hierarchy": kind}), counts)


def accepted(sources: Domains, condition: Condition) -> tuple[ColumnRef, Values]:
    """The column of one condition, and the values that it accepts."""
    selection = resolve(sources.catalog, [condition], sources.values, shown=1)
    ((ref, values),) = selection.only.items()
    return ref, values


@dataclass(frozen=True)
class _Resolved:
    """The values that one condition selects, whether it is one exact value or missing, a note."""

    values: Values
    is_exact: bool = False
    note: str = ""


def _resolved(condition: Condition, domain: Domain, shown: int) -> _Resolved:
    """The values that a condition selects; missing ones only where it says `is missing`."""
    operator, texts, every = condition.operator, condition.values, domain.values
    match operator:
        case "missing":
            return _Resolved(frozenset([None]), is_exact=True)
        case "present":
            return _Resolved(frozenset(every))
        case "=" | "==" | "!=" | "in":
            found = [_taken(condition, text, domain, shown) for text in texts]
            values: Values = frozenset().union(*(each.values for each in found))
            note = "; ".join(each.note for each in found if each.note)
            if operator == "!=":
                return _Resolved(frozenset(every) - values, note=note)
            return _Resolved(values, len(found) == 1 and found[0].is_exact, note)
        case _:
            return _Resolved(frozenset(_in_order(condition, domain)))


def _taken(condition: Condition, text: str, domain: Domain, shown: int) -> _Resolved:
    """What a text of a condition means: a label with all values below it, or a value.

    A text that is both is taken for the label if that covers more than the value; `==` takes
    values alone.
    """
    is_value = text in domain.stated or domain.counts.get(text, 0) >= shown
    label = None if condition.operator == "==" else domain.labelled(text)
    if label is not None and not (is_value and label[1] == {text}):
        level, values = label
        number = f"{len(values):,} {'value' if len(values) == 1 else 'values'}"
        note = f"{condition}: {text!r} is the label of {number} at level {level}"
        if is_value:
            note += f"; `{condition.column} == {text}` means the value {text!r} alone"
        return _Resolved(frozenset(values), note=note)
    if is_value:
        return _Resolved(frozenset([text]), is_exact=True)
    frequent = [each for each, number in domain.counts.items() if each and number >= shown]
    labels = [label for level in _levels(domain) for label in level]
    near = did_you_mean(text, dict.fromkeys((*labels, *frequent)))
    rare = f", or fewer than {shown:,} records have it" if shown > 1 else ""
    raise UserError(
        f"{condition}: {domain.name} has no value {'or label ' * bool(labels)}{text!r}{rare}{near}",
        code="unknown-value",
        hint="`shoal mart describe` lists the labels of each column",
    )


def _levels(domain: Domain) -> Sequence[Sequence[str]]:
    """The labels of each level above the values."""
    return () if domain.hierarchy is None else domain.hierarchy.labels[1:]


def _in_order(condition: Condition, domain: Domain) -> list[str]:
    """The values for which a comparison by order holds."""
    parse, kind = _order(condition, domain)
    bounds = [parse(text) for text in condition.values]
    for text, bound in zip(condition.values, bounds, strict=True):
        if bound is None:
            raise UserError(
                f"{condition}: {text!r} is no {kind}, and all values of {domain.name} are {kind}s",
                code="no-order",
                hint=f"compare with a {kind}",
            )
    holds = _COMPARISONS[condition.operator]
    return [value for value in domain.values if holds(parse(value), *bounds)]


def _order(condition: Condition, domain: Domain) -> tuple[Callable[[str], Any], str]:
    """How the values of a column are read so that they can be compared, and what they are."""
    kinds: tuple[tuple[Callable[[str], Any], str], ...] = (
        (parse_number, "number"),
        (parse_date, "date"),
    )
    for parse, kind in kinds:
        if all(parse(value) is not None for value in domain.values):
            return parse, kind
    raise UserError(
        f"{condition}: the values of {domain.name} have no order, since not all of them are "
        "numbers, and not all are ISO dates",
        code="no-order",
        hint="select with `=`, `!=` or `in`",
    )


_COMPARISONS: Mapping[str, Callable[..., bool]] = {
    "<": lambda value, bound: value < bound,
    ">": lambda value, bound: value > bound,
    "<=": lambda value, bound: value <= bound,
    ">=": lambda value, bound: value >= bound,
    "between": lambda value, low, high: low <= value <= high,
}


def _refuse_below_lowest(conditions: Sequence[Condition], lowest: int, limit: int) -> None:
    """Refuse a selection that says more of a column than its source releases of it."""
    if limit < lowest:
        said = " and ".join(map(str, conditions))
        raise UserError(
            f"{said}: this says more than the catalog allows, which releases the column from level "
            f"{lowest} on",
            code="selection-too-exact",
            hint=f"select by a label of level {lowest} or higher",
        )

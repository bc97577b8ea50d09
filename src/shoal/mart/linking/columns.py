"""Which columns of the sources are read, and which are computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.mart.catalog import ColumnRef
from shoal.mart.expressions import Expression, parse

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.linking.plan import Plan


@dataclass(frozen=True)
class Derivation:
    """A derived column, its expression, and the columns that it reads."""

    ref: ColumnRef
    expression: Expression
    inputs: Mapping[tuple[str | None, str], ColumnRef]


@dataclass(frozen=True)
class Reading:
    """`raw` columns are those of the sources; each of `derived` comes after what it reads."""

    raw: tuple[ColumnRef, ...]
    derived: tuple[Derivation, ...]

    @property
    def sources(self) -> frozenset[str]:
        """The sources that are read or computed for."""
        refs = (*self.raw, *(each.ref for each in self.derived))
        return frozenset(ref.source for ref in refs)


def reading_of(catalog: Catalog, refs: Iterable[ColumnRef]) -> Reading:
    """What must be read so that these columns are there."""
    raw: dict[ColumnRef, None] = {}
    derived: dict[ColumnRef, Derivation] = {}
    for ref in refs:
        _follow(catalog, ref, raw, derived)
    return Reading(tuple(raw), tuple(derived.values()))


def key_columns(catalog: Catalog, plan: Plan) -> Iterator[ColumnRef]:
    """The columns that say who a person is, and those of the keys that are joined."""
    person = catalog.person
    yield from (ColumnRef(person.source, column) for column in person.columns)
    for join in plan.joins:
        for end in (join.known, join.new):
            yield from (ColumnRef(end.source, column) for column in end.columns)


def is_derived(catalog: Catalog, ref: ColumnRef) -> bool:
    """Whether a column is computed."""
    return _formula(catalog, ref) is not None


def _formula(catalog: Catalog, ref: ColumnRef) -> str | None:
    if ref.source not in catalog.sources:
        return None
    shared = catalog.sources[ref.source].columns.get(ref.column)
    return None if shared is None else shared.derive


def _follow(
    catalog: Catalog,
    ref: ColumnRef,
    raw: dict[ColumnRef, None],
    derived: dict[ColumnRef, Derivation],
) -> None:
    """Add a column, after all that it is computed from; the catalog was checked for cycles."""
    formula = _formula(catalog, ref)
    if formula is None:
        raw[ref] = None
        return
    if ref in derived:
        return
    expression = parse(formula, str(ref))
    inputs = {
        (source, name): ColumnRef(source or ref.source, name) for source, name in expression.columns
    }
    for each in inputs.values():
        _follow(catalog, each, raw, derived)
    derived[ref] = Derivation(ref, expression, inputs)

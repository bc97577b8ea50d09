"""Slow, obvious Python that says what two or more releases of a mart show together.

The mart has patients, findings (several for a patient), genes (several for a finding) and deaths
(at most one for a patient). Each record has a key, the key of its parent, and two columns.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from oracle import Ladder
from shoal.mart.catalog import ColumnRef
from shoal.mart.recipe import JOINT, Recipe, ReleasedClass

PARENT = {"findings": "patient", "genes": "findings", "deaths": "patient"}
LADDER = Ladder(
    {
        "a": ("a", "[a-b]", "*"),
        "b": ("b", "[a-b]", "*"),
        "c": ("c", "[c-d]", "*"),
        "d": ("d", "[c-d]", "*"),
    }
)

Cell = str | None


@dataclass(frozen=True)
class Record:
    """A record: its parent (an index into the parent's table, -1 for a parent that is not there),
    and its values."""

    parent: int
    values: Mapping[str, Cell]


Tables = Mapping[str, Sequence[Record]]
Row = Mapping[str, int | None]
"""A joined row: the index of the record of each source, None where it is absent."""


@dataclass(frozen=True)
class ReleaseSpec:
    """A request, as far as it matters here."""

    sources: tuple[str, ...]
    columns: tuple[ColumnRef, ...]
    levels: Mapping[ColumnRef, int]
    only: Mapping[ColumnRef, frozenset[Cell]] = field(default_factory=dict)
    k: int = 2
    scope: str = "source"
    optional: tuple[str, ...] = ()
    complete: bool = False
    tied: bool = False

    @property
    def groups(self) -> dict[str, tuple[ColumnRef, ...]]:
        if self.scope == "joint":
            return {JOINT: self.columns} if self.columns else {}
        found: dict[str, tuple[ColumnRef, ...]] = {}
        for ref in self.columns:
            found[ref.source] = (*found.get(ref.source, ()), ref)
        return found


def value(tables: Tables, row: Row, ref: ColumnRef) -> Cell:
    index = row[ref.source]
    return None if index is None else tables[ref.source][index].values[ref.column]


def labels(
    tables: Tables, row: Row, spec: ReleaseSpec, refs: Iterable[ColumnRef]
) -> tuple[Cell, ...]:
    return tuple(LADDER.label(value(tables, row, ref), spec.levels[ref]) for ref in refs)


def join(tables: Tables, spec: ReleaseSpec) -> list[Row]:
    """The joined rows of a request before its selection."""
    rows: list[Row] = [{"patient": i} for i in range(len(tables["patient"]))]
    for source in ("findings", "genes", "deaths"):
        if source in spec.sources:
            rows = [
                {**row, source: child}
                for row in rows
                for child in _children(tables, source, row[PARENT[source]], spec.optional)
            ]
    return rows


def _children(
    tables: Tables, source: str, parent: int | None, optional: Sequence[str]
) -> list[int | None]:
    found: list[int | None] = [
        i for i, record in enumerate(tables[source]) if record.parent == parent
    ]
    return found or ([None] if source in optional else [])


def released(tables: Tables, spec: ReleaseSpec) -> list[Row]:
    """The rows of the release: classes below k leave, until none does."""
    rows = [
        row
        for row in join(tables, spec)
        if all(value(tables, row, ref) in accepted for ref, accepted in spec.only.items())
        if not spec.complete or None not in [value(tables, row, ref) for ref in spec.columns]
    ]
    while True:
        kept = rows
        for refs in spec.groups.values():
            persons = defaultdict(set)
            for row in kept:
                persons[labels(tables, row, spec, refs)].add(row["patient"])
            kept = [r for r in kept if len(persons[labels(tables, r, spec, refs)]) >= spec.k]
        if kept == rows:
            return rows
        rows = kept


def recipe_of(tables: Tables, spec: ReleaseSpec) -> Recipe:
    rows = released(tables, spec)
    classes = {}
    for group, refs in spec.groups.items():
        members = defaultdict(list)
        for row in rows:
            members[labels(tables, row, spec, refs)].append(row["patient"])
        classes[group] = tuple(
            ReleasedClass(each, len(persons), len(set(persons)))
            for each, persons in members.items()
        )
    return Recipe(
        scope=spec.scope,
        k=spec.k,
        sources=spec.sources,
        columns=spec.groups,
        levels={ref: spec.levels[ref] for ref in spec.columns},
        classes=classes,
        optional=spec.optional,
        complete=spec.complete,
        rows=len(rows),
        persons=len({row["patient"] for row in rows}),
        tied=spec.tied,
    )


def views(releases: Sequence[ReleaseSpec]) -> list[tuple[str, tuple[str, ...]]]:
    """What is looked at: the source that is held, and the sources that rows are matched by."""
    used = sorted({source for each in releases for source in each.sources})
    common = tuple(s for s in used if all(s in each.sources for each in releases))
    found: list[tuple[str, tuple[str, ...]]]
    found = [(view, (view,)) for view in used if view in common]
    found += [(view, common) for view in used]
    if all(each.scope == "joint" for each in releases):
        found.append((JOINT, common))
    return found


UnitClasses = dict[tuple[int | None, ...], set[tuple[Cell, ...]]]


def classes_of_units(
    tables: Tables, spec: ReleaseSpec, view: str, unit: Sequence[str]
) -> UnitClasses:
    """The classes of a view that a release shows of each unit; its key begins with the person."""
    found: UnitClasses = defaultdict(set)
    refs = [ref for ref in spec.columns if view in (JOINT, ref.source)]
    for row in released(tables, spec):
        if tuple(unit) == (view,) and row[view] is None:
            continue
        key = (row["patient"], *(row[source] for source in unit))
        found[key].add(labels(tables, row, spec, refs))
    return found


Cells = dict[tuple[tuple[Cell, ...] | None, ...], set[int | None]]


def cells(tables: Tables, releases: Sequence[ReleaseSpec], view: str, unit: Sequence[str]) -> Cells:
    """The persons of each cell: of each combination of classes, None where a release has none."""
    by_release = [classes_of_units(tables, each, view, unit) for each in releases]
    found: Cells = defaultdict(set)
    for key in set().union(*by_release):
        for cell in itertools.product(*(each.get(key) or [None] for each in by_release)):
            found[cell].add(key[0])
    return found


def needed(cell: Sequence[object], releases: Sequence[ReleaseSpec]) -> int:
    return max(each.k for each, said in zip(releases, cell, strict=True) if said is not None)


Numbers = tuple[int | None, int | None]
Found = dict[tuple[str, str], Numbers]
"""By kind and view: how many cells are too small, and of how many persons; None below k persons."""


def numbers(sets: Sequence[set[int | None]], releases: Sequence[ReleaseSpec]) -> Numbers:
    persons = len(set().union(*sets))
    few = persons < max(each.k for each in releases)
    return (None, None) if few else (len(sets), persons)


def overlaps_of_two(tables: Tables, new: ReleaseSpec, old: ReleaseSpec) -> Found:
    found: Found = {}
    for view, unit in views([new, old]):
        small: dict[str, list[set[int | None]]] = defaultdict(list)
        for cell, persons in cells(tables, [new, old], view, unit).items():
            if len(persons) < needed(cell, [new, old]):
                small["difference" if None in cell else "intersection"].append(persons)
        for kind, sets in small.items():
            found.setdefault((kind, view), numbers(sets, [new, old]))
    if new.tied or old.tied:
        for view in dict.fromkeys(view for view, _ in views([new, old])):
            for kind, sets in small_by_person(tables, new, old, view).items():
                found.setdefault((kind, view), numbers(sets, [new, old]))
    return found


def small_by_person(
    tables: Tables, new: ReleaseSpec, old: ReleaseSpec, view: str
) -> dict[str, list[set[int | None]]]:
    """Persons whose rows in tied releases, with what the other release shows of them, few share."""
    common = sorted({*new.sources} & {*old.sources})
    lists: dict[int | None, list[list[object]]] = defaultdict(lambda: [[], []])
    for side, (tied, other) in enumerate([(new, old), (old, new)]):
        if not tied.tied:
            continue
        by_common: dict[object, set[tuple[Cell, ...]]] = defaultdict(set)
        for row in released(tables, other):
            refs = [ref for ref in other.columns if view in (JOINT, ref.source)]
            by_common[tuple(row[s] for s in common)].add(labels(tables, row, other, refs))
        refs = [ref for ref in tied.columns if view in (JOINT, ref.source)]
        for row in released(tables, tied):
            for match in by_common.get(tuple(row[s] for s in common)) or [None]:
                pair = (labels(tables, row, tied, refs), match)
                lists[row["patient"]][side].append(pair if tied is new else pair[::-1])
    alike: dict[str, list[int | None]] = defaultdict(list)
    for person, both in lists.items():
        alike[repr([sorted(each, key=repr) for each in both])].append(person)
    found: dict[str, list[set[int | None]]] = defaultdict(list)
    for persons in alike.values():
        pairs = [pair for each in lists[persons[0]] for pair in each]
        in_new = any(pair[0] is not None for pair in pairs)  # type: ignore[index]
        in_old = any(pair[1] is not None for pair in pairs)  # type: ignore[index]
        if len(persons) < max(new.k * in_new, old.k * in_old):
            found["intersection" if in_new and in_old else "difference"].append(set(persons))
    return found


def overlaps_of_all(tables: Tables, new: ReleaseSpec, old: Sequence[ReleaseSpec]) -> Found:
    found: Found = {}
    for view, unit in views([new, *old]):
        sets = small_cells_of_all(tables, new, old, view, unit)
        sets = sets or small_persons_of_all(tables, new, old, view, unit)
        if sets:
            found.setdefault(("together", view), numbers(sets, [new, *old]))
    return found


def small_cells_of_all(
    tables: Tables, new: ReleaseSpec, old: Sequence[ReleaseSpec], view: str, unit: Sequence[str]
) -> list[set[int | None]]:
    """The persons of each cell that has too few of them because of the new release."""
    before, found = cells(tables, old, view, unit), []
    for cell, persons in cells(tables, [*old, new], view, unit).items():
        few = len(persons) < needed(cell, [*old, new])
        more_before = len(before.get(cell[:-1], ())) > len(persons)
        if few and (cell[-1] is not None or more_before):
            found.append(persons)
    return found


def small_persons_of_all(
    tables: Tables, new: ReleaseSpec, old: Sequence[ReleaseSpec], view: str, unit: Sequence[str]
) -> list[set[int | None]]:
    """Persons whose rows in tied releases are, in all releases, as those of too few others."""
    now = tied_cells(tables, [*old, new], view, unit)
    before = tied_cells(tables, old, view, unit)
    found = []
    for mine in {repr(each) for each in now.values()}:
        alike = {person for person, each in now.items() if repr(each) == mine}
        its_cells = now[next(iter(alike))]
        k = max(needed(cell, [*old, new]) for cell in its_cells)
        in_new = any(cell[-1] is not None for cell in its_cells)
        as_before = [
            sum(each == before[person] for each in before.values())
            for person in alike
            if person in before
        ]
        if len(alike) < k and (in_new or max(as_before) > len(alike)):
            found.append(alike)
    return found


def tied_cells(
    tables: Tables, releases: Sequence[ReleaseSpec], view: str, unit: Sequence[str]
) -> dict[int | None, list[tuple[tuple[Cell, ...] | None, ...]]]:
    """For each person the cells that a tied release has, one for each unit, in order."""
    by_release = [classes_of_units(tables, each, view, unit) for each in releases]
    found = defaultdict(list)
    for key in set().union(*by_release):
        for cell in itertools.product(*(each.get(key) or [None] for each in by_release)):
            if any(r.tied and said is not None for r, said in zip(releases, cell, strict=True)):
                found[key[0]].append(cell)
    return {person: sorted(each, key=repr) for person, each in found.items()}

"""Earlier releases that a new one can be intersected with.

**The adversary** has both releases, can tell which of their rows are of the same record (an
unchanged payload shows it), and holds one source, with what is known of who is in which release.
Of a row he knows its class of that source in both, or that one has no such row. His candidates are
the persons of whom the same is true: those of one *cell* (see cells.py). A cell with fewer persons
than were promised is an overlap:

- `intersection`: matching rows of both releases;
- `difference`: rows of one release that the other does not have;
- `together`: rows of all releases of the asker at once, where no two of them overlap;
- `changed`: the earlier release cannot be found again in the sources as they are now, so nothing
  can be said of it.

Rows are matched twice: by all sources that both releases use, since their rows are made of these,
and by the record of the source that is held alone, since its payload may be in both.

A release of `scope: source` promises nothing against somebody who holds all sources. So all columns
together are compared only between releases of `scope: joint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.engines.failures import source_changed
from shoal.mart.applied import Applied, changed_groups, release_rows
from shoal.mart.cells import Cells, History, SmallCells, Unit
from shoal.mart.log_chain import canonical
from shoal.mart.reapply import LINKED, applied, linked_rows
from shoal.mart.recipe import JOINT, Recipe

if TYPE_CHECKING:
    from shoal.engines.duckdb.session import Session
    from shoal.mart.applied import LinkedRows, ReleaseRows
    from shoal.mart.log_chain import Entry
    from shoal.mart.sources import OpenSources


@dataclass(frozen=True)
class Overlap:
    """Too few candidates in a new release and earlier ones, for who holds one source.

    `earlier` are the numbers of entries in the log. So many `cells` have too few persons, and so
    many `persons` are in them. Both are None where that is fewer than k persons, since the asker
    would learn how few, and for `changed`.
    """

    kind: str
    earlier: tuple[int, ...]
    source: str
    cells: int | None = None
    persons: int | None = None

    @classmethod
    def of(
        cls, kind: str, earlier: tuple[int, ...], source: str, small: SmallCells, k: int
    ) -> Overlap:
        """The overlap by small cells, with the numbers that k allows to say."""
        if small.persons < k:
            return cls(kind, earlier, source)
        return cls(kind, earlier, source, small.cells, small.persons)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "earlier": list(self.earlier)}

    def __str__(self) -> str:
        entries = ", ".join(map(str, self.earlier))
        log = f"{'entry' if len(self.earlier) == 1 else 'entries'} {entries}"
        source = "all sources" if self.source == JOINT else self.source
        if self.kind == "changed":
            return f"{log}: the sources have changed since, so it cannot be compared ({source})"
        how = {
            "intersection": "rows in both",
            "difference": "rows in only one of the two",
            "together": "all of them together",
        }[self.kind]
        affected = "fewer than k persons"
        if self.cells is not None:
            affected = f"{self.persons:,} persons in {self.cells:,} cells"
        return f"{log}, {source}: {how} leave fewer than k candidates for {affected}"


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release in the log: the numbers of the entries that have its recipe, and its recipe as it
    applies now."""

    entries: tuple[int, ...]
    applied: Applied


def find_overlaps(
    sources: OpenSources, new: Recipe, earlier: Sequence[Entry]
) -> tuple[Overlap, ...]:
    """The overlaps of a new release with earlier ones, counted in the sources.

    Releases with the same recipe and counts show the same, so they are compared once, and not with
    a new one that is the same again.
    """
    found: list[Overlap] = []
    others: list[Earlier] = []
    for entries, recipe in _distinct(new, earlier):
        again = applied(sources, recipe)
        if again is None:
            group = next(iter(recipe.columns), recipe.sources[0])
            found.append(Overlap("changed", entries, group))
        else:
            others.append(Earlier(entries, again))
    if others:
        current = applied(sources, new)
        if current is None:
            raise source_changed(LINKED)
        every = [current, *(each.applied for each in others)]
        with linked_rows(sources, every) as (session, rows):
            found += Comparison(session, rows).overlaps(current, others)
    return tuple(found)


def _distinct(new: Recipe, entries: Sequence[Entry]) -> Iterator[tuple[tuple[int, ...], Recipe]]:
    """The recipes of the entries, each once with their numbers, but not that of the new release."""
    by_text: dict[bytes, list[int]] = {}
    recipes: dict[bytes, Mapping[str, Any]] = {}
    for entry in entries:
        if entry.recipe is not None:
            text = canonical(entry.recipe)
            recipes[text] = entry.recipe
            by_text.setdefault(text, []).append(entry.number)
    same = canonical(new.to_json())
    for text, numbers in by_text.items():
        if text != same:
            yield tuple(numbers), Recipe.from_json(recipes[text])


def compared(recipes: Sequence[Recipe]) -> list[tuple[str, Unit]]:
    """The views in which releases are compared, each with a unit by which rows are matched."""
    shared = common(recipes)
    found: dict[tuple[str, Unit], None] = {}
    for view in sorted(set().union(*(recipe.sources for recipe in recipes))):
        if view in shared:
            found[view, (view,)] = None
        found[view, shared] = None
    if all(recipe.scope == "joint" for recipe in recipes):
        found[JOINT, shared] = None
    return list(found)


def common(recipes: Sequence[Recipe]) -> Unit:
    """The sources that all releases use."""
    return tuple(sorted(set.intersection(*(set(recipe.sources) for recipe in recipes))))


class Comparison:
    """Compares releases on linked rows."""

    def __init__(self, session: Session, rows: LinkedRows) -> None:
        self._session = session
        self._rows = rows
        self._views = (*rows.records, JOINT)
        self._cells = Cells(session, rows, self._views)

    def overlaps(self, new: Applied, earlier: Sequence[Earlier]) -> list[Overlap]:
        """The overlaps of a new release with earlier ones.

        All of them together are looked at only where no two overlap.
        """
        found: list[Overlap] = []
        recipes = [new.recipe, *(each.applied.recipe for each in earlier)]
        units = compared(recipes) if len(earlier) > 1 else []
        with ExitStack() as kept:
            latest = kept.enter_context(self._release("new_release", new))
            if self._changed(latest):
                raise source_changed(LINKED)
            histories = [
                kept.enter_context(self._cells.history(number, view, unit))
                for number, (view, unit) in enumerate(units)
            ]
            for each in earlier:
                with self._release("earlier_release", each.applied) as release:
                    found += self._with_one(latest, release, each.entries)
                    if not found:
                        histories = [self._cells.extended(h, release) for h in histories]
            if not found:
                entries = tuple(sorted(number for each in earlier for number in each.entries))
                k = max(recipe.k for recipe in recipes)
                found += self._together(latest, histories, entries, k)
        return found

    def _with_one(
        self, new: ReleaseRows, earlier: ReleaseRows, entries: tuple[int, ...]
    ) -> Iterator[Overlap]:
        """The overlaps with one release, by view and kind; the first unit that finds one counts."""
        if changed := self._changed(earlier):
            yield from (Overlap("changed", entries, group) for group in changed)
            return
        k = max(new.k, earlier.k)
        seen: set[tuple[str, bool]] = set()
        for view, small in self._small(new, earlier):
            if (view, small.in_both) not in seen:
                seen.add((view, small.in_both))
                kind = "intersection" if small.in_both else "difference"
                yield Overlap.of(kind, entries, view, small, k)

    def _small(self, new: ReleaseRows, earlier: ReleaseRows) -> Iterator[tuple[str, SmallCells]]:
        """The small cells of two releases: of rows, and of persons where their rows are tied."""
        recipes = [new.recipe, earlier.recipe]
        for view, unit in compared(recipes):
            for small in self._cells.small_in_pair(new, earlier, view, unit):
                yield view, small
        if any(recipe.tied for recipe in recipes):
            for view in dict.fromkeys(view for view, _ in compared(recipes)):
                for small in self._cells.small_by_person(new, earlier, view, common(recipes)):
                    yield view, small

    def _together(
        self, new: ReleaseRows, histories: Sequence[History], entries: tuple[int, ...], k: int
    ) -> Iterator[Overlap]:
        """The overlaps with all releases at once, by view."""
        seen: set[str] = set()
        for history in histories:
            small = self._cells.small_in_history(history, new)
            if small is None:
                small = self._cells.small_by_person_in_history(history, new)
            if small is not None and history.view not in seen:
                seen.add(history.view)
                yield Overlap.of("together", entries, history.view, small, k)

    def _release(self, name: str, release: Applied) -> AbstractContextManager[ReleaseRows]:
        return release_rows(self._session, name, release, self._rows, self._views)

    def _changed(self, release: ReleaseRows) -> list[str]:
        return changed_groups(self._session, release, self._rows, self._views)

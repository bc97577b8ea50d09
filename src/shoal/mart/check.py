"""Check a catalog against its sources: all that would stop a request, found before anybody asks.

Every source is opened; columns, keys, derived columns and hierarchies are looked at over whole
sources. What is wrong is collected, so that one check shows all of it. No value of the data is
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from shoal.definition.scalars import nearest
from shoal.engines.failures import not_releasable
from shoal.engines.opening import one_session
from shoal.errors import BadData, ShoalError
from shoal.events import Event, Phase
from shoal.mart.check_view import CatalogCheck, CheckedColumn, CheckedSource, Problem
from shoal.mart.derived_mistakes import inputs_of
from shoal.mart.expressions import parse
from shoal.mart.linking.keys import check_key, check_link
from shoal.mart.opened import ignore
from shoal.mart.selection import attribute
from shoal.mart.sources import OpenSources

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog, ColumnRef


def check_catalog(
    catalog: Catalog, *, spark: Any = None, observe: Callable[[Event], None] = ignore
) -> CatalogCheck:
    """Check a catalog against its sources; `verified` says whether nothing is wrong.

    `spark` is the session for sources in Spark, else one is made. `observe` gets the progress.
    """
    options = [each.source.options() for each in catalog.sources.values()]
    with ExitStack() as kept:
        with suppress(ShoalError):  # which is a problem of each source that needs the session
            kept.enter_context(one_session(options, spark=spark))
        sources = kept.enter_context(OpenSources(catalog, spark=spark, observe=observe))
        return _Checking(catalog, sources, observe).check()


class _Checking:
    """One check: problems are collected as it goes, and what depends on them is left out.

    `broken` are the sources that cannot be used further.
    """

    def __init__(
        self, catalog: Catalog, sources: OpenSources, observe: Callable[[Event], None]
    ) -> None:
        self.catalog = catalog
        self.sources = sources
        self.observe = observe
        self.problems: list[Problem] = []
        self.broken: set[str] = set()
        self.are_linked = True

    def check(self) -> CatalogCheck:
        """Columns first, then links, then values."""
        for name in self.catalog.sources:
            self.observe(Phase("read", name))
            with self._collecting(f"sources.{name}.source", name):
                self._check_columns(name)
        self._check_links()
        columns = tuple(self._checked_columns())
        counted = tuple(
            CheckedSource(name, self._records(name), self._persons(name))
            for name in self.catalog.sources
            if name not in self.broken
        )
        return CatalogCheck(self.catalog.name, counted, columns, tuple(self.problems))

    @contextmanager
    def _collecting(self, key: str, *sources: str) -> Iterator[None]:
        """Make an error a problem of this key, and these sources broken."""
        try:
            yield
        except ShoalError as error:
            self.problems.append(_problem(key, error))
            self.broken.update(sources)

    def _check_columns(self, name: str) -> None:
        """The source can be opened, and has the columns that the catalog reads."""
        columns = {column.name: column for column in self.sources.open(name).columns()}
        for key, column in _read_columns(self.catalog, name):
            if column not in columns:
                with self._collecting(key, name):
                    raise BadData(
                        f"there is no column {column!r} in the source {name!r}",
                        code="unknown-column",
                        hint=nearest(column, columns),
                    )
        for column, shared in self.catalog.sources[name].columns.items():
            if column in columns:
                with self._collecting(f"sources.{name}.columns.{column}", name):
                    if shared.derive is not None:
                        raise BadData(
                            f"the source {name!r} has a column {column!r} already",
                            code="column-exists",
                            hint="give the derived column another name",
                        )
                    if fault := columns[column].fault:
                        raise not_releasable(column, name, fault)

    def _check_links(self) -> None:
        """The keys of persons and links are there, and unique where they must be."""
        before = len(self.problems)
        person = self.catalog.person
        if person.source not in self.broken:
            with self._collecting("person"):
                check_key(self.sources, person.source, person.columns)
        for number, link in enumerate(self.catalog.links):
            if not self.broken & set(link.sources):
                with self._collecting(f"links.{number}"):
                    check_link(self.sources, link)
        self.are_linked = not self.broken and len(self.problems) == before

    def _checked_columns(self) -> Iterator[CheckedColumn]:
        """Derived columns can be computed, and hierarchies fit the values of whole sources."""
        for ref in self.catalog.columns:
            read = {ref.source, *(each.source for each in _inputs(self.catalog, ref))}
            if read & self.broken or (len(read) > 1 and not self.are_linked):
                continue
            found = None
            with self._collecting(f"sources.{ref.source}.columns.{ref.column}"):
                found = self._checked_column(ref)
            if found is not None:
                yield found

    def _checked_column(self, ref: ColumnRef) -> CheckedColumn | None:
        """The hierarchy of a quasi-identifier; None for another column, once it is computed."""
        column = self.catalog.column(ref)
        if column.role != "quasi-identifier":
            if column.derive is not None:
                self.sources.values(ref)
            return None
        self.observe(Phase("read", str(ref)))
        height = attribute(self.sources, ref).hierarchy.height
        values = len(self.sources.values(ref).keys() - {None})
        name = self.catalog.short_name(ref)
        return CheckedColumn(name, ref.source, values, height, column.hierarchy is None)

    def _records(self, name: str) -> int:
        return int(self.sources.open(name).count_by([]).column(0)[0].as_py())

    def _persons(self, name: str) -> int | None:
        """The persons of a source; None where links do not work."""
        if not self.are_linked:
            return None
        self.observe(Phase("read", f"persons of {name}"))
        return self.sources.persons(name)


def _read_columns(catalog: Catalog, name: str) -> Iterator[tuple[str, str]]:
    """The columns of a source that the catalog reads, each with the key that names it."""
    if catalog.person.source == name:
        yield from (("person.columns", column) for column in catalog.person.columns)
    for number, link in enumerate(catalog.links):
        if name in link.sources:
            yield from ((f"links.{number}.between", each) for each in link.end(name).columns)
    for ref in catalog.columns:
        key = f"sources.{ref.source}.columns.{ref.column}"
        if catalog.column(ref).derive is None:
            if ref.source == name:
                yield key, ref.column
        else:
            for each in _inputs(catalog, ref):
                shared = catalog.sources[each.source].columns.get(each.column)
                if each.source == name and (shared is None or shared.derive is None):
                    yield f"{key}.derive", each.column


def _inputs(catalog: Catalog, ref: ColumnRef) -> frozenset[ColumnRef]:
    """The columns that a column is computed from, directly; none for a column of the source."""
    text = catalog.column(ref).derive
    return frozenset() if text is None else inputs_of(ref, parse(text, str(ref)))


def _problem(key: str, error: ShoalError) -> Problem:
    """The error without values of the data, which it names for a hierarchy that lacks them."""
    if error.code != "uncovered-value":
        what = error.what.removeprefix("attributes.")
        return Problem(key, what, error.hint, error.code)
    what = "the hierarchy does not cover all values of the source"
    remedy = "add them to the hierarchy, or say which texts mean missing: `missing: {values: [NA]}`"
    return Problem(key, what, remedy, error.code)

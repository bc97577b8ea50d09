"""Mistakes of persons and links: together they must be a tree that leads from each source to them.

A tree has one path between two sources, so that a request has one meaning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.scalars import nearest
from shoal.errors import Mistake, quoted
from shoal.mart.catalog import ColumnRef

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog, Link


def mistakes_of_person(catalog: Catalog) -> Iterator[Mistake]:
    """The person's source is one of the sources, and its key is never released as it is."""
    person = catalog.person
    if person.source not in catalog.sources:
        what = f"there is no source {person.source!r}"
        yield Mistake("person.source", what, nearest(person.source, catalog.sources))
    if len(set(person.columns)) < len(person.columns):
        yield Mistake("person.columns", "names a column twice", "name each column once")
    yield from _released_keys(catalog, person.source, person.columns)


def mistakes_of_links(catalog: Catalog) -> Iterator[Mistake]:
    """Every link by itself; if all are right, what they are together."""
    found = [
        mistake
        for number, link in enumerate(catalog.links)
        for mistake in _of_link(catalog, f"links.{number}", link)
    ]
    found += _repeated(catalog)
    yield from found
    if found or catalog.person.source not in catalog.sources:
        return
    cycles = list(_cycles(catalog))
    yield from cycles
    if not cycles:
        yield from _of_tree(catalog)


def identifying_columns(catalog: Catalog) -> frozenset[ColumnRef]:
    """The columns of keys that belong to one person: that of the persons, and those of links."""
    keys = [(catalog.person.source, catalog.person.columns)]
    for step in _steps(catalog):
        if step.identifies:
            keys += [(end.source, end.columns) for end in step.link.ends]
    return frozenset(ColumnRef(source, name) for source, columns in keys for name in columns)


def _of_link(catalog: Catalog, key: str, link: Link) -> Iterator[Mistake]:
    for end in link.ends:
        if end.source not in catalog.sources:
            what = f"there is no source {end.source!r}"
            yield Mistake(f"{key}.between", what, nearest(end.source, catalog.sources))
        if len(set(end.columns)) < len(end.columns):
            what = f"the key of {end.source!r} names a column twice"
            yield Mistake(f"{key}.between", what, "name each column once")
            return
    one, other = link.ends
    if one.source == other.source:
        what = f"links {one.source!r} with itself"
        yield Mistake(f"{key}.between", what, "link two different sources")
    if len(one.columns) != len(other.columns):
        what = f"{len(one.columns)} and {len(other.columns)} columns cannot be equal"
        yield Mistake(f"{key}.between", what, "name the same number of columns at both ends")
    if link.optional is not None and link.optional not in link.sources:
        what = f"{link.optional!r} is not an end of this link"
        yield Mistake(f"{key}.optional", what, f"write one of {quoted(link.sources)}")


def _repeated(catalog: Catalog) -> Iterator[Mistake]:
    seen: dict[frozenset[str], int] = {}
    for number, link in enumerate(catalog.links):
        first = seen.setdefault(frozenset(link.sources), number)
        if first != number and link.sources[0] != link.sources[1]:
            yield Mistake(
                f"links.{number}",
                f"{quoted(link.sources)} are linked by links.{first} already",
                "keep one of the two links; a key of several columns is one link",
                code="ambiguous-links",
            )


def _cycles(catalog: Catalog) -> Iterator[Mistake]:
    """Links whose two ends are connected by the links before them."""
    group = {name: {name} for name in catalog.sources}
    for number, link in enumerate(catalog.links):
        one, other = link.sources
        if group[one] is group[other]:
            yield Mistake(
                f"links.{number}",
                f"{quoted(link.sources)} are linked already, over other sources",
                "remove one link of the cycle, so that one path is left between two sources",
                code="cyclic-links",
            )
            continue
        joined = group[one] | group[other]
        group |= dict.fromkeys(joined, joined)


@dataclass(frozen=True)
class _Step:
    """A link seen from the person: from the nearer source to the farther one.

    `identifies`: a key of the link belongs to one person.
    """

    number: int
    link: Link
    near: str
    far: str
    identifies: bool


def _steps(catalog: Catalog) -> Iterator[_Step]:
    """The links from the person outwards."""
    of_one_person = {catalog.person.source: True}
    waiting = deque(of_one_person)
    while waiting:
        near = waiting.popleft()
        for number, link in enumerate(catalog.links):
            if near not in link.sources or (far := link.other(near).source) in of_one_person:
                continue
            identifies = of_one_person[near] and link.is_unique(near)
            of_one_person[far] = identifies
            waiting.append(far)
            yield _Step(number, link, near, far, identifies)


def _of_tree(catalog: Catalog) -> Iterator[Mistake]:
    """Every source leads to a person, and no key that belongs to a person is released."""
    steps = list(_steps(catalog))
    reached = {catalog.person.source, *(step.far for step in steps)}
    for name in catalog.sources:
        if name not in reached:
            what = f"is not linked with {catalog.person.source!r}, which says who is who"
            remedy = "add a link to it, or to a source between them"
            yield Mistake(f"sources.{name}", what, remedy)
    optional = {step.far for step in steps if step.link.optional == step.far}
    for step in steps:
        key = f"links.{step.number}.optional"
        if step.link.optional == step.near:
            what = f"records of {step.far!r} without {step.near!r} would belong to nobody"
            remedy = f"write `optional: {step.far}`, or leave it out"
            yield Mistake(key, what, remedy)
        elif step.near in optional:
            what = f"{step.near!r} is optional, and stands between {step.far!r} and the persons"
            yield Mistake(f"links.{step.number}", what, f"link {step.far!r} with another source")
    for step in steps:
        if step.identifies:
            for end in step.link.ends:
                if (end.source, end.columns) != (catalog.person.source, catalog.person.columns):
                    yield from _released_keys(catalog, end.source, end.columns)


def _released_keys(catalog: Catalog, source: str, columns: tuple[str, ...]) -> Iterator[Mistake]:
    """Columns of a key of persons that are shared.

    One of several columns, such as the day of birth beside a name, may be a quasi-identifier.
    """
    shared = catalog.sources[source].columns if source in catalog.sources else {}
    for name in columns:
        if name in shared and (len(columns) == 1 or shared[name].role != "quasi-identifier"):
            what = "identifies persons, but is shared"
            remedy = "leave the column out; `keys: random` in a request gives ids of one release"
            if len(columns) > 1:
                remedy = "leave the column out, or make it a quasi-identifier"
            yield Mistake(f"sources.{source}.columns.{name}", what, remedy)

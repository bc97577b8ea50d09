"""Whether keys are what the links say: unique at a "one" end, and never missing.

They are counted where the data is, over the whole source: whether a request is refused for a
broken link does not depend on what it selects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import BadData, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.mart.catalog import Link
    from shoal.mart.linking.plan import Plan
    from shoal.mart.opened import OpenedSources


def check_keys(sources: OpenedSources, plan: Plan) -> None:
    """Check the keys of all links of a plan, and that of the person; each of them once."""
    person = sources.catalog.person
    check_key(sources, person.source, person.columns)
    for join in plan.joins:
        check_link(sources, join.link)


def check_link(sources: OpenedSources, link: Link) -> None:
    """Check both keys of a link.

    A row opposite an optional end may lack its key: then it has no partner.
    """
    for end, other in (link.ends, link.ends[::-1]):
        check_key(
            sources,
            end.source,
            end.columns,
            unique=link.is_unique(end.source),
            may_be_missing=link.optional == other.source,
        )


def check_key(
    sources: OpenedSources,
    name: str,
    columns: tuple[str, ...],
    *,
    unique: bool = False,
    may_be_missing: bool = False,
) -> None:
    """Check a key of a source: BadData `missing-key` or `duplicate-key` with numbers of records."""
    checked = (name, columns, unique, may_be_missing)
    if checked in sources.checked_keys or (may_be_missing and not unique):
        return
    with sources.open(name).parsed_once(columns) as source:
        complete = _number(source.count_by([], sources.missing, complete=columns))
        if not may_be_missing:
            records = _number(source.count_by([]))
            if complete < records:
                raise _missing_key(name, columns, records - complete)
        if unique:
            distinct = source.count_distinct(columns, sources.missing, complete=columns)
            distinct = distinct if complete else 0
            if distinct < complete:
                raise _duplicate_key(name, columns, complete - distinct)
    sources.checked_keys.add(checked)


def _number(counted: pa.Table) -> int:
    """The number of records of a count without columns."""
    return int(counted.column(0)[0].as_py())


def _missing_key(name: str, columns: tuple[str, ...], records: int) -> BadData:
    what = "1 record" if records == 1 else f"{records:,} records"
    return BadData(
        f"the key {quoted(columns)} of {name!r} is missing in {what}",
        code="missing-key",
        hint="complete the key, or leave out such records by a `query` or a view; a row may lack"
        " its key only where the other end of its link is `optional`",
    )


def _duplicate_key(name: str, columns: tuple[str, ...], records: int) -> BadData:
    what = "1 record repeats" if records == 1 else f"{records:,} records repeat"
    return BadData(
        f"the key {quoted(columns)} of {name!r} must be unique, but {what} that of another",
        code="duplicate-key",
        hint="correct the records, or the `kind` of the link: the side with several records of one"
        " key is the `many` one",
    )

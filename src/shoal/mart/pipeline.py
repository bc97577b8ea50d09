"""A request to a data mart on one page. Read this first.

`request` takes a request from its file to a published release. Its steps are those of section 4.5
of the paper (Stark, Eder and Zatloukal): preprocess (columns, policy, selection), initialise
(link, limits), anonymise each source (count, search, remove), and release (compare, write, verify,
log, publish). Nothing is published that the verifier did not count afresh in every source, and
nothing that the log does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.calling.public import public
from shoal.engines.local_files import check_writable
from shoal.engines.opening import (
    check_apart,
    check_columns,
    check_records,
    check_target,
    one_session,
    open_source,
)
from shoal.errors import Refused, UserError, after_publishing
from shoal.events import Event, Phase, Working
from shoal.mart.anonymise import anonymise, count
from shoal.mart.comparing import compare
from shoal.mart.kept import refuse_uniform
from shoal.mart.linking import linked
from shoal.mart.log import Log
from shoal.mart.overwriting import check_kept
from shoal.mart.policy import check_request, check_share, demanded_k
from shoal.mart.read import catalog_from_mapping, read_catalog, read_request, request_from_mapping
from shoal.mart.recording import as_asked, recorded, recorded_mistakes
from shoal.mart.releasing import Making, recipe_of, refuse_tied_rows, stage, verify_staged
from shoal.mart.result import build_result, entry_of, write_report
from shoal.mart.selection import resolve
from shoal.mart.sources import OpenSources
from shoal.mart.subrequests import Resolved, subrequests
from shoal.report.result import Stopwatch

if TYPE_CHECKING:
    from shoal.calling.argument_types import Location, SparkSession
    from shoal.engines.base import Source
    from shoal.engines.options import Target
    from shoal.mart.catalog import Catalog, CatalogLike, ColumnRef
    from shoal.mart.linking import LinkedTable
    from shoal.mart.request import Request, RequestLike
    from shoal.mart.result import MartResult

Observer: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Observe nothing."""


@public("mart.request")
def request(
    catalog: CatalogLike,
    request: RequestLike,
    *,
    output: Location | None = None,
    asker: str | None = None,
    k: int | None = None,
    report: str | Path | None = None,
    observe: Observer | None = None,
    spark: SparkSession | None = None,
    further: Mapping[str, Path] | None = None,
) -> MartResult:
    """Answer a request to a data mart with a verified release, and return what was done.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        request: The request, in the same forms.
        output: Where to write the release, in place of what the request says.
        asker: Who asks, in place of whom the request names.
        k: The least number of persons in a class, in place of the request's.
        report: Where to write a report (.html, .md, .txt or .json), in place of the request's.
        observe: Called with every event. Without it a notebook shows the progress.
        spark: The session for what is read or written in Spark, else one is made.
        further: Files that the caller will write, by what messages call them; they must overwrite
            nothing that is read.

    Returns:
        What was released: rows, persons, levels, and the digest of its entry in the log.

    Every request leaves an entry in the log of the catalog, also when it ends with an error. After
    an error, the old output or none is there.

    Example:
        >>> result = shoal.mart.request("catalog.yaml", "request.yaml", output="mart.csv")
        >>> result.verified, result.rows_released > 0
        (True, True)
    """
    observe = observe or ignore
    watch = Stopwatch()
    with recorded_mistakes(catalog):
        mart = load_catalog(catalog)
    log = Log(mart.log)
    with recorded(log) as record, ExitStack() as cleanup:
        asked = _overridden(load_request(request), output, asker=asker, k=k, report=report)
        record.asker, record.request = asked.asker, as_asked(asked)
        target = _target(asked)
        written = {**(further or {}), **_files(report=asked.report)}
        check_kept(mart, _files(catalog=catalog, request=request), asked.output, written)
        for path in written.values():
            check_writable(path)

        # 1. Preprocessing: the columns, the policy, and the values that are selected.
        names = mart.short_names(mart.expand(asked.project))
        columns = {name: ref for ref, name in names.items()}
        check_request(mart, asked, asked.asker, tuple(columns.values()))
        cleanup.enter_context(_sessions(mart, target, spark))
        observe(Phase("read", mart.name))
        sources = cleanup.enter_context(OpenSources(mart, spark=spark, observe=observe))
        resolved = _resolved(mart, asked, columns, sources)
        watch.lap("read")

        # 2. Initialisation: the linked rows, and the limits of each source.
        observe(Phase("link"))
        table = cleanup.enter_context(linked(sources, columns, _accepted(resolved, sources)))
        record.sources = sources.fingerprints()
        _refuse_few(resolved, table, sources)
        source = cleanup.enter_context(_opened(resolved, table, target, observe))
        parts = subrequests(resolved, table)
        watch.lap("link")

        # 3. Anonymisation: the classes of each source, its levels, and the rows that stay.
        refuse_uniform(resolved, source, table.person)
        counted = count(parts, source, _domain(resolved, sources))
        limit = _suppression_limit(asked, table.rows)
        check_records(target, table.rows - limit)
        found = anonymise(counted, source, table.person, limit, observe)
        watch.lap("search")

        # 4. Release: compare with earlier ones, write, verify, log, publish.
        making = Making(resolved, table, source, found, target)
        refuse_tied_rows(making)
        recipe, entries = recipe_of(making), log.entries()
        observe(Phase("compare"))
        overlaps = compare(mart, sources, recipe, asked.asker, entries)
        watch.lap("compare")
        observe(Phase("release"))
        staged = cleanup.enter_context(stage(making, spark))
        watch.lap("release")
        observe(Phase("verify"))
        checked = verify_staged(making, staged)
        watch.lap("verify")
        result = build_result(making, checked, watch)
        with log.locked() as held:
            if len(held.entries) > len(entries):
                overlaps = compare(mart, sources, recipe, asked.asker, held.entries)
            observe(Phase("publish"))
            digest = held.append(record.entry("released", **entry_of(result, recipe)))
            record.is_released = True
            output = staged.publish()
        result = replace(result, overlaps=overlaps, digest=digest, output=output)
        if asked.report is not None:
            with after_publishing(output):
                write_report(result, asked.report)
    return result


def load_catalog(catalog: CatalogLike) -> Catalog:
    """A catalog from a path, a mapping or a model."""
    if isinstance(catalog, str | Path):
        return read_catalog(catalog)
    return catalog_from_mapping(catalog) if isinstance(catalog, Mapping) else catalog


def load_request(request: RequestLike) -> Request:
    """A request from a path, a mapping or a model."""
    if isinstance(request, str | Path):
        return read_request(request)
    return request_from_mapping(request) if isinstance(request, Mapping) else request


def _files(**given: object) -> dict[str, Path]:
    """Those that were given as files, by what they are."""
    return {name: Path(each) for name, each in given.items() if isinstance(each, str | Path)}


def _overridden(request: Request, output: Location | None, **others: Any) -> Request:
    """The request with what the caller says in place of it."""
    changed = {name: value for name, value in others.items() if value is not None}
    if output is not None:
        given = {"path": str(output)} if isinstance(output, str | Path) else dict(output)
        alone = request_from_mapping({"project": request.project, "output": given})
        changed["output"] = alone.output
    if "report" in changed:
        changed["report"] = Path(changed["report"])
    return request.model_copy(update=changed)


def _target(request: Request) -> Target:
    """Where the release goes."""
    if request.output is None:
        raise UserError(
            "the request does not say where to write the release",
            code="no-output",
            hint="give the command `-o release.csv`, or the request a key `output`",
        )
    return request.output.target()


@contextmanager
def _sessions(mart: Catalog, target: Target, spark: Any) -> Iterator[None]:
    """One session of Spark where one is needed; the target can be written and is no source."""
    options = [each.source.options() for each in mart.sources.values()]
    with one_session(options, target, spark=spark):
        check_target(target, spark=spark)
        for each in options:
            check_apart(each, target, spark=spark)
        yield


def _resolved(
    mart: Catalog, asked: Request, columns: Mapping[str, ColumnRef], sources: OpenSources
) -> Resolved:
    """The request with the values and limits that its conditions mean."""
    for name in (*asked.limits, *asked.priorities):
        mart.find(name)
    k = demanded_k(mart, asked)
    selection = resolve(mart, asked.select, sources.values, shown=k)
    return Resolved(mart, asked, k, columns, selection)


def _accepted(resolved: Resolved, sources: OpenSources) -> dict[ColumnRef, frozenset[str | None]]:
    """The accepted values of each selected column.

    Under basic match a row without a projected quasi-identifier matches nobody, so it is not
    selected.
    """
    only = dict(resolved.selection.only)
    if resolved.catalog.missing.match == "basic":
        for name in resolved.quasi_identifiers:
            ref = resolved.columns[name]
            only[ref] = only.get(ref, frozenset(sources.values(ref))) - {None}
    return only


def _refuse_few(resolved: Resolved, table: LinkedTable, sources: OpenSources) -> None:
    """Refuse a selection of fewer than k persons, or of too many of a source.

    Nobody and somebody get the same answer: else a request could ask whether a person exists.
    """
    if table.persons < resolved.k:
        raise Refused(
            f"the request selects fewer than {resolved.k} persons, perhaps none; nothing was "
            "released",
            code="few-persons",
            hint="leave out a condition, or select more values",
        )
    if resolved.catalog.policy.share is not None:
        for name in table.sources:
            check_share(resolved.catalog, name, table.persons, sources.persons(name))


@contextmanager
def _opened(
    resolved: Resolved, table: LinkedTable, target: Target, observe: Observer
) -> Iterator[Source]:
    """The linked table, open; refuses columns that could not be written in the end."""
    resources = resolved.catalog.engine.resources(lambda share: observe(Working(share)))
    names = set(resolved.columns)
    with closing(open_source(table.options, names, resources=resources)) as source:
        check_columns(source, target, names)
        yield source


def _domain(resolved: Resolved, sources: OpenSources) -> dict[str, dict[str, int]]:
    """The values of each projected quasi-identifier in its whole source."""
    return {
        name: {
            value: number
            for value, number in sources.values(resolved.columns[name]).items()
            if value is not None
        }
        for name in resolved.quasi_identifiers
    }


def _suppression_limit(request: Request, rows: int) -> int:
    """How many rows may be left out: a number, or a share rounded down."""
    if isinstance(request.suppression, int):
        return min(request.suppression, rows)
    return int(round(request.suppression * rows, 9))

"""The third step of the method: levels for each source, and the rows that can be released.

Every source is searched by itself on the linked table. Rows of classes that one source suppresses
leave the whole release, and that can make classes of other sources too small. So rows are removed
and all sources judged again at the same levels, until nothing changes (`shoal.mart.rows.stay`).
Then the table of the rows that stay satisfies every source's definition at its levels, with nothing
more to suppress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from shoal.engines.failures import source_changed
from shoal.errors import BadData, Infeasible
from shoal.events import Phase, Proved
from shoal.mart.local_classes import LocalClasses
from shoal.mart.rows import AtLevels, Rows, stay
from shoal.pipeline import prepare, search_detail
from shoal.recoding.local.solution import LocalBest
from shoal.search.problem import partition
from shoal.search.run import no_solution, search
from shoal.search.strategies.priority_path import path_to
from shoal.steps.local_release import check_local, search_local

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.events import Event, Progress
    from shoal.mart.subrequests import Subrequest
    from shoal.steps.releasing import Prepared
    from shoal.values import Best, Bools, Node, StatedLevels


@dataclass(frozen=True, eq=False)
class Counted:
    """A subrequest with the classes of the linked table, before any search."""

    subrequest: Subrequest
    prepared: Prepared


@dataclass(frozen=True)
class Step:
    """A column that was raised to a level, and what that left: classes, and those of one person."""

    column: str
    level: int
    classes: int
    singles: int


@dataclass(frozen=True, eq=False)
class Found:
    """The levels of a subrequest, the last event of its search, and the rows it might suppress.

    In local recoding there are classes in place of levels.
    """

    counted: Counted
    best: Best
    last: Progress
    budget: int

    @property
    def name(self) -> str:
        """The source, or JOINT."""
        return self.counted.subrequest.name

    @property
    def is_proved(self) -> bool:
        """Whether no levels lose less, for this budget."""
        return isinstance(self.last, Proved)

    def levels(self, released: Rows) -> dict[str, StatedLevels]:
        """The level of each column; in local recoding the released rows at each of its levels."""
        local = self.at_levels.local
        if local is not None:
            return {**local.records_at(released.codes(self.at_levels), released.weights)}
        return dict(zip(self.counted.subrequest.columns, self.best.node, strict=True))

    @cached_property
    def at_levels(self) -> AtLevels:
        """What is judged again when rows were removed."""
        prepared = self.counted.prepared
        return AtLevels(
            prepared.definition,
            prepared.table.attributes,
            prepared.problem.models,
            self.best.node,
            LocalClasses(prepared.table, self.best.recoding)
            if isinstance(self.best, LocalBest)
            else None,
        )

    def step(self, node: Node, raised: int | None = None) -> Step:
        """The classes at a node on the way, where a column was raised."""
        counts = partition(self.counted.prepared.table, (), node).counts
        column = "" if raised is None else self.counted.subrequest.columns[raised]
        level = 0 if raised is None else node[raised]
        return Step(column, level, len(counts.sizes), int((counts.members[None] == 1).sum()))

    def steps(self) -> tuple[Step, ...]:
        """The steps of the paper's path; none where another strategy searched."""
        settings = self.counted.subrequest.definition.search
        if self.at_levels.local is not None:
            return ()
        if settings.strategy != "priority-path" or settings.backtrack:
            return ()
        problem = self.counted.prepared.problem
        return tuple(self.step(node, j) for j, node in path_to(problem, self.best.node))


@dataclass(frozen=True, eq=False)
class Anonymised:
    """The levels of every subrequest, the rows of the linked table, and which of them stay."""

    found: tuple[Found, ...]
    rows: Rows
    stays: Bools

    @cached_property
    def released(self) -> Rows:
        """The rows that are released."""
        return self.rows.only(self.stays)

    @property
    def removed(self) -> int:
        """How many rows of the linked table leave."""
        return self.rows.number - self.released.number


def count(
    asked: Sequence[Subrequest], source: Source, domain: Mapping[str, Mapping[str, int]]
) -> tuple[Counted, ...]:
    """Count the classes of each subrequest; hierarchies are those of the whole sources."""
    found = []
    for each in asked:
        own = {name: domain[name] for name in each.columns}
        prepared = prepare(each.definition, source, file="request", domain=own, local=True)
        for name, values in own.items():
            if len(prepared.values[name]) > len(values):
                raise source_changed(f"the source of {name!r}")
        if each.definition.recoding == "local":
            _check_local(prepared)
        found.append(Counted(each, prepared))
    return tuple(found)


def anonymise(
    counted: Sequence[Counted],
    source: Source,
    person: str,
    limit: int,
    observe: Callable[[Event], None],
) -> Anonymised:
    """Levels for every subrequest and the rows that stay; Infeasible if there are none.

    At most `limit` rows leave. First each search may suppress that many, then its part of them,
    then none. The first attempt that ends within the limit counts.
    """
    for number, budget in enumerate(_budgets(limit, len(counted))):
        try:
            found = tuple(_search(each, budget, observe) for each in counted)
        except Infeasible:
            if number == 0:
                raise
            break
        rows = Rows.count(source, [each.at_levels for each in found], person)
        anonymised = Anonymised(found, rows, stay(rows))
        if anonymised.removed <= limit and anonymised.stays.any():
            return anonymised
    raise Infeasible(
        "rows that one source suppresses make classes of other sources too small, so that more "
        "rows would leave than may be suppressed; nothing was released",
        code="removal-spreads",
        hint="allow more suppression or higher limits, or project fewer columns",
    )


def _budgets(limit: int, sources: int) -> Iterable[int]:
    """What each search may suppress, attempt by attempt."""
    return dict.fromkeys((limit, limit // sources, 0)) if sources > 1 else (limit,)


def _search(counted: Counted, budget: int, observe: Callable[[Event], None]) -> Found:
    """The best levels of a subrequest that suppress at most so many rows."""
    problem = replace(counted.prepared.problem, limit=budget)
    name, definition = counted.subrequest.name, counted.subrequest.definition
    observe(Phase("search", f"{name}: {search_detail(counted.prepared)}"))
    if definition.recoding == "local":
        last = search_local(problem, definition.search, observe, keep_best=False)
    else:
        last = search(problem, definition.search, observe)
    if last.best is None:
        raise _without_counts(name, no_solution(problem, last))
    return Found(counted, last.best, last, budget)


def _check_local(prepared: Prepared) -> None:
    """Refuse what cannot be recoded locally, and more tuples than may be read."""
    if prepared.table.raised is not None:
        raise BadData(
            "the linked table has more distinct tuples than may be read, and local recoding needs"
            " all of them",
            code="too-many-tuples",
            hint="allow more with `engine: {tuples: ...}`, select fewer records, or ask with"
            " `recoding: full-domain`",
        )
    check_local(prepared)


def _without_counts(name: str, failure: Infeasible) -> Infeasible:
    """Why a source has no levels, without numbers of records.

    An asker could count the persons of any selection by them.
    """
    if failure.code != "infeasible":
        return Infeasible(f"{name}: {failure.what}", code=failure.code, hint=failure.hint)
    limits = tuple(each for each in failure.reasons if each.startswith("limits keep"))
    raises = tuple(each for each in failure.remedies if each.startswith("raise the limit"))
    remedies = (*raises, "allow more suppression", "select more records", "project fewer columns")
    return Infeasible(
        f"{name}: no levels meet the demand; nothing was released"
        + "".join(f"\n  {each}" for each in limits),
        code="infeasible",
        hint=f"one of these may be enough: {'; '.join(remedies)}",
        reasons=limits,
        remedies=remedies,
    )

"""Local recoding from start to end: groups, bounds, events, never worse than full-domain."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.errors import UserError
from shoal.events import NO_PROOF, Improved, Progress, Proved, Stopped
from shoal.recoding.local.bound import DISTANCES, FEW_DISTANCES, LABEL_WORK, VISITS, Bound
from shoal.recoding.local.groups import Groups
from shoal.recoding.local.prepare import costs_of, prepare
from shoal.recoding.local.refusal import refusal
from shoal.recoding.local.solution import (
    FullDomain,
    LocalBest,
    PricedBound,
    Recoding,
    judge,
    recoding_of,
    unsafe_tuples,
)
from shoal.search.incumbent import LOSS_TOLERANCE, Limits
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.search.problem import Problem
    from shoal.values import Best

Effort = Literal["low", "normal", "high"]

ROUNDS: dict[Effort, int] = {"low": 0, "normal": 6, "high": 60}
"""Rounds of annealing; less where a limit ends them."""

MORE_EFFORT: dict[Effort, int] = {"low": 1, "normal": 1, "high": 20}
"""How many times the usual distances and visits the bounds may cost."""

STEPS = 20
"""Moves tried for each chosen tuple in a round."""

LARGE = 64
"""Groups of more records are sought from the top down, too: a ball has 128 tuples at most."""

MOST_REPLACEMENTS = 4
"""How often the tuples of refused classes are put into other groups."""

FIRST_LOOK = 0.1
"""Share of a time limit that the full-domain search has before groups are improved."""

PROVED = "proved"
"""Why a search stops that has nothing left to find."""

QUICK_TUPLES = 100_000
"""The most tuples for which a quick recoding is tried."""


def nothing_is_safe(problem: Problem) -> bool:
    """Whether it is certain that no local recoding is safe and releases a record.

    The classes of any recoding, suppressed ones too, are parts of the classes of the most general
    node. So at least as many records are suppressed as must go there however classes are split.
    """
    removed = problem.least_suppressed(problem.lattice.top)
    return removed > problem.limit or removed == problem.table.records


@dataclass(eq=False)
class _Run:
    """The best recoding so far, the bound, and their events."""

    problem: Problem
    limits: Limits
    best: LocalBest | None = None
    bound: float = 0.0
    full_domain: FullDomain | None = None
    prices: PricedBound | None = None
    judged: int = 0
    sweeps: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def offer(self, found: LocalBest | None) -> bool:
        """Whether a recoding is the new best."""
        self.judged += 1
        if found is None or (self.best is not None and found.rank >= self.best.rank):
            return False
        self.best = found
        return True

    def numbers(self) -> tuple[Best | None, float, int, int, float]:
        bound = self.bound if self.best is None else min(self.bound, self.best.loss)
        return (self.best, bound, self.judged, self.sweeps, self.seconds)

    @property
    def proved(self) -> bool:
        """Whether no recoding can lose less than the best."""
        return self.best is not None and self.bound >= self.best.loss - LOSS_TOLERANCE

    def stop_reason(self) -> str | None:
        """Why to stop now, None to go on."""
        if self.full_domain is not None and self.proved:
            return PROVED
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "time limit"
        if self.best is not None and Progress(*self.numbers()).gap <= self.limits.gap > 0:
            return "gap"
        return None

    def last(self, reason: str) -> Progress:
        """The last event; proved where the bound meets the best, or no recoding is safe."""
        if self.best is not None:
            self.best = replace(self.best, full_domain=self.full_domain, prices=self.prices)
        if self.proved:
            return Proved(*self.numbers())
        if self.best is None and nothing_is_safe(self.problem):
            return Proved(*self.numbers())
        return Stopped(*self.numbers(), reason=reason)


class _Limit(Exception):
    """A limit is reached; the reason is its text."""


@dataclass(frozen=True)
class LocalSearch:
    """Finds a local recoding of little loss, a bound, and so a gap.

    It yields events like a strategy of the search. `best` of an event is a `LocalBest`. Its last
    event has no best only where the full-domain search has found none either.

    The recoding is never worse than the full-domain optimum unless a limit ends the search before:
    the box search runs until its bound says so, or its nodes are refined. With a time limit it has
    the first tenth of the time, too: the recoding is never worse than the best node found in it.
    """

    effort: Effort = "normal"
    name: ClassVar[str] = "local"

    def search(self, problem: Problem, limits: Limits) -> Iterator[Progress]:
        """Yields progress, each improvement, and at last Proved or Stopped."""
        reason = refusal(problem)
        if reason is not None:
            raise UserError(
                reason,
                code="no-local-recoding",
                hint="use full-domain recoding, or another loss or model",
            )
        run = _Run(problem, limits)
        with ThreadPoolExecutor(limits.threads or os.cpu_count() or 1) as pool:
            try:
                yield from self._steps(run, pool)
                ended = run.stop_reason() or NO_PROOF
            except _Limit as limit:
                ended = str(limit)
        yield run.last(ended)

    def _steps(self, run: _Run, pool: ThreadPoolExecutor) -> Iterator[Progress]:
        groups = _groups(run, pool)
        groups.cut()
        yield from _offered(run, groups)
        if run.limits.seconds is not None:
            yield from self._first_look(run)
        yield from _first_groups(run, groups)
        if not groups.memory.only_sizes or groups.prepared.together.packed > LARGE:
            yield from self._from_the_top(run, groups)
        yield from self._full_domain(run, groups)
        if run.best is None:
            return
        bound = Bound(groups.prepared, run.best.loss, pool)
        more = MORE_EFFORT[self.effort]
        distances = DISTANCES * more if bound.work > LABEL_WORK * more else FEW_DISTANCES
        for _ in bound.by_records(distances):
            yield from _bounded(run, bound)
        for _ in range(ROUNDS[self.effort]):
            yield from _watched(run, groups.anneal(STEPS))
            yield from _offer(run, groups)
            run.sweeps += 1
        for _ in bound.by_prices(groups.paid, VISITS * more):
            yield from _bounded(run, bound)
        if bound.gave_up and self.effort != "low":
            for _ in bound.by_labels(run.best.recoding, LABEL_WORK * more):
                yield from _bounded(run, bound)

    def _from_the_top(self, run: _Run, groups: Groups) -> Iterator[Progress]:
        """Split one group of all tuples: where models are strict or groups large, balls are not
        large enough."""
        packed, total = groups.group_of, groups.total
        groups.set(np.ones(len(packed), np.int64))
        yield from _watched(run, groups.split())
        yield from _offer(run, groups)
        yield from _improve(run, groups)
        if groups.total > total:
            groups.set(packed)

    def _first_look(self, run: _Run) -> Iterator[Progress]:
        """The classes of the best node that is found in a part of the time."""
        if run.limits.seconds is None or run.seconds >= run.limits.seconds:
            return
        better = _better_node(run, run.limits.seconds * FIRST_LOOK)
        if better is not None and run.offer(judge(run.problem, _classes(run.problem, better.node))):
            yield Improved(*run.numbers())
        yield from _checked(run, quiet=True)

    def _full_domain(self, run: _Run, groups: Groups) -> Iterator[Progress]:
        """Search full-domain until no node can be better; refine a node that is.

        Where there is no recoding yet, its best node is the first one.
        """
        left = None if run.limits.seconds is None else run.limits.seconds - run.seconds
        better = _better_node(run, left)
        if better is not None:
            start = _classes(run.problem, better.node)
            if run.offer(judge(run.problem, start)):
                yield Improved(*run.numbers())
            yield from _checked(run, quiet=True)
            groups.set(start.class_of + 1)
            yield from _watched(run, groups.split())
            yield from _improve(run, groups)
        yield from _checked(run, quiet=True)


def quick_loss(problem: Problem, seconds: float) -> float | None:
    """About what a local recoding loses, found within about these seconds; None if none was.

    None too for problems that cannot be recoded locally, and for many tuples.
    """
    if problem.table.tuples > QUICK_TUPLES or refusal(problem) is not None:
        return None
    run = _Run(problem, Limits(seconds=seconds))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            groups = _groups(run, pool)
            groups.cut()
            for _ in _offer(run, groups):
                pass
            for _ in _first_groups(run, groups):
                pass
        except _Limit:
            pass
    return None if run.best is None else run.best.loss


def _first_groups(run: _Run, groups: Groups) -> Iterator[Progress]:
    yield from _watched(run, groups.pack())
    yield from _offer(run, groups)
    yield from _improve(run, groups)


def _improve(run: _Run, groups: Groups) -> Iterator[Progress]:
    yield from _watched(run, groups.extend_lists())
    yield from _watched(run, groups.repair())
    run.sweeps += 1
    yield from _offer(run, groups)


def _groups(run: _Run, pool: ThreadPoolExecutor) -> Groups:
    return Groups(prepare(run.problem), costs_of(run.problem, _shares(run), by_label=True), pool)


def _known(before: FullDomain | None, event: Progress) -> FullDomain:
    """What is known of full-domain recoding after an event, and from an earlier search."""
    losses = [] if event.best is None else [event.best.loss]
    if before is None:
        return FullDomain(event.bound, min(losses, default=None))
    if before.loss is not None:
        losses.append(before.loss)
    return FullDomain(max(before.bound, event.bound), min(losses, default=None))


def _better_node(run: _Run, seconds: float | None) -> Best | None:
    """The best node of a full-domain search, if it is better than the best recoding.

    The search ends as soon as its bound says that none is, and says what it knows in any case.
    """
    better: Best | None = None
    for event in BoxSearch().search(run.problem, Limits(seconds, 0.0, run.limits.threads)):
        run.full_domain = _known(run.full_domain, event)
        if event.best is not None and (run.best is None or event.best.loss < run.best.loss):
            better = event.best
        if run.best is not None and better is None and event.bound >= run.best.loss:
            break
    return better


def _classes(problem: Problem, node: tuple[int, ...]) -> Recoding:
    """The released classes of a node, as a recoding with these levels."""
    classes = problem.partition(node)
    number = np.where(classes.kept, np.cumsum(classes.kept) - 1, -1)
    levels = np.tile(np.array(node, np.int64), (int(classes.kept.sum()), 1))
    return Recoding(number[classes.class_of], levels)


def _shares(run: _Run) -> NDArray[np.float64]:
    """How much each attribute counts in the cost of a record.

    The geometric join is not a sum: an attribute counts by its priority.
    """
    priorities = np.array([each.priority for each in run.problem.table.attributes], np.float64)
    shares: NDArray[np.float64] = priorities / priorities.sum()
    return shares


def _offer(run: _Run, groups: Groups) -> Iterator[Progress]:
    """Judge the groups, then stop at a limit."""
    yield from _offered(run, groups)
    yield from _checked(run, quiet=True)


def _offered(run: _Run, groups: Groups) -> Iterator[Progress]:
    """Judge the groups by the models; an event if they are the new best.

    Groups with equal labels are one class, which persons in several of them can make unsafe. If too
    many are refused to suppress them, their tuples are put into other groups.
    """
    for _ in range(MOST_REPLACEMENTS):
        recoding = recoding_of(run.problem.table, groups.group_of, groups.levels)
        best = judge(run.problem, recoding)
        refused = unsafe_tuples(run.problem, recoding)
        if best is not None or len(refused) in (0, run.problem.table.tuples):
            break
        yield from _watched(run, groups.replace(refused))
    if run.offer(best):
        yield Improved(*run.numbers())


def _bounded(run: _Run, bound: Bound) -> Iterator[Progress]:
    """An event if the bound has risen."""
    before = run.bound
    run.bound, run.prices = max(run.bound, bound.loss), bound.priced()
    yield from _checked(run, quiet=run.bound == before)


def _watched(run: _Run, steps: Iterator[None]) -> Iterator[Progress]:
    """Take steps until they end or a limit is reached."""
    for _ in steps:
        yield from _checked(run, quiet=True)


def _checked(run: _Run, *, quiet: bool = False) -> Iterator[Progress]:
    """Stop at a limit, if there is something to keep; else an event of progress."""
    reason = run.stop_reason()
    if reason is not None and run.best is not None:
        raise _Limit(reason)
    if not quiet:
        yield Progress(*run.numbers())

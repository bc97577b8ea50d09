"""`shoal.frontier`: what each k and each suppression limit costs; nothing is released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from shoal.analysis.grid import check_size, read_k, read_suppression
from shoal.analysis.nodes import (
    Clock,
    ignore,
    levels_of,
    name_of,
    prepare_problem,
)
from shoal.analysis.trade_off import Optimum, TradeOff, solve_grid
from shoal.calling.public import public
from shoal.definition.read import override
from shoal.pipeline import load
from shoal.report.points import Curve, draw_curves
from shoal.report.sections import Section, count
from shoal.report.shown import Picture, Shown
from shoal.steps.local_release import refuse_local

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession, Watch
    from shoal.definition.model import Definition
    from shoal.search.problem import Problem

KS = "2,3,5,10,20,50"
"""The k of a grid where none are given."""


@dataclass(frozen=True)
class Point:
    """A demand of the grid, and its optimum.

    `status` is optimal (proved), feasible (found before a limit ended the search), infeasible
    (proved: no node is safe) or unknown (not come to). `limit` is the suppression in records.
    `price_of` is the smallest k of the grid that costs the same with this suppression, where it is
    smaller than this k: the larger k costs nothing more. `searched` is False where the solutions of
    easier points were proof enough.
    """

    k: int
    suppression: float
    limit: int
    status: str
    loss: float | None
    levels: Mapping[str, int] | None
    suppressed: int | None
    bound: float | None = None
    price_of: int | None = None
    searched: bool = False


@dataclass(frozen=True, repr=False)
class Frontier(Shown):
    """The points by suppression, then by k. `complete` is False where some were not proved."""

    points: tuple[Point, ...]
    complete: bool
    ended: str
    records_read: int
    searches: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal frontier --json` writes them."""
        return {
            "points": [dict(vars(each)) for each in self.points],
            "complete": self.complete,
            "ended": self.ended,
            "searches": self.searches,
            "seconds": self.seconds,
        }

    def sections(self) -> tuple[Section, ...]:
        """The verdict, the losses as a table of k and suppression, and what costs nothing more."""
        shares = sorted({each.suppression for each in self.points})
        by_demand = {(each.k, each.suppression): each for each in self.points}
        rows = tuple(
            (f"{k}", *(_cell(by_demand[k, share]) for share in shares))
            for k in sorted({each.k for each in self.points})
        )
        free = tuple(self._free())
        return (
            Section("", tuple(self._verdict())),
            Section(
                "Loss by k and suppression",
                ("= costs nothing more than the k above it.",) if free else (),
                heading=("k", *(percent(share) for share in shares)),
                rows=rows,
                numbers=tuple(range(len(shares) + 1)),
            ),
            *([Section("What costs nothing more", free)] if free else []),
        )

    def records(self) -> list[dict[str, Any]]:
        """A row for each point, with a column for each level."""
        names = next((list(each.levels) for each in self.points if each.levels), [])
        return [
            {
                **{key: value for key, value in vars(each).items() if key != "levels"},
                **{f"level of {name}": (each.levels or {}).get(name) for name in names},
            }
            for each in self.points
        ]

    def plot(self) -> Picture:
        """Loss over k, a line for each suppression; hollow points cost nothing more."""
        curves = [
            Curve(
                f"{percent(share)} suppression",
                tuple((each.k, each.loss) for each in row if each.loss is not None),
                frozenset(each.k for each in row if each.price_of is not None),
            )
            for share, row in self._rows()
        ]
        said = []
        if any(each.price_of is not None for each in self.points):
            said.append("Hollow points cost nothing more than the point to their left.")
        without = [each for each in self.points if each.status == "infeasible"]
        if without:
            said.append(f"{count(len(without), 'point')} of {len(self.points)} have no solution.")
        open_points = sum(each.status in ("feasible", "unknown") for each in self.points)
        if open_points:
            said.append(f"{count(open_points, 'point')} not proved ({self.ended}).")
        return draw_curves("Loss by k", "k", "loss", curves, said)

    def _rows(self) -> Iterator[tuple[float, list[Point]]]:
        """The points of each suppression, by k."""
        for share, row in groupby(self.points, key=lambda each: each.suppression):
            yield share, list(row)

    def _verdict(self) -> Iterator[str]:
        proved = sum(each.status in ("optimal", "infeasible") for each in self.points)
        without = sum(each.status == "infeasible" for each in self.points)
        total = count(len(self.points), "point")
        if self.complete:
            yield f"Proved: the least loss of {total}."
        else:
            yield f"Not complete ({self.ended}): {proved:,} of {total} are proved."
        if without:
            yield f"{without:,} of them have no solution: no node meets the demand."
        yield (
            f"{count(self.searches, 'search', 'searches')} were needed; the solutions of easier "
            f"points were proof enough for the others."
        )

    def _free(self) -> Iterator[str]:
        """What larger k cost nothing more, a line for each."""
        for share, row in self._rows():
            same = [each for each in row if each.price_of is not None]
            for price, run in groupby(same, key=lambda each: each.price_of):
                most = max(each.k for each in run)
                yield f"With {percent(share)} suppression k can be {most} for the price of {price}."


@public("frontier")
def frontier(
    definition: DefinitionLike,
    k: str | int | Sequence[int] = KS,
    suppression: str | float | Sequence[float | str] | None = None,
    *,
    time_limit: float | None = None,
    watch: Watch | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
) -> Frontier:
    """The proved optimum for every k with every suppression limit; nothing is released.

    The source is read once. Each point starts from the solutions of its neighbours, and is not
    searched where these are proof enough (trade_off.py).

    Args:
        definition: A path, a mapping or a model; its k and suppression are replaced.
        k: `"2:50"`, `"2,5,10"`, or numbers.
        suppression: `"0,1,5,10%"`, or shares such as `[0, 0.01]`; else that of the definition.
        time_limit: Stop after so many seconds in all, by default as the definition says.
        watch: Called with a line about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Returns:
        The points. An interrupt or the time limit ends the work early; what is proved stays.

    Example:
        >>> costs = shoal.frontier("patients.yaml", k=[5, 10])
        >>> [(point.k, round(point.loss, 2)) for point in costs.points]
        [(5, 0.45), (10, 0.53)]
    """
    watch = watch or ignore
    loaded, file = load(definition), file or name_of(definition)
    instead = "run the definition with one k after the other: `shoal run DEFINITION --k 10`"
    refuse_local(loaded, "the points of a frontier are nodes", instead)
    ks = read_k(k, file)
    shares = None if suppression is None else read_suppression(suppression, file)
    check_size(ks, shares or (0.0,), file)
    most = None if shares is None else f"{shares[-1]:.12%}"
    easiest = override(loaded, {"k": ks[0], "suppression": most}, file)
    prepared = prepare_problem(easiest, watch, file, spark)
    problem = prepared.problem
    limits = _limits(loaded, problem, shares)
    clock = Clock(loaded.search.time_limit if time_limit is None else time_limit, watch)
    trade_off = TradeOff(problem, clock, loaded.search.threads)
    found: dict[tuple[int, float], Optimum] = {}
    ended = ""
    try:
        for number, share, optimum in solve_grid(trade_off, ks, limits):
            found[number, share] = optimum
    except KeyboardInterrupt:
        ended = "interrupted"
    proved = sum(each.status in ("optimal", "infeasible") for each in found.values())
    complete = proved == len(ks) * len(limits)
    return Frontier(
        tuple(_points(problem, found, ks, limits)),
        complete=complete,
        ended=ended or ("" if complete else "time limit"),
        records_read=problem.table.records,
        searches=trade_off.searches,
        seconds=round(clock.seconds, 3),
    )


def _limits(
    definition: Definition, problem: Problem, shares: Sequence[float] | None
) -> dict[float, int]:
    """Each share with the records it allows; the definition's own limit where none are given."""
    records = problem.table.records
    if shares is None:
        limit = definition.suppression_limit(records)
        own = definition.suppression
        return {own if isinstance(own, float) else limit / records: limit}
    return {
        share: definition.model_copy(update={"suppression": float(share)}).suppression_limit(
            records
        )
        for share in shares
    }


def _points(
    problem: Problem,
    found: Mapping[tuple[int, float], Optimum],
    ks: Sequence[int],
    limits: Mapping[float, int],
) -> Iterator[Point]:
    """The points by suppression, then by k, with the smallest k of the same loss."""
    for share in sorted(limits):
        first, loss = 0, None
        for k in ks:
            optimum = found.get((k, share), Optimum("unknown", None, 0.0, searched=False))
            best = optimum.best
            proved = best is not None and optimum.status == "optimal"
            now = round(best.loss, 12) if best is not None and proved else None
            if now is None or now != loss:
                first, loss = k, now
            yield Point(
                k,
                share,
                limits[share],
                optimum.status,
                None if best is None else best.loss,
                None if best is None else levels_of(problem, best.node),
                None if best is None else best.suppressed,
                bound=None if best is None else optimum.bound,
                price_of=first if first < k and now is not None else None,
                searched=optimum.searched,
            )


def _cell(point: Point) -> str:
    """A loss as the table shows it."""
    if point.loss is None:
        return {"infeasible": "no solution", "unknown": "not known"}.get(point.status, "")
    mark = "=" if point.price_of is not None else " "
    return f"{'<' if point.status == 'feasible' else mark} {point.loss:.6f}"


def percent(share: float) -> str:
    """A share in percent, with as few digits as it needs."""
    return f"{share * 100:.6g} %"

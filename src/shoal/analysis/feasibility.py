"""What is known of a demand before any search: the lattice, both its ends, and what warns.

The table is counted once. At the most specific node it says how well the records are protected as
they are, at the most general one whether the demand can be met at all. Both hold for local recoding
too: each of its classes is a part of one at the most general node. Nothing is released.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.analysis.nodes import (
    levels_of,
    name_of,
    smallest_class,
)
from shoal.cautions.examine import examine_release
from shoal.collapse.read import open_records
from shoal.events import Phase, Working
from shoal.pipeline import Observer, ignore, load, prepare
from shoal.report.counts import columns_of, treatment
from shoal.search.explain import why_infeasible
from shoal.steps.local_release import check_local

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.calling.argument_types import DefinitionLike
    from shoal.search.problem import Problem
    from shoal.values import Caution, Level, Node


@dataclass(frozen=True)
class LevelRange:
    """A quasi-identifier: the levels of its hierarchy, and between which it may be generalized."""

    name: str
    height: int
    lowest: int
    limit: int
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class End:
    """The most specific or the most general node.

    `k` is its smallest class with nothing suppressed, `suppressed` what would have to be. It counts
    persons where the definition names them.
    """

    levels: Mapping[str, int]
    k: int
    suppressed: int
    safe: bool


@dataclass(frozen=True)
class Feasibility:
    """What can be said of a demand at once.

    `feasible` is None where only a search can tell. If it is False, `reasons` say why, and each of
    the `remedies` would be enough. `removed` are records that basic match leaves out before all
    others; `limit` is how many more may be suppressed. `specific` is None where the table has too
    many tuples to count them as they are. `warnings` are those that a release can have.
    """

    records: int
    removed: int
    tuples: int
    lattice: int
    limit: int
    attributes: tuple[LevelRange, ...]
    specific: End | None
    general: End
    feasible: bool | None
    reasons: tuple[str, ...]
    remedies: tuple[str, ...]
    warnings: tuple[Caution, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def assess(
    definition: DefinitionLike,
    *,
    observe: Observer = ignore,
    file: str | None = None,
    spark: Any = None,
) -> Feasibility:
    """Count the table of a definition once, and say what its demand means on it.

    `observe` is called with the phases; the other arguments are those of `shoal.run`.
    """
    loaded, file = load(definition), file or name_of(definition)
    observe(Phase("read", loaded.source.shown))
    with closing(open_records(loaded, lambda share: observe(Working(share)), spark)) as source:
        prepared = prepare(loaded, source, file=file, local=True)
        if loaded.recoding == "local":
            check_local(prepared)
        problem = prepared.problem
        top = problem.lattice.top
        observe(Phase("warn"))
        levels = [[level] for level in top]
        warnings = examine_release(prepared.definition, source, problem.table, levels)
    table = problem.table
    feasible, reasons, remedies = _judge(problem, top)
    return Feasibility(
        records=table.records,
        removed=table.removed,
        tuples=table.tuples,
        lattice=problem.nodes,
        limit=problem.limit,
        attributes=_ranges(problem, top, loaded.k),
        specific=_end(problem, problem.lattice.bottom) if table.raised is None else None,
        general=_end(problem, top),
        feasible=feasible,
        reasons=reasons,
        remedies=remedies,
        warnings=warnings,
    )


def _judge(problem: Problem, top: Node) -> tuple[bool | None, tuple[str, ...], tuple[str, ...]]:
    """Whether any node is safe, as far as the most general one tells.

    It is, where that one is safe. It is not, where even the records that are suppressed however the
    classes of that node are split are too many.
    """
    if problem.check(top) is not None:
        return True, (), ()
    if problem.least_suppressed(top) <= problem.limit:
        return None, (), ()
    why = why_infeasible(problem)
    return False, why.reasons, why.remedies


def _end(problem: Problem, node: Node) -> End:
    classes = problem.partition(node)
    return End(
        levels=levels_of(problem, node),
        k=smallest_class(classes, released=False),
        suppressed=classes.suppressed,
        safe=problem.judge(node, classes) is not None,
    )


def _ranges(problem: Problem, top: Node, k: int) -> tuple[LevelRange, ...]:
    """The levels, with labels that at least k records have as examples."""
    table = problem.table
    columns = columns_of(table, top, table.weights, k)
    return tuple(
        LevelRange(
            name=column.attribute.name,
            height=column.attribute.height,
            lowest=column.attribute.lowest,
            limit=column.attribute.limit,
            levels=treatment(column, 0.0, 0.0, proposed=False).levels,
        )
        for column in columns
    )

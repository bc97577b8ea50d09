"""What one node gives: its classes, what each column loses, risk and use, beside another node.

What is safe to show: numbers, and labels that at least k released records have
(`report.counts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.analysis.nodes import (
    ignore,
    levels_of,
    precision_of,
    read_problem,
    smallest_class,
)
from shoal.analysis.quality import qualities
from shoal.analysis.squared_errors import squared_errors
from shoal.errors import Infeasible
from shoal.report.counts import columns_of, exposure_of, treatment
from shoal.report.result import finite
from shoal.steps.choosing import judge_node, node_of

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, Watch
    from shoal.search.problem import Partition, Problem
    from shoal.values import Exposure, Node


@dataclass(frozen=True)
class ColumnAt:
    """A quasi-identifier at the level of a node: `values` become `labels`, such as `example`."""

    name: str
    level: int
    height: int
    loss: float
    values: int
    labels: int
    example: str


@dataclass(frozen=True)
class NodeFacts:
    """A node. `faults` say why it is not safe.

    `k` is the smallest class that would be released, `k_of_all` the smallest with nothing
    suppressed. Where no record is left, there is no loss, no risk and no column.
    `quality` are measures that are 1 where nothing changed and 0 where nothing is left.
    """

    levels: Mapping[str, int]
    safe: bool
    faults: tuple[str, ...]
    k: int
    k_of_all: int
    suppressed: int
    classes: int
    precision: float
    loss: float | None
    columns: tuple[ColumnAt, ...] = ()
    risk: Exposure | None = None
    quality: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeReport:
    """A node, the one it is compared with, and the risk of the table as it is.

    `before` is None where the table has too many tuples to count them as they are.
    """

    node: NodeFacts
    other: NodeFacts | None
    before: Exposure | None
    records: int
    limit: int
    loss_model: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None in place of a number that JSON cannot hold."""
        plain: dict[str, Any] = finite(asdict(self))
        return plain


def describe_node(
    definition: DefinitionLike,
    levels: Mapping[str, int],
    other: Mapping[str, int] | None = None,
    *,
    watch: Watch = ignore,
    file: str | None = None,
    spark: Any = None,
) -> NodeReport:
    """What a node gives, safe or not; nothing is released.

    Args:
        definition: A path, a mapping or a model.
        levels: The level of each quasi-identifier by name.
        other: The levels of a node to compare it with, such as the optimum.
        watch: Called with a line about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Raises:
        UserError: when the definition does not allow these levels.
    """
    loaded, problem = read_problem(definition, watch, file, spark)
    table, k = problem.table, loaded.k
    nodes = [node_of(table, each) for each in (levels, other) if each is not None]
    facts = [node_facts(problem, node, k) for node in nodes]
    return NodeReport(
        node=facts[0],
        other=facts[1] if other is not None else None,
        before=exposure_before(problem, k),
        records=table.records,
        limit=problem.limit,
        loss_model=loaded.loss.name,
    )


def exposure_before(problem: Problem, k: int) -> Exposure | None:
    """The risk of the table as it is; None where its tuples were not counted as they are."""
    table = problem.table
    if table.raised is not None:
        return None
    return exposure_of(problem.partition((0,) * len(table.attributes)).counts, k)


def node_facts(problem: Problem, node: Node, k: int) -> NodeFacts:
    """What is said of one node."""
    try:
        judge_node(problem, node)
        faults: tuple[str, ...] = ()
    except Infeasible as error:
        faults = error.reasons[1:]
        if _is_below(problem, node):
            raise
    classes = problem.partition(node)
    some = bool(classes.kept.any())
    return NodeFacts(
        levels=levels_of(problem, node),
        safe=not faults,
        faults=faults,
        k=smallest_class(classes, released=True),
        k_of_all=smallest_class(classes, released=False),
        suppressed=classes.suppressed,
        classes=int(classes.kept.sum()),
        precision=precision_of(problem, node),
        loss=problem.objective.measure(node, classes) if some else None,
        columns=_columns(problem, node, classes, k) if some else (),
        risk=exposure_of(classes.released(), k),
        quality=_quality(problem, node, classes) if some else {},
    )


def _is_below(problem: Problem, node: Node) -> bool:
    """Whether the tuples of the table do not tell the values of the node apart."""
    return any(level < least for level, least in zip(node, problem.lattice.bottom, strict=True))


def _columns(problem: Problem, node: Node, classes: Partition, k: int) -> tuple[ColumnAt, ...]:
    released = problem.table.weights * classes.kept[classes.class_of]
    losses = problem.objective.attribute_losses(node, classes)
    found = []
    for column, loss in zip(columns_of(problem.table, node, released, k), losses, strict=True):
        treated = treatment(column, float(loss), 0.0, proposed=False)
        found.append(
            ColumnAt(
                name=column.attribute.name,
                level=treated.level,
                height=treated.height,
                loss=treated.loss,
                values=treated.levels[0].labels,
                labels=treated.levels[treated.level].labels,
                example=treated.example,
            )
        )
    return tuple(found)


def _quality(problem: Problem, node: Node, classes: Partition) -> dict[str, float]:
    """ARX's measures of the whole release."""
    table = problem.table
    measured = [*qualities(table, node, classes), *squared_errors(table, node, classes)]
    return {each.name: float(each.quality) for each in measured}

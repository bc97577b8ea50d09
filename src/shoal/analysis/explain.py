"""`shoal.explain`: why records were suppressed, what each column costs, what stands in the way.

A definition is searched as `shoal run` would do it, and its node is explained (a local recoding by
`explain_local`):

- Which demand refuses how many of the suppressed records.
- Each column: its part of the loss; how many of the suppressed records would be kept if it were one
  level higher, all else the same; and the optimum of the other columns if it were no
  quasi-identifier, against what they lose now.
- The labels that many suppressed records have.

What is safe to show: labels come from the release only, and only where at least k suppressed
records (persons, where they are counted) have them; see `distributions`. A number of 1 to k-1
records that a level more would save is shown as "fewer than k". The values of no class below k are
named. Where no node is safe, the reasons and the remedies of the search are given, with the columns
without which there would be a safe node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from shoal.analysis.distributions import distribution_of
from shoal.analysis.explain_local import explain_local
from shoal.analysis.explain_result import explain_result, result_in
from shoal.analysis.explanation import (
    ColumnCost,
    DemandRefusal,
    Explanation,
    LabelGroup,
    WithoutColumn,
    loss_shares,
)
from shoal.analysis.nodes import (
    ignore,
    levels_of,
    name_of,
    optimum,
    read_problem,
    without,
)
from shoal.calling.public import public
from shoal.events import Proved
from shoal.pipeline import load
from shoal.search.explain import refused
from shoal.search.objective import ClassObjective
from shoal.search.run import no_solution, search

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession, Watch
    from shoal.definition.model import Search
    from shoal.errors import Infeasible
    from shoal.events import Progress
    from shoal.search.problem import Partition, Problem
    from shoal.values import Node, Result


@public("explain")
def explain(
    definition: DefinitionLike | Result,
    *,
    watch: Watch | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
) -> Explanation:
    """Why a definition releases what it does; nothing is released.

    Args:
        definition: A path, a mapping or a model; or the result of a run, or the path of its JSON:
            then what can be said from that alone.
        watch: Called with lines about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Returns:
        The explanation; where no node is safe, what stands in the way and what would be enough.

    Example:
        >>> why = shoal.explain("patients.yaml")
        >>> [cost.column for cost in why.columns]
        ['birth', 'sex', 'zip', 'country', 'occupation']
    """
    watch = watch or ignore
    result = result_in(definition)
    if result is not None:
        return explain_result(result, file or "the result")
    definition = cast("DefinitionLike", definition)
    loaded, file = load(definition), file or name_of(definition)
    if loaded.recoding == "local":
        return explain_local(loaded, watch, file, spark)
    loaded, problem = read_problem(loaded, watch, file, spark)

    def observe(event: Progress) -> None:
        watch(f"Searching, {event.checked:,} nodes checked")

    last = search(problem, loaded.search, observe)
    known: dict[str, Any] = {
        "source": loaded.source.shown,
        "source_records": problem.table.records,
        "k": loaded.k,
        "loss_model": loaded.loss.name,
        "limit": problem.limit,
    }
    if last.best is None:
        failure = no_solution(problem, last)
        if isinstance(last, Proved):
            return _without_solution(problem, failure, loaded.search, observe, known)
        raise failure
    return explain_node(problem, last.best.node, loaded.k, loaded.search, observe, known)


def explain_node(
    problem: Problem,
    node: Node,
    k: int,
    settings: Search,
    observe: Callable[[Progress], None],
    known: Mapping[str, Any],
) -> Explanation:
    """The explanation of a node; `known` is what is known of the definition and its source."""
    classes = problem.partition(node)
    return Explanation(
        **known,
        levels=levels_of(problem, node),
        loss=problem.objective.measure(node, classes),
        suppressed=classes.suppressed,
        demands=tuple(_demands(problem, classes)),
        columns=tuple(_columns(problem, node, classes, k, settings, observe)),
        labels=tuple(_labels(problem, node, classes, k)),
    )


def _without_solution(
    problem: Problem,
    failure: Infeasible,
    settings: Search,
    observe: Callable[[Progress], None],
    known: Mapping[str, Any],
) -> Explanation:
    """What stands in the way: the reasons of the search, and the columns that do by themselves."""
    remedies = list(failure.remedies)
    for index, attribute in enumerate(problem.table.attributes):
        rest = without(problem, index)
        if rest is not None and optimum(rest, settings, observe)[0] is not None:
            remedies.append(f"let {attribute.name} be no quasi-identifier")
    return Explanation(
        **known,
        levels=None,
        loss=None,
        suppressed=None,
        reasons=tuple(failure.reasons),
        remedies=tuple(remedies),
    )


def _demands(problem: Problem, classes: Partition) -> Iterator[DemandRefusal]:
    """What each model refuses of the classes by itself."""
    sizes = classes.counts.sizes
    for model in problem.models:
        failing = refused(problem, classes.counts, model)
        if failing.any():
            of = f" of {model.attribute}" if model.attribute else ""
            name = f"{model.name}{of} ({model.demanded()})"
            yield DemandRefusal(name, int(failing.sum()), int(sizes[failing].sum()))


def _columns(
    problem: Problem,
    node: Node,
    classes: Partition,
    k: int,
    settings: Search,
    observe: Callable[[Progress], None],
) -> Iterator[ColumnCost]:
    """What each column costs at a node."""
    losses: list[float | None] = [None] * len(node)
    shares = list(losses)
    if not isinstance(problem.objective, ClassObjective):
        found = problem.objective.attribute_losses(node, classes)
        losses = list(found)
        shares = list(loss_shares(found, [a.priority for a in problem.table.attributes]))
    for index, attribute in enumerate(problem.table.attributes):
        saved = _saved(problem, node, classes, index, k)
        yield ColumnCost(
            column=attribute.name,
            level=node[index],
            height=attribute.height,
            limit=attribute.limit,
            loss=losses[index],
            share=shares[index],
            saved=None if saved == FEW else saved,
            few_saved=saved == FEW,
            without=_without(problem, node, classes, index, settings, observe),
        )


FEW = -1


def _saved(problem: Problem, node: Node, classes: Partition, index: int, k: int) -> int | None:
    """The suppressed records that a level more would keep: FEW for 1 to k-1, None at the limit."""
    if node[index] >= problem.table.attributes[index].limit:
        return None
    higher = problem.partition((*node[:index], node[index] + 1, *node[index + 1 :]))
    now, then = classes.kept[classes.class_of], higher.kept[higher.class_of]
    table = problem.table
    chosen = ~now & then
    saved = members = int(table.weights[chosen].sum())
    if table.persons is not None:
        _, counted = table.persons.count({}, chosen.astype("int64"), 2)
        members = int(counted[None][1])
    return FEW if 0 < members < k else saved


def _without(
    problem: Problem,
    node: Node,
    classes: Partition,
    index: int,
    settings: Search,
    observe: Callable[[Progress], None],
) -> WithoutColumn | None:
    """The optimum of the other columns if this one were no quasi-identifier."""
    rest = without(problem, index)
    if rest is None:
        return None
    others = (*node[:index], *node[index + 1 :])
    now = rest.objective.measure(others, classes)
    best, proved = optimum(rest, settings, observe)
    if best is None:
        return WithoutColumn(now, None, None, proved)
    return WithoutColumn(now, best.loss, levels_of(rest, best.node), proved)


def _labels(problem: Problem, node: Node, classes: Partition, k: int) -> Iterator[LabelGroup]:
    """The labels of the release that at least k suppressed records have."""
    for index, attribute in enumerate(problem.table.attributes):
        found = distribution_of(problem.table, index, node, classes, k)
        for each in found.labels if len(found.entries) > 1 else ():
            if each.before is not None and each.before > each.after:
                suppressed = each.before - each.after
                yield LabelGroup(attribute.name, each.label, suppressed, each.before)

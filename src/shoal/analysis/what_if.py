"""`shoal.what_if`: what a level less, or a percent more of suppression, would change.

Every answer is exact. One level less on a column: the node with only that change is counted. Then
the least lossy safe node with that level is searched for, which tells what else must change. One
percent more: the optimum with the larger limit. An answer that a time limit cut short says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.analysis.nodes import (
    ignore,
    levels_of,
    name_of,
    optimum,
    prepare_problem,
    with_level,
)
from shoal.calling.public import public
from shoal.events import Progress, Proved, Stopped
from shoal.pipeline import load
from shoal.report.sections import Section, count
from shoal.report.shown import Shown
from shoal.search.run import no_solution
from shoal.steps.choosing import node_of
from shoal.steps.local_release import refuse_local

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession, Watch
    from shoal.definition.model import Definition, Search
    from shoal.search.problem import Problem
    from shoal.values import Best, Node

PERCENT = 0.01
MEANING = (
    "Suppressed and safe are of the node with this change only. The best with it is the least lossy"
    " safe node where the change holds."
)
Observer: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class Outcome:
    """A node: its levels, what it suppresses and loses, and whether it may be released.

    Where a large table was not counted at its levels, it is known to be unsafe, and no more:
    `suppressed` is None. A node that keeps no record has no loss.
    """

    levels: Mapping[str, int]
    suppressed: int | None
    loss: float | None
    safe: bool


@dataclass(frozen=True)
class Answer:
    """What a change means.

    `column` and `level` are those of a column that is one level lower; both are None for more
    suppression, and then `limit` is the larger limit in records. `alone` is the node with this
    change only, `best` the least lossy safe node with it, None if none is safe. It is `proved`
    unless a time limit ended the search.
    """

    question: str
    column: str | None
    level: int | None
    limit: int
    alone: Outcome | None
    best: Outcome | None
    proved: bool

    def changes(self, levels: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """The other columns whose level changes from these levels to the best node's."""
        if self.best is None:
            return {}
        return {
            name: (levels[name], level)
            for name, level in self.best.levels.items()
            if level != levels[name] and name != self.column
        }


@dataclass(frozen=True, repr=False)
class WhatIf(Shown):
    """A node, and what single changes of it would mean, a line for each question."""

    source: str
    source_records: int
    limit: int
    node: Outcome
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal what-if --json` writes them."""
        return {
            "source": self.source,
            "records": self.source_records,
            "limit": self.limit,
            "node": asdict(self.node),
            "answers": [
                {
                    **asdict(each),
                    "changes": {
                        name: {"from": old, "to": new}
                        for name, (old, new) in each.changes(self.node.levels).items()
                    },
                }
                for each in self.answers
            ],
        }

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each question."""
        return [
            {
                "question": each.question,
                "suppressed": None if each.alone is None else each.alone.suppressed,
                "safe": None if each.alone is None else each.alone.safe,
                "best": None if each.best is None else dict(each.best.levels),
                "loss": None if each.best is None else each.best.loss,
                "proved": each.proved,
            }
            for each in self.answers
        ]

    def sections(self) -> Sequence[Section]:
        """The node, then a line for each question."""
        heading = ("if", "suppressed then", "safe", "the best with it", "loss")
        return (
            Section("", (self._said(),)),
            Section(
                "What if",
                (MEANING,),
                heading,
                tuple(self._row(each) for each in self.answers),
                (1, 4),
            ),
        )

    def _said(self) -> str:
        levels = ", ".join(f"{name}={level}" for name, level in self.node.levels.items())
        safe = "safe" if self.node.safe else "not safe"
        loss = "" if self.node.loss is None else f", loss {self.node.loss:.6f}"
        return (
            f"At {levels}: {safe}{loss}, {self.node.suppressed or 0:,} of "
            f"{count(self.source_records, 'record')} suppressed, {self.limit:,} allowed."
        )

    def _row(self, each: Answer) -> tuple[str, ...]:
        suppressed = safe = ""
        if each.alone is not None:
            safe = "yes" if each.alone.safe else "no"
            suppressed = "too many"
            if each.alone.suppressed is not None and self.node.suppressed is not None:
                more = each.alone.suppressed - self.node.suppressed
                suppressed = f"{each.alone.suppressed:,} ({more:+,})"
        changes = each.changes(self.node.levels)
        best = ", ".join(f"{name} {old} to {new}" for name, (old, new) in changes.items())
        best = best or ("nothing else changes" if each.alone is not None else "the same node")
        loss = ""
        if each.best is None:
            best = "none is safe" if each.proved else "none found in time"
        elif each.best.loss is not None:
            more_loss = (
                "" if self.node.loss is None else f" ({each.best.loss - self.node.loss:+.4f})"
            )
            loss = f"{each.best.loss:.4f}{more_loss}"
            best += "" if each.proved else " (not proved)"
        return each.question, suppressed, safe, best, loss


@public("what_if")
def what_if(
    definition: DefinitionLike,
    node: Mapping[str, int] | None = None,
    *,
    watch: Watch | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
) -> WhatIf:
    """What single changes of a node would mean; nothing is released.

    Args:
        definition: A path, a mapping or a model.
        node: The level of each quasi-identifier by name; without it the optimum.
        watch: Called with lines about the progress.
        file: What messages call the definition, by default its path.
        spark: The session for a source in Spark, else one is made.

    Returns:
        An answer for each column that can be a level lower, and for a percent more of suppression.

    Example:
        >>> answers = shoal.what_if("patients.yaml")
        >>> len(answers.records())
        5
    """
    watch = watch or ignore
    file = file or name_of(definition)
    loaded = load(definition)
    instead = "`shoal explain` says what each column costs with local recoding"
    refuse_local(loaded, "a level less or more is asked of a node", instead)
    problem = prepare_problem(loaded, watch, file, spark).problem
    settings = loaded.search

    def observe(event: Progress) -> None:
        watch(f"Searching, {event.checked:,} nodes checked")

    if node is not None:
        chosen = node_of(problem.table, node)
    else:
        chosen = _optimum(problem, settings, observe).node
    limit = larger_limit(loaded, problem.table.records)
    relaxed = replace(problem, limit=limit)
    if problem.table.raised is not None:
        more = loaded.model_copy(update={"suppression": limit})
        relaxed = prepare_problem(more, watch, file, spark).problem
    return WhatIf(
        source=loaded.source.shown,
        source_records=problem.table.records,
        limit=problem.limit,
        node=outcome_of(problem, chosen),
        answers=answers_of(problem, relaxed, chosen, settings, observe),
    )


def answers_of(
    problem: Problem, relaxed: Problem, node: Node, settings: Search, observe: Observer
) -> tuple[Answer, ...]:
    """An answer for each attribute that can be lower, and for the limit of the relaxed problem."""
    answers = [
        _lower(problem, node, index, settings, observe)
        for index, attribute in enumerate(problem.table.attributes)
        if node[index] > attribute.lowest
    ]
    if relaxed.limit > problem.limit:
        answers.append(_more_suppression(relaxed, settings, observe))
    return tuple(answers)


def larger_limit(definition: Definition, records: int) -> int:
    """How many records may be suppressed with one percent of all records more."""
    share = definition.suppression
    more = share + int(round(PERCENT * records, 9)) if isinstance(share, int) else share + PERCENT
    return min(
        definition.model_copy(update={"suppression": more}).suppression_limit(records), records
    )


def outcome_of(problem: Problem, node: Node) -> Outcome:
    """What a node means."""
    levels = levels_of(problem, node)
    if any(level < least for level, least in zip(node, problem.table.bottom, strict=True)):
        return Outcome(levels, None, None, safe=False)
    classes = problem.partition(node)
    loss = problem.objective.measure(node, classes) if classes.kept.any() else None
    return Outcome(levels, classes.suppressed, loss, safe=problem.judge(node, classes) is not None)


def _optimum(problem: Problem, settings: Search, observe: Observer) -> Best:
    best, proved = optimum(problem, settings, observe)
    if best is None:
        ended: Progress = Proved(None, 0.0, 0, 0, 0.0) if proved else Stopped(None, 0.0, 0, 0, 0.0)
        raise no_solution(problem, ended)
    return best


def _lower(problem: Problem, node: Node, index: int, settings: Search, observe: Observer) -> Answer:
    """One level less on one attribute."""
    name, level = problem.table.attributes[index].name, node[index] - 1
    fixed = with_level(problem, index, level)
    best, proved = (None, True) if fixed is None else optimum(fixed, settings, observe)
    return Answer(
        question=f"{name} at level {level}",
        column=name,
        level=level,
        limit=problem.limit,
        alone=outcome_of(problem, (*node[:index], level, *node[index + 1 :])),
        best=None if best is None else outcome_of(problem, best.node),
        proved=proved,
    )


def _more_suppression(problem: Problem, settings: Search, observe: Observer) -> Answer:
    """The optimum with the larger limit, which is that of the problem."""
    best, proved = optimum(problem, settings, observe)
    return Answer(
        question=f"{problem.limit:,} may be suppressed",
        column=None,
        level=None,
        limit=problem.limit,
        alone=None,
        best=None if best is None else outcome_of(problem, best.node),
        proved=proved,
    )

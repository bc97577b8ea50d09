"""From a node to a verified release: warn, ask, recode, verify, and put the result together.

A run comes here with the node that it found (`shoal.pipeline`), and so does a transformation that
is applied to new records (`shoal.applying`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.cautions.examine import examine_release, refuse_if_strict
from shoal.cautions.recoded import Recoded
from shoal.collapse.read import open_population
from shoal.engines.duckdb.staged import formula_cautions
from shoal.engines.failures import source_changed
from shoal.engines.opening import recode_into, records_by_source
from shoal.engines.options import DatabaseTarget, FileTarget, ObjectTarget, without_password
from shoal.errors import Declined, Refused
from shoal.events import Event, History, Phase, Progress
from shoal.release.recode import local_recoding, recoding
from shoal.report.proposal import Proposal, propose_release
from shoal.report.result import Release, Run, Stopwatch, build_result
from shoal.verify.assignment import Assignment
from shoal.verify.judge import verify
from shoal.verify.sources import source_facts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shoal.definition.model import Attribute, Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Recoding, Source, Staged
    from shoal.engines.options import Target
    from shoal.report.result import ShownResult
    from shoal.search.problem import Partition, Problem
    from shoal.values import Best, Caution, Choice, Ints, Node, StatedLevels, Verdict

Observer: TypeAlias = Callable[[Event], None]
Ask: TypeAlias = Callable[[Proposal], bool]
"""Shows a person what would be released, and says whether the answer is yes."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A definition on its data, before any search.

    `with_roles` is the definition with a role for every column; `definition` has a hierarchy for
    every quasi-identifier too. `columns` are those of the source, `values` the distinct values of
    each quasi-identifier, there or in the population.
    """

    with_roles: Definition
    definition: Definition
    columns: tuple[str, ...]
    table: Table
    values: Mapping[str, Collection[str]]
    problem: Problem
    population_sha256: str | None = None


Recode: TypeAlias = "Callable[..., Staged]"
"""Stages the recoding of a source, with the arguments of `recode_into`."""
Judge: TypeAlias = (
    "Callable[[Prepared, Source, Source, Mapping[str, StatedLevels], Assignment | None], Verdict]"
)
"""Judges what was written, given what was prepared, its source, what is stored and its levels.

Where persons are counted in a local release, it gets the labels of each tuple too."""


@dataclass(frozen=True, eq=False)
class LocalLevels:
    """A local recoding: the levels of each tuple, in rows, and what each attribute lost.

    The row of a suppressed tuple means nothing.
    """

    levels: Ints
    losses: Sequence[float]


@dataclass(frozen=True, eq=False)
class Found:
    """The node to release, its classes, the search that led to it, and the choice of a person.

    A local recoding has `local` in place of a node.
    """

    best: Best
    classes: Partition
    about: Run
    choice: Choice | None = None
    local: LocalLevels | None = None

    @property
    def node(self) -> Node:
        """The released level of each attribute; the highest one where there are several.

        Every record of a class has the same label at the highest level too. So what is counted
        there is never finer than the release.
        """
        if self.local is None:
            return self.best.node
        kept = self.classes.kept[self.classes.class_of]
        return tuple(self.local.levels[kept].max(axis=0).tolist())

    def stated_levels(self, prepared: Prepared) -> Mapping[str, StatedLevels]:
        """The level of each attribute, or in local recoding the records at each of its levels."""
        names = prepared.definition.quasi_identifiers
        return self.records_at(prepared) or dict(zip(names, self.node, strict=True))

    def levels_of_tuples(self, table: Table) -> Ints:
        """The levels of each tuple, in rows."""
        if self.local is not None:
            return self.local.levels
        return np.broadcast_to(np.array(self.node, np.int64), (table.tuples, len(self.node)))

    def records_at(self, prepared: Prepared) -> dict[str, dict[int, int]] | None:
        """The released records at each level of each attribute; None without local recoding."""
        if self.local is None:
            return None
        return records_at(prepared.table, self.classes, self.local)


def records_at(table: Table, classes: Partition, local: LocalLevels) -> dict[str, dict[int, int]]:
    """The released records at each level of each attribute of a local recoding."""
    kept = classes.kept[classes.class_of]
    weights, found = table.weights[kept], {}
    for j, attribute in enumerate(table.attributes):
        counts = np.bincount(local.levels[kept, j], weights).astype(np.int64).tolist()
        found[attribute.name] = {level: n for level, n in enumerate(counts) if n}
    return found


def judge_alone(
    prepared: Prepared,
    source: Source,
    written: Source,
    levels: Mapping[str, StatedLevels],
    assignment: Assignment | None = None,
) -> Verdict:
    """The verdict of the verifier on a release by itself."""
    definition = prepared.definition
    with open_population(definition) as population:
        return verify(
            definition,
            written,
            levels=levels,
            columns=prepared.columns,
            values=prepared.values,
            source=source,
            population=population,
            assignment=assignment,
            **source_facts(definition, source, prepared.values),
        )


def write_release(
    prepared: Prepared,
    found: Found,
    source: Source,
    target: Target | None,
    observe: Observer,
    *,
    recode: Recode = recode_into,
    judge: Judge = judge_alone,
    ask: Ask | None = None,
    spark: Any = None,
    open_to_change: Collection[str] | None = None,
) -> tuple[Staged, ShownResult]:
    """The release at a node, staged and verified, and its result; an error when it is not safe.

    In memory the quasi-identifiers that are `open_to_change`, by default those that the definition
    lets be generalized, are text at every level: a frame has the same types whatever was found.

    A person is asked before anything is staged: no temporary file exists and no table is locked
    while they think. What is staged then must have as many records as they saw. Without a person
    it must have as many as were counted, where none is marked: marked records look like those
    that never had a value.
    """
    definition, watch = prepared.definition, found.about.watch
    observe(Phase("warn"))
    cautions = _examine(prepared, found, source)
    refuse_if_strict(definition, cautions)
    released = _released(prepared, found)
    proposed = build_result(found.about, released, cautions, verified=False, chosen=found.choice)
    watch.lap("warnings")
    if ask is not None:
        observe(Phase("ask"))
        _ask(ask, prepared, found, proposed, target)
        watch.lap("ask")

    observe(Phase("release"))
    plan = plan_of(prepared, found)
    if target is None:
        texts = changeable(definition.attributes) if open_to_change is None else open_to_change
        plan = replace(plan, texts=frozenset(texts))
    staged = recode(source, plan, target, spark=spark)
    watch.lap("release")

    with ExitStack() as undo:
        undo.callback(staged.discard)
        observe(Phase("verify"))
        with closing(staged.source()) as written:
            stated = found.stated_levels(prepared)
            verdict = judge(prepared, source, written, stated, _assignment(prepared, plan))
            formulas = tuple(formula_cautions(target, written))
            sha256 = written.fingerprint()
        watch.lap("verify")
        _refuse_changed(verdict, found, source)
        refuse_unless_safe(verdict)
        refuse_if_strict(definition, formulas)
        is_as_counted = verdict.records == int(released.weights.sum())
        is_exact = judge is judge_alone and definition.suppressed != "mark"
        if not is_as_counted and (ask is not None or is_exact):
            raise source_changed(source.name)
        result = replace(
            proposed,
            verified=verdict.safe,
            warnings=(*cautions, *formulas),
            seconds=watch.seconds(),
            output_sha256=sha256,
        )
        undo.pop_all()
    return staged, result


def _examine(prepared: Prepared, found: Found, source: Source) -> tuple[Caution, ...]:
    """The warnings about what is to be released."""
    definition, table = prepared.definition, prepared.table
    if found.local is None:
        return examine_release(definition, source, table, [[level] for level in found.node])
    recoded = Recoded(table, found.local.levels, found.classes.kept[found.classes.class_of])
    return examine_release(definition, source, table, recoded.levels_above, recoded)


def plan_of(prepared: Prepared, found: Found) -> Recoding:
    """What the engine has to release."""
    classes, table = found.classes, prepared.table
    if found.local is not None:
        return local_recoding(
            prepared.definition,
            columns=prepared.columns,
            table=table,
            levels=found.local.levels,
            kept=classes.kept[classes.class_of],
        )
    return recoding(
        prepared.definition,
        columns=prepared.columns,
        table=table,
        node=found.node,
        class_of=classes.class_of,
        kept=classes.kept,
    )


def changeable(attributes: Mapping[str, Attribute]) -> list[str]:
    """The quasi-identifiers that are not held at level 0."""
    return [
        name
        for name, each in attributes.items()
        if each.role == "quasi-identifier" and each.limit != 0
    ]


def _assignment(prepared: Prepared, plan: Recoding) -> Assignment | None:
    """The labels of each tuple, where the verifier counts the persons of a local release."""
    if plan.labels is None or not prepared.definition.person:
        return None
    names = list(prepared.definition.quasi_identifiers)
    joined = {name: each for name, each in plan.generalized.items() if each.changes}
    return Assignment(plan.classes.select(names), plan.labels.select(names), joined)


def _ask(
    ask: Ask, prepared: Prepared, found: Found, proposed: ShownResult, target: Target | None
) -> None:
    """Go on only with a yes."""
    proposal = propose_release(
        proposed,
        prepared.table,
        found.levels_of_tuples(prepared.table),
        found.classes.class_of,
        found.classes.kept,
        k=prepared.definition.k,
        target=_shown(target),
    )
    if ask(proposal) is not True:
        raise Declined("declined; nothing was released", code="declined")


def _shown(target: Target | None) -> str:
    """What people see of a target: never a password."""
    match target:
        case None:
            return "memory"
        case FileTarget():
            return str(target.path)
        case ObjectTarget():
            return target.url
        case DatabaseTarget():
            return f"{target.table} of {without_password(target.url)}"
        case _:
            return f"{target.name} in Spark"


def about_run(
    prepared: Prepared,
    source: Source,
    last: Progress,
    watch: Stopwatch,
    history: History,
    fingerprint: str | None,
) -> Run:
    """What the result says of a run, whether it ends with a release or without one.

    The `fingerprint` is that of the source when it was counted.
    """
    table, problem = prepared.table, prepared.problem
    unchanged = problem.partition((0,) * len(table.attributes)) if table.raised is None else None
    return Run(
        definition=prepared.with_roles,
        filled=prepared.definition,
        table=table,
        models=problem.models,
        lattice=problem.nodes,
        limit=problem.limit,
        last=last,
        fingerprint=fingerprint,
        sources=records_by_source(source, table.records + table.removed),
        watch=watch,
        before=None if unchanged is None else unchanged.counts,
        progress=history.moments(),
    )


def _refuse_changed(verdict: Verdict, found: Found, source: Source) -> None:
    """Where a release is not safe since a file of the source is another one now, say so."""
    before = found.about.fingerprint
    if not verdict.safe and before is not None and source.fingerprint() != before:
        raise source_changed(source.name)


def refuse_unless_safe(verdict: Verdict) -> None:
    """Nothing leaves that the verifier does not call safe."""
    if not verdict.safe:
        failures = "".join(f"\n  {finding.name}: {finding.saw}" for finding in verdict.failures)
        raise Refused(
            f"the verifier refused the release; nothing was released{failures}",
            code="refused",
            hint="this should not happen: please report it, with the definition but without data",
        )


def _released(prepared: Prepared, found: Found) -> Release:
    """What the result says of the release: losses, classes, records of each tuple."""
    problem, classes = prepared.problem, found.classes
    losses: Sequence[float]
    if found.local is None:
        losses = problem.objective.attribute_losses(found.node, classes)
    else:
        losses = found.local.losses
    return Release(
        best=found.best,
        node=found.node,
        losses=losses,
        classes=classes.released(),
        weights=problem.table.weights * classes.kept[classes.class_of],
        levels=found.levels_of_tuples(problem.table),
        records_at=found.records_at(prepared),
    )

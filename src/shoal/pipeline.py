"""The whole run on one page. Read this first.

`run` takes a definition from its file to a published output: load, check, open, release, publish.
`release` is the method: prepare (match the columns, count the tuples, state the problem), find a
node by search or by a person's choice, and `write_release`: warn, ask, recode, verify, and put the
result together. Each step is one call of the package named like it. Nothing is published that the
verifier did not count afresh and call safe.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.cautions.examine import examine_release, refuse_if_strict
from shoal.choosing import compare_with_best, judge_node, node_of
from shoal.collapse.read import collapse
from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.definition.overwriting import check_written
from shoal.definition.read import from_mapping, read
from shoal.engines.base import DatabaseTarget, FileTarget, without_password
from shoal.engines.duckdb.staged import formula_cautions
from shoal.engines.failures import source_changed
from shoal.engines.opening import (
    check_apart,
    check_columns,
    check_records,
    check_target,
    one_session,
    open_source,
    recode_into,
    records_by_source,
)
from shoal.errors import BadDefinition, BadOutput, Declined, Mistake, Refused
from shoal.events import Event, History, Phase, Progress, Proved, Released, Working
from shoal.proof.format import LevelRange, subject_of
from shoal.proof.log import ProofLog
from shoal.release.recode import recoding
from shoal.report.proposal import Proposal, propose_release
from shoal.report.result import Release, Run, Stopwatch, build_failure, build_result
from shoal.search.run import no_solution, problem_of, search
from shoal.verify.judge import verify
from shoal.verify.source_facts import source_facts

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Source, Staged, Target
    from shoal.errors import Infeasible
    from shoal.report.result import ShownResult
    from shoal.search.problem import Partition, Problem
    from shoal.values import Best, Caution, Choice, Node, Verdict

Observer: TypeAlias = Callable[[Event], None]
Ask: TypeAlias = Callable[[Proposal], bool]
"""Shows a person what would be released, and says whether the answer is yes."""


def ignore(event: Event) -> None:
    """Observe nothing."""


def run(
    definition: Definition | Mapping[str, Any] | str | Path,
    *,
    observe: Observer = ignore,
    keep_best: bool = False,
    proof: str | Path | None = None,
    file: str | None = None,
    spark: Any = None,
    node: Mapping[str, int] | None = None,
    ask: Ask | None = None,
) -> ShownResult:
    """Release what a definition says, and return what was done.

    The output appears only after the verifier has counted it afresh and found it safe; after any
    error, the old output or none is there. `observe` is called with every event. `keep_best` lets a
    keyboard interrupt during the search release the best safe node found so far. `proof` is where
    to write why no node is better; a search that is stopped early writes none. `file` is what
    messages call the definition, by default its path.
    `spark` is the session for what the definition reads or writes in Spark, else one is made.

    `node` is a node that a person chose: the level of each quasi-identifier by name. It is released
    in place of the best one, and the result says how much more it loses. `ask` is called with a
    Proposal before anything is written; unless it returns True, Declined is raised.
    """
    file = file or (str(definition) if isinstance(definition, str | Path) else "definition")
    definition = load(definition)
    target = _target(definition, file)
    check_written(definition, file, {} if proof is None else {"proof": Path(proof)})
    with ExitStack() as cleanup:
        cleanup.enter_context(one_session(definition.source.options(), target, spark=spark))
        check_target(target, spark=spark)
        check_apart(definition.source.options(), target, spark=spark)
        log = None if proof is None else cleanup.enter_context(_proof_log(definition, Path(proof)))
        source = cleanup.enter_context(closing(_opened(definition, observe, spark)))
        staged, result = release(
            definition,
            source,
            target,
            observe,
            keep_best=keep_best,
            proof=log,
            file=file,
            spark=spark,
            node=node,
            ask=ask,
        )
        cleanup.callback(staged.discard)
        observe(Phase("publish"))
        result = result.published(staged.publish())
        if log is not None:
            log.publish()
    observe(Released(result))
    return result


def release(
    definition: Definition,
    source: Source,
    target: Target | None,
    observe: Observer,
    *,
    keep_best: bool = False,
    proof: ProofLog | None = None,
    file: str = "definition",
    spark: Any = None,
    node: Mapping[str, int] | None = None,
    ask: Ask | None = None,
) -> tuple[Staged, ShownResult]:
    """A verified release that nobody sees yet, and its result; an error when it is not safe.

    A `proof` is staged too, unless the search was stopped before it was done, or a person chose
    another `node` than the best one. `spark` is the session for a target of Spark, else one is
    made.
    """
    watch = Stopwatch()
    observe(Phase("read", source.name))
    prepared = prepare(definition, source, target, file=file)
    watch.lap("read")

    problem, settings = prepared.problem, prepared.definition.search
    chosen = None if node is None else judge_node(problem, node_of(prepared.table, node))
    observe(Phase("search", f"{problem.table.tuples:,} tuples, {problem.nodes:,} nodes"))
    history = History(observe)
    last = search(problem, settings, history, keep_best=keep_best, log=proof)
    best, choice = last.best, None
    if chosen is not None:
        best = chosen
        last, choice = compare_with_best(prepared.table, chosen, last)
    about = _about(prepared, source, last, watch, history)
    watch.lap("search")
    if best is None:
        raise _without_solution(problem, about)
    is_best = choice is None or tuple(choice.levels.values()) == best.node
    if proof is not None and isinstance(last, Proved) and is_best:
        _stage_proof(proof, prepared, best, about.fingerprint)
    found = Found(best, problem.partition(best.node), about, choice)
    return write_release(prepared, found, source, target, observe, ask=ask, spark=spark)


@dataclass(frozen=True, eq=False)
class Found:
    """The node to release, its classes, the search that led to it, and the choice of a person."""

    best: Best
    classes: Partition
    about: Run
    choice: Choice | None = None


def write_release(
    prepared: Prepared,
    found: Found,
    source: Source,
    target: Target | None,
    observe: Observer,
    *,
    ask: Ask | None = None,
    spark: Any = None,
) -> tuple[Staged, ShownResult]:
    """The release at a node, staged and verified, and its result; an error when it is not safe.

    A person is asked before anything is staged: so nothing lies anywhere, and no table is locked,
    while they think. What is staged then must have as many records as they saw.
    """
    definition, watch, node = prepared.definition, found.about.watch, found.best.node
    observe(Phase("warn"))
    cautions = examine_release(definition, source, prepared.table, node)
    refuse_if_strict(definition, cautions)
    released = _released(prepared.problem, found.best, found.classes)
    proposed = build_result(found.about, released, cautions, verified=False, chosen=found.choice)
    watch.lap("warnings")
    if ask is not None:
        observe(Phase("ask"))
        _ask(ask, prepared, found, proposed, target)
        watch.lap("ask")

    observe(Phase("release"))
    plan = recoding(
        definition,
        columns=prepared.columns,
        table=prepared.table,
        node=node,
        class_of=found.classes.class_of,
        kept=found.classes.kept,
    )
    staged = recode_into(source, plan, target, spark=spark)
    watch.lap("release")

    with ExitStack() as undo:
        undo.callback(staged.discard)
        observe(Phase("verify"))
        verdict, formulas, sha256 = _verify(prepared, source, staged, target, node)
        watch.lap("verify")
        refuse_unless_safe(verdict)
        refuse_if_strict(definition, formulas)
        if ask is not None and verdict.records != int(released.weights.sum()):
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A definition on its data, before any search.

    `given` is the definition with a role for every column; `definition` has a hierarchy for every
    quasi-identifier too. `columns` are those of the source, `values` the distinct values of each
    quasi-identifier.
    """

    given: Definition
    definition: Definition
    columns: tuple[str, ...]
    table: Table
    values: Mapping[str, Collection[str]]
    problem: Problem


def prepare(
    definition: Definition, source: Source, target: Target | None = None, *, file: str
) -> Prepared:
    """Match the definition with the columns, count the distinct tuples, state the problem.

    Refuses here, before the search, what could not be written to the target after it.
    """
    columns = tuple(column.name for column in source.columns())
    given = against_columns(definition, columns, source.name, file)
    check_columns(source, target, given.names("quasi-identifier", "sensitive", "keep"))
    counted = collapse(given, source)
    filled, table = counted.definition, counted.table
    problem = problem_of(filled, table, models=models_of(filled), loss=loss_of(filled))
    if target is not None:
        check_records(target, table.records - problem.limit)
    return Prepared(given, filled, columns, table, counted.values, problem)


def load(definition: Definition | Mapping[str, Any] | str | Path) -> Definition:
    """A definition from a path, a mapping or a model."""
    if isinstance(definition, str | Path):
        return read(Path(definition))
    if isinstance(definition, Mapping):
        return from_mapping(definition)
    return definition


def _target(definition: Definition, file: str) -> Target:
    """Where the definition says that the release goes."""
    if definition.output is None:
        remedy = "say where to write: `output: out.csv`"
        raise BadDefinition(file, [Mistake("output", "is missing", remedy)])
    return definition.output.target()


def _opened(definition: Definition, observe: Observer, spark: Any) -> Source:
    """The source of the definition; its long queries report their progress."""
    return open_source(
        definition.source.options(),
        expect=set(definition.attributes),
        resources=definition.engine.resources(lambda share: observe(Working(share))),
        spark=spark,
    )


def _proof_log(definition: Definition, path: Path) -> ProofLog:
    """Where a search writes its proof; only the box search can."""
    if definition.search.strategy != "box":
        raise BadOutput(
            f"the strategy {definition.search.strategy!r} writes no proof",
            code="no-proof",
            hint="search with `strategy: box`, or leave out the proof",
        )
    return ProofLog(path)


def _stage_proof(proof: ProofLog, prepared: Prepared, best: Best, fingerprint: str | None) -> None:
    """Write the proof where nobody sees it yet."""
    table = prepared.table
    ranges = [LevelRange(a.name, a.height, a.limit, a.priority, a.lowest) for a in table.attributes]
    subject = subject_of(prepared.definition, ranges, table.records, table.removed, fingerprint)
    proof.stage(subject, best)


def _ask(
    ask: Ask, prepared: Prepared, found: Found, proposed: ShownResult, target: Target | None
) -> None:
    """Go on only with a yes."""
    proposal = propose_release(
        proposed,
        prepared.table,
        found.best.node,
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
        case DatabaseTarget():
            return f"{target.table} of {without_password(target.url)}"
        case _:
            return f"{target.name} in Spark"


def _about(
    prepared: Prepared, source: Source, last: Progress, watch: Stopwatch, history: History
) -> Run:
    """What the result says of a run, whether it ends with a release or without one."""
    table, problem = prepared.table, prepared.problem
    unchanged = problem.partition((0,) * len(table.attributes)) if table.raised is None else None
    return Run(
        definition=prepared.given,
        filled=prepared.definition,
        table=table,
        models=problem.models,
        lattice=problem.nodes,
        limit=problem.limit,
        last=last,
        fingerprint=source.fingerprint(),
        sources=records_by_source(source, table.records + table.removed),
        watch=watch,
        before=None if unchanged is None else unchanged.counts,
        progress=history.moments(),
    )


def _without_solution(problem: Problem, about: Run) -> Infeasible:
    """Why nothing can be released, with the record of the run."""
    failure = no_solution(problem, about.last)
    top = problem.partition(problem.lattice.top)
    failure.result = build_failure(about, failure, top.counts)
    return failure


def _verify(
    prepared: Prepared, source: Source, staged: Staged, target: Target | None, node: Node
) -> tuple[Verdict, tuple[Caution, ...], str | None]:
    """The verdict on the staged release, warnings of cells that a spreadsheet would run, and the
    SHA-256 of the bytes where it is a file."""
    definition = prepared.definition
    facts = source_facts(definition, source, prepared.values)
    with closing(staged.source()) as written:
        verdict = verify(
            definition,
            written,
            levels=dict(zip(definition.quasi_identifiers, node, strict=True)),
            columns=prepared.columns,
            values=prepared.values,
            source=source,
            **facts,
        )
        return verdict, tuple(formula_cautions(target, written)), written.fingerprint()


def refuse_unless_safe(verdict: Verdict) -> None:
    """Nothing leaves that the verifier does not call safe."""
    if not verdict.safe:
        failures = "".join(f"\n  {finding.name}: {finding.saw}" for finding in verdict.failures)
        raise Refused(
            f"the verifier refused the release; nothing was released{failures}",
            code="refused",
            hint="this should not happen: please report it, with the definition but without data",
        )


def _released(problem: Problem, best: Best, classes: Partition) -> Release:
    """What the result says of the release: losses, classes, records of each tuple."""
    return Release(
        best=best,
        losses=problem.objective.attribute_losses(best.node, classes),
        classes=classes.released(),
        weights=problem.table.weights * classes.kept[classes.class_of],
    )

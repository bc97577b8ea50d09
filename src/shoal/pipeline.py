"""The whole run on one page: read, search, warn, release, verify, publish. Read this first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.cautions.look import look, refuse_if_strict
from shoal.collapse.read import collapse
from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.definition.overwriting import check_written
from shoal.definition.read import from_mapping, read
from shoal.engines.duckdb.formula_cells import formula_cautions
from shoal.engines.opening import (
    check_apart,
    check_columns,
    check_records,
    check_target,
    one_session,
    open_source,
    records_by_source,
)
from shoal.errors import BadDefinition, BadOutput, Mistake, Refused
from shoal.events import Event, Phase, Progress, Proved, Released, Working
from shoal.proof.format import Climb, subject_of
from shoal.proof.log import ProofLog
from shoal.release.recode import recoding
from shoal.report.build import Release, Run, Stopwatch, build_failure, build_result
from shoal.search.run import no_solution, problem_of, search
from shoal.verify.judge import verify
from shoal.verify.source_facts import source_facts

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import Source, Staged, Target
    from shoal.errors import Infeasible
    from shoal.search.problem import Problem
    from shoal.values import Result, Verdict

Observer: TypeAlias = Callable[[Event], None]


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
) -> Result:
    """Release what a definition says, and return what was done.

    The output appears only after the verifier has counted it afresh and found it safe; after any
    error, the old output or none is there. `observe` is called with every event. `keep_best` lets a
    keyboard interrupt during the search release the best safe node found so far. `proof` is where
    to write why no node is better; a search that is stopped early writes none. `file` is what
    messages call the definition, by default its path.
    `spark` is the session for what the definition reads or writes in Spark, else one is made.
    """
    file = file or (str(definition) if isinstance(definition, str | Path) else "definition")
    definition = load(definition)
    if definition.output is None:
        raise BadDefinition(
            file, [Mistake("output", "is missing", "say where to write: `output: out.csv`")]
        )
    target = definition.output.target()
    check_written(definition, file, {} if proof is None else {"proof": Path(proof)})
    with ExitStack() as cleanup:
        cleanup.enter_context(one_session(definition.source.options(), target, spark=spark))
        check_target(target, spark=spark)
        check_apart(definition.source.options(), target, spark=spark)
        log = None if proof is None else cleanup.enter_context(_proof_log(definition, Path(proof)))
        source = open_source(
            definition.source.options(),
            expect=set(definition.attributes),
            resources=definition.engine.resources(lambda share: observe(Working(share))),
            spark=spark,
        )
        cleanup.enter_context(closing(source))
        staged, result = release(
            definition, source, target, observe, keep_best=keep_best, proof=log, file=file
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
) -> tuple[Staged, Result]:
    """A verified release that nobody sees yet, and its result; an error when it is not safe.

    A `proof` is staged too, unless the search was stopped before it was done.
    """
    watch = Stopwatch()
    observe(Phase("read", source.name))
    columns = tuple(column.name for column in source.columns())
    definition = against_columns(definition, columns, source.name, file)
    check_columns(source, target, definition.names("quasi-identifier", "sensitive", "keep"))
    collapsed = collapse(definition, source)
    filled, table = collapsed.definition, collapsed.table
    watch.lap("read")

    problem = problem_of(filled, table, models_of(filled), loss_of(filled))
    if target is not None:
        check_records(target, table.records - problem.limit)
    observe(Phase("search", f"{table.tuples:,} tuples, {problem.nodes:,} nodes"))
    last: Progress = search(problem, filled.search, observe, keep_best=keep_best, log=proof)
    about = Run(
        definition,
        filled,
        table,
        problem.models,
        problem.nodes,
        problem.limit,
        last,
        source.fingerprint(),
        records_by_source(source, table.records + table.removed),
        watch,
    )
    if last.best is None:
        watch.lap("search")
        raise _without_solution(problem, about)
    if proof is not None and isinstance(last, Proved):
        climbs = [Climb(a.name, a.height, a.limit, a.priority, a.lowest) for a in table.attributes]
        subject = subject_of(filled, climbs, table.records, table.removed, about.fingerprint)
        proof.stage(subject, last.best)
    node = last.best.node
    classes = problem.partition(node)
    watch.lap("search")

    cautions = look(filled, source, table, node)
    refuse_if_strict(filled, cautions)
    watch.lap("warnings")

    observe(Phase("release"))
    plan = recoding(filled, columns, table, node, classes.class_of, classes.kept)
    staged = source.recode_into(plan, target)
    watch.lap("release")
    try:
        observe(Phase("verify"))
        levels = dict(zip(definition.quasi_identifiers, node, strict=True))
        with closing(staged.source()) as written:
            verdict = verify(
                filled,
                written,
                levels=levels,
                columns=columns,
                values=collapsed.values,
                source=source,
                **source_facts(filled, source, collapsed.values),
            )
            cautions = (*cautions, *formula_cautions(target, written))
        watch.lap("verify")
        refuse_unless_safe(verdict)
        refuse_if_strict(filled, cautions)
        released = Release(
            last.best,
            problem.objective.attribute_losses(node, classes),
            classes.released(),
            table.weights * classes.kept[classes.class_of],
        )
        result = build_result(about, released, cautions, verified=verdict.safe)
    except BaseException:
        staged.discard()
        raise
    return staged, result


def _without_solution(problem: Problem, about: Run) -> Infeasible:
    """Why nothing can be released, with the record of the run."""
    failure = no_solution(problem, about.last)
    top = problem.partition(problem.lattice.top)
    failure.result = build_failure(about, failure, top.counts)
    return failure


def _proof_log(definition: Definition, path: Path) -> ProofLog:
    """Where a search writes its proof; only the box search can."""
    if definition.search.strategy != "box":
        raise BadOutput(
            f"the strategy {definition.search.strategy!r} writes no proof",
            code="no-proof",
            hint="search with `strategy: box`, or leave out the proof",
        )
    return ProofLog(path)


def refuse_unless_safe(verdict: Verdict) -> None:
    """Nothing leaves that the verifier does not call safe."""
    if not verdict.safe:
        failures = "".join(f"\n  {finding.name}: {finding.saw}" for finding in verdict.failures)
        raise Refused(
            f"the verifier refused the release; nothing was released{failures}",
            code="refused",
            hint="this should not happen: please report it, with the definition but without data",
        )


def load(definition: Definition | Mapping[str, Any] | str | Path) -> Definition:
    """A definition from a path, a mapping or a model."""
    if isinstance(definition, str | Path):
        return read(Path(definition))
    if isinstance(definition, Mapping):
        return from_mapping(definition)
    return definition

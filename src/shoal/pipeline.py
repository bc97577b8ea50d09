"""The whole run on one page. Read this first.

A run has ten steps. `run` loads the definition, checks where it writes, and opens the source.
`make_release` is the method: `prepare` matches the columns, counts the tuples and states the
problem; `find` searches, for a node or for local recoding, unless a person chose or kept what is
released; `write_release` warns, asks, recodes and verifies. At last `run` publishes. Each step is
one call of the package named like it, or of `shoal.steps`. Nothing is published that the verifier
did not count afresh and call safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.calling.public import public
from shoal.collapse.read import collapse, open_population, open_records
from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.definition.model import Definition
from shoal.definition.outputs import sources_of
from shoal.definition.read import from_mapping, read
from shoal.engines.opening import (
    check_apart,
    check_columns,
    check_records,
    check_target,
    one_session,
)
from shoal.errors import BadDefinition, Mistake, after_publishing
from shoal.events import Event, History, Phase, Proved, Released, Working
from shoal.report.result import Run, Stopwatch, build_failure
from shoal.search.run import no_solution, problem_of
from shoal.steps.choosing import compare_with_best, judge_node, node_of
from shoal.steps.finding import find, found_of, recall
from shoal.steps.further_files import (
    further_paths,
    open_proof,
    refuse_unproved,
    stage_further,
    stage_proof,
)
from shoal.steps.local_release import check_local, check_options, full_domain_only
from shoal.steps.releasing import Ask as Ask
from shoal.steps.releasing import Found, about_run, write_release
from shoal.steps.releasing import Observer as Observer
from shoal.steps.releasing import Prepared as Prepared
from shoal.steps.search_memory import within_memory

if TYPE_CHECKING:
    from shoal.calling.argument_types import DefinitionLike, SparkSession
    from shoal.engines.base import Source, Staged
    from shoal.engines.options import Target
    from shoal.errors import Infeasible
    from shoal.proof.log import ProofLog
    from shoal.report.result import ShownResult
    from shoal.search.problem import Problem
    from shoal.steps.kept_search import KeptSearch


def ignore(event: Event) -> None:
    """Observe nothing."""


@public("run")
def run(
    definition: DefinitionLike,
    *,
    observe: Observer | None = None,
    keep_best: bool = False,
    proof: str | Path | None = None,
    file: str | None = None,
    spark: SparkSession | None = None,
    node: Mapping[str, int] | None = None,
    ask: Ask | None = None,
    transformation: str | Path | None = None,
    assignment: str | Path | None = None,
    kept: KeptSearch | None = None,
) -> ShownResult:
    """Release what a definition says, and return what was done.

    The output appears only after the verifier has counted it afresh and found it safe; after any
    error, the old output or none is there.

    Args:
        definition: A path, a mapping or a model.
        observe: Called with every event. Without it a notebook shows the progress.
        keep_best: Let a keyboard interrupt during the search release the best safe node so far.
        proof: Where to write why no node is better; a search that is stopped early writes none. For
            a local recoding it has the prices that prove the bound.
        file: What messages call the definition, by default its path.
        spark: The session for what is read or written in Spark, else one is made.
        node: A node that a person chose: the level of each quasi-identifier by name. It is released
            in place of the best one, and the result says how much more it loses.
        ask: Called with a Proposal before anything is written; unless it returns True, Declined is
            raised.
        transformation: Where to write how the release was recoded, for `shoal.apply`.
        assignment: Where to write in which class of a local release each tuple is, for
            `shoal.verify`.
        kept: An earlier search for a local recoding: what it found is released.

    Returns:
        What was done: levels, loss, proof, and what was verified.

    Raises:
        BadDefinition: for a definition with mistakes; all of them are listed.
        BadData: for a source that cannot be read as the definition says.
        BadOutput: for an output that cannot be written there.
        Infeasible: when no transformation meets the demand.

    Example:
        >>> result = shoal.run("patients.yaml")
        >>> result.verified, result.status, result.smallest_class >= 5
        (True, 'optimal', True)
    """
    observe = observe or ignore
    file = file or (str(definition) if isinstance(definition, str | Path) else "definition")
    definition = load(definition)
    target = _target(definition, file)
    check_options(definition, {"node": node})
    asked_for = {"proof": proof, "transformation": transformation, "assignment": assignment}
    further = further_paths(definition, file, asked_for)
    with ExitStack() as cleanup:
        cleanup.enter_context(one_session([definition.source.options()], target, spark=spark))
        check_target(target, spark=spark)
        for _, each in sources_of(definition):
            check_apart(each.options(), target, spark=spark)
        log = None if proof is None else cleanup.enter_context(open_proof(definition, Path(proof)))
        records = open_records(definition, lambda share: observe(Working(share)), spark)
        source = cleanup.enter_context(closing(records))
        made = make_release(
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
            kept=kept,
        )
        cleanup.callback(made.staged.discard)
        staging = stage_further(made.prepared, made.found, made.result, further, file)
        written = [cleanup.enter_context(each) for each in staging]
        observe(Phase("publish"))
        result = made.result.published(made.staged.publish())
        with after_publishing(result.output):
            if log is not None:
                log.publish()
            for staged in written:
                staged.publish()
    observe(Released(result, partial(_other_recoding, made)))
    return result


@dataclass(frozen=True, eq=False)
class Made:
    """A verified release that nobody sees yet, its result, and what it was made from."""

    staged: Staged
    result: ShownResult
    prepared: Prepared
    found: Found


def release(
    definition: Definition,
    source: Source,
    target: Target | None,
    observe: Observer,
    **options: Any,
) -> tuple[Staged, ShownResult]:
    """A verified release that nobody sees yet, and its result; the options of `make_release`."""
    made = make_release(definition, source, target, observe, **options)
    return made.staged, made.result


def make_release(
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
    kept: KeptSearch | None = None,
) -> Made:
    """A verified release that nobody sees yet; an error when it is not safe.

    A `proof` is staged too, unless the search was stopped before it was done, or a person chose
    another `node` than the best one. `kept` is an earlier search for a local recoding, whose best
    is released. `spark` is the session for a target of Spark, else one is made.
    """
    watch = Stopwatch()
    observe(Phase("read", source.name))
    prepared = prepare(definition, source, target, file=file, local=True)
    if definition.recoding == "local":
        check_options(definition, {"node": node})
        check_local(prepared)
        refuse_unproved(prepared, proof)
    fingerprint = source.fingerprint()
    watch.lap("read")

    problem = prepared.problem
    settings = prepared.definition.search if kept is not None else within_memory(prepared)
    chosen = None if node is None else judge_node(problem, node_of(prepared.table, node))
    observe(Phase("search", search_detail(prepared)))
    history = History(observe)
    if kept is not None:
        last = recall(kept, prepared, source.name, history)
    else:
        last = find(prepared, settings, history, keep_best=keep_best, proof=proof)
    best, choice = last.best, None
    if chosen is not None:
        best = chosen
        last, choice = compare_with_best(prepared.table, chosen, last)
    about = about_run(prepared, source, last, watch, history, fingerprint)
    watch.lap("search")
    if best is None:
        raise _without_solution(problem, about)
    if proof is not None:
        is_best = choice is None or tuple(choice.levels.values()) == best.node
        stage_proof(proof, prepared, best, about, is_proved=isinstance(last, Proved) and is_best)
    found = found_of(problem, best, about, choice)
    staged, result = write_release(prepared, found, source, target, observe, ask=ask, spark=spark)
    return Made(staged, result, prepared, found)


def prepare(
    definition: Definition,
    source: Source,
    target: Target | None = None,
    *,
    file: str,
    domain: Mapping[str, Mapping[str, int]] | None = None,
    local: bool = False,
) -> Prepared:
    """Match the definition with the columns, count the distinct tuples, state the problem.

    Refuses here, before the search, what could not be written to the target after it. `domain` are
    the values of quasi-identifiers in the table that the source was selected from, with their
    records: hierarchies are made for all of them. Unless the caller knows `local` recoding, a
    definition that says so is refused.
    """
    if definition.recoding == "local" and not local:
        raise full_domain_only("this command")
    columns = tuple(column.name for column in source.columns())
    with_roles = against_columns(definition, columns, source.name, file)
    check_columns(source, target, with_roles.names("quasi-identifier", "sensitive", "keep"))
    with open_population(with_roles) as population:
        counted = collapse(with_roles, source, population, domain=domain)
        of_population = None if population is None else population.fingerprint()
    filled, table = counted.definition, counted.table
    problem = problem_of(filled, table, models=models_of(filled), loss=loss_of(filled))
    if target is not None:
        check_records(target, table.records - problem.limit)
    return Prepared(with_roles, filled, columns, table, counted.values, problem, of_population)


def search_detail(prepared: Prepared) -> str:
    """What is searched, as people read it."""
    tuples = f"{prepared.table.tuples:,} tuples"
    if prepared.definition.recoding == "local":
        return f"{tuples} to be recoded locally"
    return f"{tuples}, {prepared.problem.nodes:,} nodes"


def load(definition: DefinitionLike) -> Definition:
    """A definition from a path, a mapping or a model."""
    if isinstance(definition, str | Path):
        return read(Path(definition))
    if isinstance(definition, Mapping):
        return from_mapping(definition)
    if not isinstance(definition, Definition):
        what = f"a {type(definition).__name__} is no definition"
        remedy = "give a path or a mapping; records in memory go to shoal.anonymize(frame, ...)"
        raise BadDefinition("definition", [Mistake("definition", what, remedy)])
    return definition


def _other_recoding(made: Made) -> str | None:
    """What the other recoding would have lost, where that is known."""
    from shoal.steps.other_recoding import other_recoding

    return None if made.found.choice else other_recoding(made.prepared, made.found.best)


def _target(definition: Definition, file: str) -> Target:
    """Where the definition says that the release goes."""
    if definition.output is None:
        remedy = "say where to write: `output: out.csv`"
        raise BadDefinition(file, [Mistake("output", "is missing", remedy)])
    return definition.output.target()


def _without_solution(problem: Problem, about: Run) -> Infeasible:
    """Why nothing can be released, with the record of the run."""
    local = about.definition.recoding == "local"
    failure = no_solution(problem, about.last, local=local)
    top = problem.partition(problem.lattice.top)
    failure.result = build_failure(about, failure, top.counts)
    return failure

"""The whole run on one page: read, search, release, verify, publish. Read this first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping, read
from shoal.encode.table import encode, fill_hierarchies
from shoal.engines.files import open_files
from shoal.engines.staged import check_target
from shoal.errors import BadData, BadDefinition, BadOutput, Mistake, Refused
from shoal.events import Event, Phase, Progress, Proved, Released
from shoal.proof.format import Climb, subject_of
from shoal.proof.log import ProofLog
from shoal.release.recode import recoding
from shoal.report.build import Stopwatch, build_result
from shoal.search.run import problem_of, search
from shoal.verify.judge import verify
from shoal.verify.recount import distinct_values
from shoal.verify.source_facts import source_facts

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import FileTarget, Source, Staged
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
) -> Result:
    """Release what a definition says, and return what was done.

    The output appears only after the verifier has counted it afresh and found it safe; after any
    error, the old output or none is there. `observe` is called with every event. `keep_best` lets a
    keyboard interrupt during the search release the best safe node found so far. `proof` is where
    to write why no node is better; a search that is stopped early writes none. `file` is what
    messages call the definition, by default its path.
    """
    file = file or (str(definition) if isinstance(definition, str | Path) else "definition")
    definition = load(definition)
    if definition.output is None:
        raise BadDefinition(
            file, [Mistake("output", "is missing", "say where to write: `output: out.csv`")]
        )
    target = definition.output.target()
    check_target(target)
    with ExitStack() as cleanup:
        log = None if proof is None else cleanup.enter_context(_proof_log(definition, Path(proof)))
        source = open_files(definition.source.options(), expect=set(definition.attributes))
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
    target: FileTarget | None,
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
    quasi_identifiers, missing = definition.quasi_identifiers, definition.missing.values
    counted = source.count_by(quasi_identifiers + definition.sensitive, missing)
    if not counted.num_rows:
        raise BadData(
            f"{source.name} has no records", code="no-records", hint="see that it is the right one"
        )
    filled = fill_hierarchies(definition, counted)
    table = encode(filled, counted)
    watch.lap("read")

    problem = problem_of(filled, table, models_of(filled), loss_of(filled))
    observe(Phase("search", f"{table.tuples:,} tuples, {problem.lattice.nodes:,} nodes"))
    last: Progress = search(problem, filled.search, observe, keep_best=keep_best, log=proof)
    assert last.best is not None  # search raises when it found none  # noqa: S101
    if proof is not None and isinstance(last, Proved):
        climbs = [Climb(a.name, a.height, a.limit, a.priority) for a in table.attributes]
        about = subject_of(filled, climbs, table.records, table.removed, source.fingerprint())
        proof.stage(about, last.best)
    node = last.best.node
    classes = problem.partition(node)
    watch.lap("search")

    observe(Phase("release"))
    plan = recoding(filled, columns, table, node, classes.class_of, classes.kept)
    staged = source.recode_into(plan, target)
    watch.lap("release")
    try:
        observe(Phase("verify"))
        levels = dict(zip(quasi_identifiers, node, strict=True))
        with closing(staged.source()) as written:
            verdict = verify(
                filled,
                written,
                levels=levels,
                columns=columns,
                values=distinct_values(counted, quasi_identifiers),
                **source_facts(filled, source),
            )
        watch.lap("verify")
        refuse_unless_safe(verdict)
        result = build_result(
            definition=definition,
            filled=filled,
            table=table,
            models=problem.models,
            lattice=problem.lattice.nodes,
            limit=problem.limit,
            last=last,
            best=last.best,
            losses=problem.objective.attribute_losses(node, classes),
            released=classes.released(),
            weights=table.weights * classes.kept[classes.class_of],
            verified=verdict.safe,
            fingerprint=source.fingerprint(),
            watch=watch,
        )
    except BaseException:
        staged.discard()
        raise
    return staged, result


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

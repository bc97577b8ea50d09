"""`shoal.apply`: recode new records as an earlier release was, and verify what is written.

The transformation is a definition whose quasi-identifiers have one level each, or the classes of a
local recoding. So the steps of any release apply: prepare, warn, recode, verify, publish. There is
nothing to search for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from shoal.applying.applied import Applied
from shoal.applying.known import recode_known, without_unknown
from shoal.applying.matching import (
    check_labels,
    match_columns,
    refuse_unknown,
    unknown_values,
    values_of,
)
from shoal.applying.opening import (
    check_written_apart,
    definition_of,
    earlier_release,
    opened_data,
    opened_release,
)
from shoal.applying.placing import placed_at, placed_locally
from shoal.applying.together import (
    check_release,
    judge_together,
    refuse_persons,
    refuse_same_data,
)
from shoal.calling.opened import is_named
from shoal.calling.public import public
from shoal.engines.base import StagedFrame
from shoal.engines.local_files import FOLDER, owned, temporary_folder
from shoal.engines.opening import check_apart, check_target, one_session
from shoal.errors import BadData, Infeasible
from shoal.events import History, Phase, Proved, Released
from shoal.pipeline import ignore, prepare
from shoal.recoding.local.solution import LocalBest
from shoal.release.transformation import read_transformation
from shoal.report.result import Stopwatch
from shoal.steps.local_release import local_levels
from shoal.steps.releasing import Found, about_run, judge_alone, write_release

if TYPE_CHECKING:
    from shoal.applying.placing import Placed
    from shoal.calling.argument_types import Frame, Location, SourceLike, SparkSession
    from shoal.definition.model import Definition
    from shoal.engines.base import Source, Staged
    from shoal.engines.options import Target
    from shoal.release.transformation import Transformation
    from shoal.steps.releasing import Observer, Prepared

APPLIED = "applied"
"""The status of a result: the node was not searched for."""


@overload
def apply(
    transformation: str | Path,
    data: Frame,
    output: None = ...,
    *,
    release: SourceLike | None = ...,
    suppress_new: bool = ...,
    observe: Observer | None = ...,
    spark: SparkSession | None = ...,
) -> Applied[Frame]: ...


@overload
def apply(
    transformation: str | Path,
    data: SourceLike,
    output: Location,
    *,
    release: SourceLike | None = ...,
    suppress_new: bool = ...,
    observe: Observer | None = ...,
    spark: SparkSession | None = ...,
) -> Applied[None]: ...


@public("apply")
def apply(
    transformation: str | Path,
    data: SourceLike,
    output: Location | None = None,
    *,
    release: SourceLike | None = None,
    suppress_new: bool = False,
    observe: Observer | None = None,
    spark: SparkSession | None = None,
) -> Applied[Any]:
    """Recode new records with the levels and labels of an earlier release, and verify them.

    In local recoding a new record gets the labels of the finest released class that covers it.

    Args:
        transformation: The file that `shoal.run(..., transformation=...)` wrote.
        data: The new records: a path or glob, what a definition says of a source (such as
            `{"url": ..., "table": ...}`), or a frame.
        output: Where to write, as in a definition: a path, or such a mapping. A frame may be
            released without one: then `frame` of what is returned is the release, with the types
            that `shoal.anonymize` gives.
        release: An earlier release, given like the data. The new records are then judged together
            with it: they may hide in its classes.
        suppress_new: Suppress records with values that have no label, and classes that do not meet
            the demands, as far as the suppression limit of the definition allows. Otherwise they
            are errors, unless the data is the very file that the transformation was made from.
        observe: Called with every event.
        spark: The session for what is read or written in Spark, else one is made.

    Returns:
        What was done: `result`, `unknown`, `together` and `frame`.

    Raises:
        BadData: for a file that is no transformation, other columns, values without a label.
        Infeasible: when classes of new records do not meet the demands.

    Example:
        >>> result = shoal.run("patients.yaml", transformation="recoding.json")
        >>> applied = shoal.apply("recoding.json", "patients.csv", "again.csv")
        >>> applied.result.verified, applied.result.levels == result.levels
        (True, True)
    """
    observe = observe or ignore
    found = read_transformation(Path(transformation))
    with ExitStack() as cleanup:
        private = tempfile.TemporaryDirectory(prefix=owned(FOLDER), dir=temporary_folder())
        folder = Path(cleanup.enter_context(private))
        definition = definition_of(found, data, output, folder)
        check_written_apart(definition, Path(transformation), release)
        target = None if definition.output is None else definition.output.target()
        if target is None and is_named(data):
            raise _no_output()
        earlier = None if release is None else earlier_release(release)
        if target is not None:
            read = [definition.source] * is_named(data) + ([earlier] if earlier else [])
            options = [each.options() for each in read]
            cleanup.enter_context(one_session(options, target, spark=spark))
            for each in options:
                check_apart(each, target, spark=spark)
            check_target(target, spark=spark)
        source = cleanup.enter_context(closing(opened_data(definition, data, observe, spark)))
        job = Job(found, definition, suppress_new, observe, spark)
        with ExitStack() as reading:
            old = None
            if release is not None:
                refuse_persons(definition)
                opened = opened_release(release, definition, spark)
                old = reading.enter_context(closing(opened))
            staged, applied = job.release(source, old, target)
        cleanup.callback(staged.discard)
        observe(Phase("publish"))
        applied = replace(applied, result=applied.result.published(staged.publish()))
        if isinstance(staged, StagedFrame):
            result = replace(applied.result, output=None)
            applied = replace(applied, result=result, frame=staged.frame())
    observe(Released(applied.result))
    return applied


@dataclass(frozen=True, eq=False)
class Job:
    """A transformation to apply: the definition that states it, and what may be suppressed."""

    found: Transformation
    definition: Definition
    suppress_new: bool
    observe: Observer
    spark: Any

    def release(
        self, source: Source, earlier: Source | None, target: Target | None
    ) -> tuple[Staged, Applied[Any]]:
        """The new records recoded and verified, where nobody sees them yet."""
        watch = Stopwatch()
        self.observe(Phase("read", source.name))
        columns = [column.name for column in source.columns()]
        definition = match_columns(self.definition, columns, source.name, self.found.name)
        if earlier is not None:
            refuse_same_data(source, self.found.checksums.get("input"))
            check_release(definition, earlier)
        numbers = self._numbers(definition, source)
        known, left_out = self._known(definition, source, numbers)
        definition = definition.model_copy(update={"suppression": numbers.allowed - left_out})
        prepared = prepare(definition, known, target, file=self.found.name, local=True)
        prepared = replace(prepared, columns=_in_order(prepared.columns, self.found.columns))
        check_labels(prepared, self.found)
        placed = self._placed(prepared, known, earlier)
        watch.lap("read")

        if placed.best is None:
            raise self._too_many(placed, numbers.allowed - left_out, alone=earlier is None)
        last = Proved(placed.best, placed.best.loss, 1, 0, 0.0)
        about = about_run(prepared, known, last, watch, History(ignore), known.fingerprint())
        local = None
        if isinstance(placed.best, LocalBest):
            local = local_levels(prepared.problem, placed.best)
        watch.lap("search")
        staged, result = write_release(
            prepared,
            Found(placed.best, placed.classes, about, local=local),
            known,
            target,
            self.observe,
            recode=recode_known,
            judge=judge_alone if earlier is None else judge_together(earlier),
            spark=self.spark,
            open_to_change=self._open_to_change(),
        )
        result = replace(
            result,
            status=APPLIED,
            records=numbers.records,
            removed=numbers.records - numbers.judged,
            suppressed=result.suppressed + left_out,
            suppression_limit=numbers.allowed,
        )
        union = placed.union
        if union is not None:
            result = union.in_result(result)
        both = None if union is None else union.together
        return staged, Applied(result, self.found.name, left_out, both)

    def _open_to_change(self) -> list[str]:
        """The quasi-identifiers that the first release did not hold at level 0."""
        given = self.found.definition["attributes"]
        return [
            name
            for name in self.definition.quasi_identifiers
            if not isinstance(given[name], Mapping) or str(given[name].get("limit")) != "0"
        ]

    def _placed(self, prepared: Prepared, source: Source, earlier: Source | None) -> Placed:
        """The classes of the new records, and what they cost."""
        if self.found.classes is not None:
            return placed_locally(prepared, source, self.found.classes, earlier)
        names = prepared.definition.quasi_identifiers
        node = tuple(self.found.levels_of(name)[0] for name in names)
        return placed_at(prepared, source, node, earlier)

    def _numbers(self, definition: Definition, source: Source) -> Numbers:
        """How many records there are, how many of them are judged, and may be suppressed."""
        records, judged = _records(source), _records(source, definition)
        made_from, this = self.found.checksums.get("input"), source.fingerprint()
        may_suppress = self.suppress_new or (this is not None and this == made_from)
        allowed = definition.suppression_limit(judged) if may_suppress else 0
        return Numbers(records, judged, allowed)

    def _known(
        self, definition: Definition, source: Source, numbers: Numbers
    ) -> tuple[Source, int]:
        """The source without records that have a value without a label, and how many these are."""
        counts = values_of(definition, source)
        unknown = unknown_values(definition, self.found, counts)
        fixed = [name for name in unknown if name not in definition.quasi_identifiers]
        if fixed or (unknown and not self.suppress_new):
            hint = "correct the values, or add them to the hierarchy and release anew"
            if not fixed:
                hint += "; with --suppress-new such records are suppressed"
            raise refuse_unknown(source.name, unknown, counts, hint)
        known = without_unknown(source, counts, unknown, definition.missing.values)
        left_out = numbers.judged - _records(known, definition) if unknown else 0
        if left_out > numbers.allowed:
            raise Infeasible(
                f"{left_out:,} of {numbers.judged:,} records have a value without a label, and "
                f"{numbers.allowed:,} may be suppressed; nothing was released",
                code="too-many-unknown",
                hint="correct the values, or add them to the hierarchy and release anew",
            )
        return known, left_out

    def _too_many(self, placed: Placed, limit: int, *, alone: bool) -> Infeasible:
        """The error for classes of new records that do not meet the demands."""
        records = f"{placed.classes.suppressed:,} records"
        said = f"{placed.refused:,} of {placed.number:,} classes of new records do not meet the"
        said += " demands"
        if placed.uncovered:
            records = f"together {records}"
            said += f", and no released class covers {placed.uncovered:,} records"
        hint = "apply it to more records at once"
        if alone:
            hint += ", or together with the earlier release (--with)"
        if not self.suppress_new:
            hint += "; with --suppress-new such classes are suppressed, as far as the limit allows"
        return Infeasible(
            f"{said} ({records}, and {limit:,} may be suppressed); nothing was released",
            code="new-small-classes",
            hint=hint,
        )


@dataclass(frozen=True)
class Numbers:
    """The records of new data, those that are judged, and those that may be suppressed."""

    records: int
    judged: int
    allowed: int


def _records(source: Source, definition: Definition | None = None) -> int:
    """The records of a source; with a definition only those that it judges."""
    if definition is None or definition.missing.match != "basic":
        return int(source.count_by(()).column(0)[0].as_py())
    known = definition.quasi_identifiers
    counted = source.count_by((), definition.missing.values, complete=known)
    return int(counted.column(0)[0].as_py())


def _in_order(columns: Sequence[str], first: Sequence[str]) -> tuple[str, ...]:
    """The columns in the order of the earlier source, then the others."""
    known = [name for name in first if name in columns]
    return (*known, *(name for name in columns if name not in known))


def _no_output() -> BadData:
    return BadData(
        "it is not said where to write the release",
        code="no-output",
        hint="give an output; only a frame can be released without one",
    )

"""The result of a run: put together from what was found, and written as JSON for scripts."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import platform
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from shoal.definition.demands import loss_of
from shoal.definition.write import to_mapping
from shoal.engines.local_files import write_whole
from shoal.events import Progress, Proved
from shoal.loss.base import CellLoss
from shoal.privacy.base import meets, reaches
from shoal.report.counts import class_sizes, columns_of, exposure_of, treatment
from shoal.report.drawing import Drawing, arrange
from shoal.report.pictures import of_result
from shoal.report.render import html_card, plain_sections
from shoal.report.sections import answers, safety
from shoal.report.shown import Picture, data_frame
from shoal.values import Best, Counts, Demand, Failure, Result, Treatment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas  # type: ignore[import-untyped]

    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.errors import Infeasible
    from shoal.privacy.base import PrivacyModel
    from shoal.values import Caution, Choice, Ints, Moment, Node


class ShownResult(Result):
    """The result that a run returns: text at Python's prompt, a card in a notebook.

    `to_pandas` has a row for each quasi-identifier; `plot` draws risk, class sizes, losses and the
    progress of the search below each other.
    """

    def to_pandas(self) -> pandas.DataFrame:
        """What was done to each quasi-identifier, as a pandas data frame."""
        columns = ("level", "height", "loss", "left_out", "information_loss", "priority", "example")
        return data_frame(
            [
                {"attribute": name, **{column: getattr(each, column) for column in columns}}
                for name, each in self.treatments.items()
            ]
        )

    def plot(self) -> Picture:
        """The pictures of the release."""
        drawn = of_result(self)
        said = "Nothing was released." if self.failure is not None else safety(self)
        if not drawn:
            drawn = [Drawing(said, said, "", 0)]
        return Picture(arrange(drawn, "Release", said).svg)

    def __repr__(self) -> str:
        return plain_sections(answers(self))

    def _repr_html_(self) -> str:
        return html_card(answers(self), verified=self.verified)


class Stopwatch:
    """Seconds of each step of a run, in order, and of the whole."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """The step `name` ends now."""
        now = time.perf_counter()
        self._laps[name] = round(now - self._last, 6)
        self._last = now

    def seconds(self) -> dict[str, float]:
        """All steps so far, and the total."""
        return {**self._laps, "total": round(self._last - self._started, 6)}


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """What a run rests on, whether it ends with a release or without one.

    `definition` is as it was given, `filled` has the proposed hierarchies; `last` is the last event
    of the search and `progress` some of its moments, `sources` are the records of each source,
    `before` the classes of the source, None where they are too many to count.
    """

    definition: Definition
    filled: Definition
    table: Table
    models: Sequence[PrivacyModel]
    lattice: int
    limit: int
    last: Progress
    fingerprint: str | None
    sources: Mapping[str, int]
    watch: Stopwatch
    before: Counts | None = None
    progress: tuple[Moment, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Release:
    """What was released: the best node, what each attribute lost there, the released classes.

    `weights` are the released records of each tuple, `levels` its level of each attribute. In local
    recoding `records_at` has the released records at each level of each attribute, and `node` the
    highest of these levels.
    """

    best: Best
    node: Node
    losses: Sequence[float]
    classes: Counts
    weights: Ints
    levels: Ints
    records_at: Mapping[str, Mapping[int, int]] | None = None


def build_result(
    run: Run,
    released: Release,
    warnings: tuple[Caution, ...],
    *,
    verified: bool,
    chosen: Choice | None = None,
) -> ShownResult:
    """What a run did; `chosen` where a person chose the node."""
    best, quasi_identifiers = released.best, run.definition.quasi_identifiers
    treated = treatments(run, released)
    return _result(
        run,
        status="optimal" if isinstance(run.last, Proved) else "feasible",
        loss=best.loss,
        bound=run.last.bound,
        gap=run.last.gap,
        levels=released.records_at or dict(zip(quasi_identifiers, released.node, strict=True)),
        suppressed=best.suppressed,
        classes=best.classes,
        smallest_class=best.smallest_class,
        verified=verified,
        privacy=demands_met(run.models, released.classes),
        treatments=treated,
        weighted_information_loss=sum(t.priority * t.information_loss for t in treated.values()),
        class_sizes=class_sizes(released.classes.sizes),
        smallest_class_persons=_fewest_persons(released.classes),
        failure=None,
        warnings=warnings,
        after=exposure_of(released.classes, run.definition.k),
        chosen=chosen,
    )


def build_failure(run: Run, failure: Infeasible, top: Counts) -> ShownResult:
    """What a run did that ended without a release; `top` are the most general classes."""
    return _result(
        run,
        status="infeasible",
        loss=math.inf,
        bound=math.inf if isinstance(run.last, Proved) else run.last.bound,
        gap=math.inf,
        levels={},
        suppressed=0,
        classes=0,
        smallest_class=0,
        verified=False,
        privacy=demands_met(run.models, top),
        treatments={},
        weighted_information_loss=math.inf,
        class_sizes=(),
        failure=Failure(failure.reasons, failure.remedies),
    )


def _result(run: Run, **outcome: Any) -> ShownResult:
    """The outcome with what it rests on."""
    given = run.definition
    proposed = [name for name in given.quasi_identifiers if not given.attributes[name].hierarchy]
    written = to_mapping(run.filled)["attributes"]
    return ShownResult(
        records=run.table.records + run.table.removed,
        removed=run.table.removed,
        sources=run.sources,
        persons=None if run.table.persons is None else run.table.persons.number,
        tuples=run.table.tuples,
        lattice=run.lattice,
        raised=_raised(run.table),
        checked=run.last.checked,
        boxes=run.last.boxes,
        strategy=given.search.strategy if given.recoding == "full-domain" else "local",
        recoding=given.recoding,
        seconds=run.watch.seconds(),
        output=None,
        input_sha256=run.fingerprint,
        versions=versions(),
        loss_model=given.loss.name,
        suppression_limit=run.limit,
        hierarchies={name: written[name]["hierarchy"] for name in proposed},
        before=None if run.before is None else exposure_of(run.before, given.k),
        progress=run.progress,
        **outcome,
    )


def _fewest_persons(classes: Counts) -> int | None:
    """The persons of the class with the fewest; None where records are counted."""
    return int(classes.members[None].min()) if classes.members else None


def _raised(table: Table) -> dict[str, int]:
    """The attributes whose lowest levels no solution can use, with the lowest that was counted."""
    return {
        attribute.name: level
        for attribute, level in zip(table.attributes, table.bottom, strict=True)
        if level > attribute.lowest
    }


def versions() -> dict[str, str]:
    """What computed this: Shoal and what it rests on."""
    names = ("shoal", "duckdb", "numpy", "pyarrow")
    return {"python": platform.python_version(), **{name: _version(name) for name in names}}


@functools.cache
def _version(name: str) -> str:
    """The version of a distribution; reading its metadata takes some milliseconds."""
    return version(name)


def demands_met(models: Sequence[PrivacyModel], released: Counts) -> tuple[Demand, ...]:
    """What each model demanded, and what the released classes reach."""
    return tuple(
        Demand(
            model.name,
            model.attribute,
            model.demanded(),
            reaches(model, released),
            meets(model, released),
        )
        for model in models
    )


def treatments(run: Run, released: Release) -> dict[str, Treatment]:
    """What was done to each quasi-identifier.

    By a cell loss a suppressed record loses everything in every column; other losses do not say
    what it loses in a column.
    """
    given, levels = run.definition, released.levels
    columns = columns_of(run.table, released.node, released.weights, given.k, levels)
    by_cells = isinstance(loss_of(run.filled), CellLoss)
    left_out = released.best.suppressed / run.table.records if by_cells else 0.0
    return {
        column.attribute.name: treatment(
            column,
            loss,
            left_out,
            proposed=given.attributes[column.attribute.name].hierarchy is None,
            records_at=(released.records_at or {}).get(column.attribute.name),
        )
        for column, loss in zip(columns, released.losses, strict=True)
    }


def to_dict(result: Result) -> dict[str, Any]:
    """The fields of a result as plain values; infinity becomes None."""
    plain: dict[str, Any] = finite(dataclasses.asdict(result))
    return plain


def to_json(result: Result) -> str:
    """The result as JSON text."""
    return json.dumps(to_dict(result), indent=2, ensure_ascii=False) + "\n"


def write_result(result: Result, path: Path) -> None:
    """Write the JSON in one step."""
    write_whole(to_json(result), path)


def finite(value: Any) -> Any:
    """A plain value with None in place of what JSON cannot hold: infinity, and no number."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

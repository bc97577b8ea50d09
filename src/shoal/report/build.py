"""Putting the result of a run together."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from shoal.definition.write import to_mapping
from shoal.events import Progress, Proved
from shoal.values import Best, Counts, Demand, Result, Treatment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute, Table
    from shoal.privacy.base import PrivacyModel
    from shoal.values import Ints, Node


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


def build_result(
    *,
    definition: Definition,
    filled: Definition,
    table: Table,
    models: Sequence[PrivacyModel],
    lattice: int,
    limit: int,
    last: Progress,
    best: Best,
    losses: Sequence[float],
    released: Counts,
    weights: Ints,
    verified: bool,
    fingerprint: str | None,
    watch: Stopwatch,
) -> Result:
    """What a run did.

    `definition` is as it was given, `filled` has the proposed hierarchies; `released` are the
    released classes, `weights` the released records of each tuple.
    """
    proposed = [
        name for name in definition.quasi_identifiers if not definition.attributes[name].hierarchy
    ]
    written = to_mapping(filled)["attributes"]
    return Result(
        status="optimal" if isinstance(last, Proved) else "feasible",
        loss=best.loss,
        bound=last.bound,
        gap=last.gap,
        levels=dict(zip(definition.quasi_identifiers, best.node, strict=True)),
        records=table.records + table.removed,
        removed=table.removed,
        suppressed=best.suppressed,
        classes=best.classes,
        smallest_class=best.smallest_class,
        tuples=table.tuples,
        lattice=lattice,
        checked=last.checked,
        boxes=last.boxes,
        strategy=definition.search.strategy,
        seconds=watch.seconds(),
        verified=verified,
        privacy=demands_met(models, released),
        output=None,
        input_sha256=fingerprint,
        versions=versions(),
        loss_model=definition.loss.name,
        suppression_limit=limit,
        treatments=treatments(definition, table, best.node, losses, weights),
        hierarchies={name: written[name]["hierarchy"] for name in proposed},
    )


def versions() -> dict[str, str]:
    """What computed this: Shoal and what it rests on."""
    names = ("shoal", "duckdb", "numpy", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def demands_met(models: Sequence[PrivacyModel], released: Counts) -> tuple[Demand, ...]:
    """What each model demanded, and what the released classes reach."""
    return tuple(
        Demand(
            model.name,
            model.attribute,
            model.demanded(),
            model.reached(released),
            bool(model.satisfied(released).all()),
        )
        for model in models
    )


def treatments(
    definition: Definition, table: Table, node: Node, losses: Sequence[float], weights: Ints
) -> dict[str, Treatment]:
    """What was done to each quasi-identifier."""
    return {
        attribute.name: Treatment(
            level=level,
            height=attribute.height,
            loss=loss,
            example=_example(attribute, level, codes, weights),
            proposed=definition.attributes[attribute.name].hierarchy is None,
        )
        for attribute, codes, level, loss in zip(
            table.attributes, table.codes, node, losses, strict=True
        )
    }


def _example(attribute: Attribute, level: int, codes: Ints, weights: Ints) -> str:
    """The most frequent released label: one that only suppressed records have is never shown."""
    if level == 0:
        return "unchanged"
    groups = np.bincount(attribute.groups[level][codes], weights=weights)
    return attribute.labels(level)[int(groups.argmax())].as_py() or "missing"

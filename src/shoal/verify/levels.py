"""Whether all values of a quasi-identifier are at one level of its hierarchy.

In local recoding a column has labels of several levels: each must be of one that is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.definition.model import (
    Attribute,
    Csv,
    Cuts,
    Dates,
    Groups,
    Hierarchy,
    Intervals,
    Mask,
    Suppress,
    Taxonomy,
)
from shoal.errors import BadHierarchy
from shoal.values import Finding
from shoal.verify.labels.built import DateLabels, MaskLabels, SuppressLabels
from shoal.verify.labels.groups import GroupLabels
from shoal.verify.labels.listed import RebuiltLabels, file_labels, tree_labels
from shoal.verify.labels.ranges import CutLabels, IntervalLabels

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shoal.measure.classes import ColumnCount
    from shoal.values import StatedLevels
    from shoal.verify.labels.built import Labels


def labels_of(spec: Hierarchy, values: Collection[str] | None = None) -> Labels:
    """What the labels of a hierarchy look like; `values` are the source's, where they are known.

    The verifier has its own code for the kinds of Shoal; any other kind builds its rows again.
    """
    match spec:
        case Csv():
            return file_labels(spec)
        case Taxonomy():
            return tree_labels(spec)
        case Suppress():
            return SuppressLabels(values)
        case Mask():
            return MaskLabels(spec, values)
        case Intervals():
            return IntervalLabels(spec, values)
        case Cuts():
            return CutLabels(spec, values)
        case Dates():
            return DateLabels(spec, values)
        case Groups():
            return GroupLabels(spec, values)
        case _:
            return RebuiltLabels(spec, values)


def judge_level(
    attribute: Attribute,
    column: ColumnCount,
    stated: StatedLevels | None,
    values: Collection[str] | None = None,
    *,
    local: bool = False,
    complete: bool = True,
) -> Finding:
    """The finding about one quasi-identifier: throughout at the stated level, else at any one.

    With `local` recoding each label by itself is at one of the levels, and where the records at
    each level are stated, the labels can be divided so among the levels that each has its records.
    The `column` is not `complete` where a class may look like suppressed records that are marked:
    then the stated records are not compared.
    It states numbers of labels and records, never a label: what does not fit may be a raw value.
    """
    name = f"level of {column.name}"
    if attribute.hierarchy is None:
        return Finding(name, True, "not judged: the definition gives no hierarchy")
    try:
        labels = labels_of(attribute.hierarchy, values)
    except BadHierarchy as error:
        return Finding(name, False, f"not judged: {error.what}")
    allowed = allowed_levels(attribute, labels)
    if local:
        return _judge_mixed(name, labels, column, allowed, stated, complete=complete)
    if stated is not None and not isinstance(stated, int):
        return Finding(name, False, "several levels are stated, but the recoding is full-domain")
    if stated is None:
        return _infer(name, labels, column, allowed)
    if stated not in allowed:
        which = f"levels {allowed.start} to {allowed.stop - 1} are allowed"
        return Finding(name, False, f"level {stated} is stated, but {which}")
    fault = _fault(labels, column, stated)
    return Finding(name, not fault, fault or f"{_seen(column)} at level {stated}")


def only_level(
    attribute: Attribute, column: ColumnCount, values: Collection[str] | None = None
) -> int | None:
    """The only level that fits the whole column; None if several fit, or none, or unknown."""
    if attribute.hierarchy is None:
        return None
    labels = labels_of(attribute.hierarchy, values)
    fitting = [
        each for each in allowed_levels(attribute, labels) if not _fault(labels, column, each)
    ]
    return fitting[0] if len(fitting) == 1 else None


def allowed_levels(attribute: Attribute, labels: Labels) -> range:
    """The levels that the definition and the hierarchy allow."""
    limit = labels.height if attribute.limit is None else min(attribute.limit, labels.height)
    return range(attribute.lowest, limit + 1)


def _infer(name: str, labels: Labels, column: ColumnCount, allowed: range) -> Finding:
    """Some level must fit the whole column; else the finding states what is wrong nearest."""
    faults = {level: _fault(labels, column, level) for level in allowed}
    fitting = [str(level) for level, fault in faults.items() if not fault]
    if fitting:
        return Finding(name, True, f"{_seen(column)} at level {' or '.join(fitting)}")
    if not faults:
        return Finding(name, False, f"the hierarchy has no level from {allowed.start} on")
    nearest = min(faults, key=lambda level: len(labels.misfits(level, column.labels)))
    which = f"{allowed.start} to {allowed.stop - 1}"
    return Finding(name, False, f"no level of {which} fits; nearest: {faults[nearest]}")


def _judge_mixed(
    name: str,
    labels: Labels,
    column: ColumnCount,
    allowed: range,
    stated: StatedLevels | None,
    *,
    complete: bool,
) -> Finding:
    """Every label, and missing, is of some level; `stated` levels are those, with their records."""
    if isinstance(stated, int):
        return Finding(name, False, "one level is stated, but the recoding is local")
    levels = list(allowed if stated is None else stated)
    others = [level for level in levels if level not in allowed]
    if others:
        which = f"levels {allowed.start} to {allowed.stop - 1} are allowed"
        return Finding(name, False, f"level {others[0]} is stated, but {which}")
    fitting = _fitting(labels, column, levels)
    lost = [(cell, n) for cell, (n, found) in fitting.items() if not found]
    if lost:
        records = sum(n for _, n in lost)
        which = ", ".join(map(str, levels))
        what = f"{_of(len(lost), 'label')} ({_of(records, 'record')})"
        return Finding(name, False, f"{what} at none of the levels {which}")
    for level, records in (stated or {}).items() if complete else ():
        least = sum(n for n, found in fitting.values() if found == {level})
        most = sum(n for n, found in fitting.values() if level in found)
        if not least <= records <= most:
            saw = f"{records:,} records are stated at level {level}, but {least:,} to {most:,} fit"
            return Finding(name, False, saw)
    return Finding(name, True, f"{_seen(column)}, each at a level of its hierarchy")


def _fitting(
    labels: Labels, column: ColumnCount, levels: Sequence[int]
) -> dict[str | None, tuple[int, set[int]]]:
    """The records and the levels of each label, and of missing, which is None."""
    pairs = zip(column.labels, column.counts, strict=True)
    found: dict[str | None, tuple[int, set[int]]] = {label: (n, set()) for label, n in pairs}
    if column.missing:
        found[None] = (column.missing, set())
    for level in levels:
        wrong = set(labels.misfits(level, column.labels))
        fits = [label for label in column.labels if label not in wrong]
        for label in fits:
            found[label][1].add(level)
        if column.missing and not labels.single(level, fits):
            found[None][1].add(level)
    return found


def _fault(labels: Labels, column: ColumnCount, level: int) -> str:
    """What does not fit this level, empty when everything does."""
    wrong = set(labels.misfits(level, column.labels))
    if wrong:
        pairs = zip(column.labels, column.counts, strict=True)
        records = sum(count for label, count in pairs if label in wrong)
        return f"{_of(len(wrong), 'label')} ({_of(records, 'record')}) not at level {level}"
    if column.missing and labels.single(level, column.labels):
        missing = _of(column.missing, "missing value")
        return f"{missing} at level {level}, where missing becomes its single value"
    return ""


def _seen(column: ColumnCount) -> str:
    missing = f" and {_of(column.missing, 'missing value')}" if column.missing else ""
    return _of(len(column.labels), "label") + missing


def _of(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

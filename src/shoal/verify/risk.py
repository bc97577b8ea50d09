"""The risk of a whole release, counted from its classes: the average, and records at high risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from shoal.values import Finding
from shoal.verify.models import TOLERANCE, at_most

TableJudge: TypeAlias = Callable[[str, Mapping[str, Any], Sequence[int]], Finding]
"""Judges the sizes of all classes by the parameters of a demand; the first is its name."""


def average_risk(name: str, parameters: Mapping[str, Any], sizes: Sequence[int]) -> Finding:
    """Classes / records is at most the average."""
    most, classes, records = float(parameters["average"]), len(sizes), sum(sizes)
    reached = classes / records if records else 0.0
    saw = f"{classes:,} classes of {records:,} records: {reached:.6g}; at most {most:g} demanded"
    return Finding(name, at_most(classes, most * records), saw)


def records_above(name: str, parameters: Mapping[str, Any], sizes: Sequence[int]) -> Finding:
    """The records with a risk above the threshold are at most a share of all."""
    threshold, most = float(parameters["threshold"]), float(parameters["share"])
    above = sum(size for size in sizes if size * threshold < 1 - TOLERANCE)
    records = sum(sizes)
    reached = above / records if records else 0.0
    saw = (
        f"{above:,} of {records:,} records have a risk above {threshold:g}: {100 * reached:.6g} %; "
        f"at most {100 * most:g} % demanded"
    )
    return Finding(name, at_most(above, most * records), saw)


TABLE_JUDGES: Mapping[str, TableJudge] = {
    "average-risk": average_risk,
    "records-above": records_above,
}
"""The judge of each demand on all classes together."""

"""The risk of a whole release, as the verifier counts it."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.values import Finding
from shoal.verify.judge import verify
from verify.rows import definition, source

CITY = {"role": "quasi-identifier", "hierarchy": "suppress"}


def judged(risk: dict[str, Any], *sizes: int) -> Finding:
    """The finding about a demand on a release with classes of these sizes."""
    rows = [(f"city {i}",) for i, size in enumerate(sizes) for _ in range(size)]
    demanded = definition({"city": CITY}, k=2, risk=risk)
    verdict = verify(demanded, source(["city"], rows), records=len(rows))
    (found,) = (each for each in verdict.findings if each.name in ("average-risk", "records-above"))
    return found


@pytest.mark.parametrize(
    ("average", "sizes", "holds"),
    [(0.2, (5, 5), True), (0.2, (4, 5), False), (0.1, (2, 28, 2), True), (0.3, (3, 3), False)],
)
def test_the_average_is_classes_by_records(
    average: float, sizes: tuple[int, ...], holds: bool
) -> None:
    found = judged({"average": average}, *sizes)
    assert found.holds == holds
    assert found.saw.startswith(f"{len(sizes)} classes of {sum(sizes)} records")


@pytest.mark.parametrize(
    ("threshold", "share", "sizes", "holds"),
    [
        (0.2, 0.0, (5, 9), True),
        (0.2, 0.0, (4, 9), False),
        (0.2, 0.05, (4, 76), True),
        (0.2, 0.05, (4, 75), False),
        (0.00002, 0.0, (49_999, 50_000), False),
        (0.00002, 0.0, (50_000, 50_000), True),
    ],
)
def test_records_above_a_threshold_are_those_of_smaller_classes(
    threshold: float, share: float, sizes: tuple[int, ...], holds: bool
) -> None:
    demand = {"records above": {"threshold": threshold, "share": share}}
    assert judged(demand, *sizes).holds == holds

"""No builder puts a value of the data into the label of another value: it may be a rare one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pytest

import shoal
from shoal.definition import model
from shoal.encode.hierarchy import build
from shoal.encode.propose import propose
from shoal.testing import BuilderSuite

NAMES = ["RAREZED", "ann", "annabel", "bea", "cleo", "O'Brien", "zoë", "New York", "New Ulm"]
NUMBERS = ["17", "18", "39", "40", "250000", "1234567", "0.125", "-4000", "999", "1e3"]
DAYS = ["1890-01-02", "1990-03-04", "2001-12-31", "2001-12-30", "2024-02-29"]


@dataclass(frozen=True)
class Ours:
    """One of our builders as a plug-in would be; without a kind the proposed hierarchy."""

    kind: model.Hierarchy | None = None

    def build(self, values: Sequence[str]) -> list[tuple[str, ...]]:
        counts = dict.fromkeys(values, 1)
        return list(build("column", self.kind or propose(sorted(values)), counts).rows())


class TestBuildersOfTexts(BuilderSuite):
    def builders(self) -> Sequence[Ours]:
        kinds = (model.Suppress(), model.Mask(mask=(1, 3)), model.Groups(groups=(2, 4)), None)
        return [Ours(kind) for kind in kinds]

    def values(self) -> Sequence[str]:
        return NAMES


class TestBuildersOfNumbers(BuilderSuite):
    def builders(self) -> Sequence[Ours]:
        kinds = (
            model.Intervals(intervals=(7, 70)),
            model.Intervals(intervals=(7,), bottom=18, top=2000),
            model.Cuts(cuts=((20, 500), (20,))),
            model.Groups(groups=(1, 2, 4)),
            None,
        )
        return [Ours(kind) for kind in kinds]

    def values(self) -> Sequence[str]:
        return NUMBERS


class TestBuildersOfDates(BuilderSuite):
    def builders(self) -> Sequence[Ours]:
        return [Ours(model.Dates(date=("month", "year", "century"))), Ours()]

    def values(self) -> Sequence[str]:
        return DAYS


@dataclass(frozen=True)
class Ends:
    """All values under a label that names the first and the last."""

    def build(self, values: Sequence[str]) -> list[tuple[str, str]]:
        return [(value, f"{min(values)}..{max(values)}") for value in values]


def test_the_suite_finds_a_builder_that_shows_values() -> None:
    class Suite(BuilderSuite):
        def builders(self) -> Sequence[Ends]:
            return [Ends()]

        def values(self) -> Sequence[str]:
            return NAMES

    with pytest.raises(AssertionError, match="shows 'New Ulm' in a label of 'bea'"):
        Suite().test_no_label_shows_another_value_of_the_data()


def test_a_value_of_one_record_is_not_in_a_release_by_groups() -> None:
    names = ["RAREZED"] + ["ann"] * 9 + ["bea"] * 5 + ["cleo"] * 5
    ward = {"role": "quasi-identifier", "hierarchy": {"groups": [2]}, "from": 1}
    table = shoal.anonymize(pa.table({"ward": names}), {}, k=5, attributes={"ward": ward})
    assert set(table.column("ward").to_pylist()) == {"<b", ">=b"}
    assert "RAREZED" not in str(table.to_pylist())

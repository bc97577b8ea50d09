"""Random marts and requests, judged by plain Python: what is released is right, and safe."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mart import oracle
from mart.marts import DrawnMart, DrawnRequest, marts, requests
from mart.oracle import Column, Labels, Release
from shoal import mart
from shoal.errors import Infeasible, ShoalError
from shoal.mart import MartResult

FEW = {"few-persons", "unknown-value"}
"""What is said of selections with fewer than k persons; the second, of a value that few have."""


class Judged:
    """What the oracle says of a request to a mart."""

    def __init__(self, drawn: DrawnMart, asked: DrawnRequest) -> None:
        self.mart, self.asked, self.k = drawn.mart, asked, int(asked.mapping["k"])
        self.columns = [*asked.identifying, *asked.kept]
        conditions = [condition.column[0] for condition in asked.conditions]
        self.used = {*(source for source, _ in self.columns), *conditions}
        self.rows = oracle.joined(drawn.mart, self.used, asked.conditions)
        self.groups = oracle.groups_of(asked.identifying, asked.mapping["scope"])

    @property
    def persons(self) -> int:
        return len({self.mart.person_of(row) for row in self.rows})

    def limits(self) -> dict[Column, int]:
        """The least of the hierarchy's height, the request's limit and the selection's."""
        return {column: self._limit(column) for column in self.asked.identifying}

    def _limit(self, column: Column) -> int:
        ladder = self.mart.ladders[column]
        limit = int(self.asked.mapping["limits"].get(column[1], ladder.height))
        chosen = [c for c in self.asked.conditions if c.column == column]
        if column in self.asked.exact:
            return 0
        if chosen:
            selected = {value for value in ladder.steps if all(c.accepts(value) for c in chosen)}
            limit = min(limit, oracle.limit_by_selection(ladder, selected))
        return min(limit, ladder.height)

    def levels(self, result: MartResult) -> dict[Column, int]:
        found: dict[Column, int] = {}
        for column in self.asked.identifying:
            level = result.levels[column[1]]
            assert isinstance(level, int)
            found[column] = level
        return found

    def is_tied(self) -> bool:
        """Whether ids or kept columns show which rows are of one person."""
        kept = {source for source, _ in self.asked.kept}
        repeated = any(oracle.is_repeated(self.mart, source, self.used) for source in kept)
        return repeated or self.asked.mapping["keys"] == "random"

    def most_removed(self) -> int:
        share = str(self.asked.mapping["suppression"]).rstrip("%")
        return len(self.rows) * int(share) // 100

    def check_release(self, result: MartResult, written: Counter[Labels]) -> Release:
        """Every promise of a release, recounted."""
        levels, limits = self.levels(result), self.limits()
        assert all(levels[column] <= limits[column] for column in levels), (levels, limits)
        passing = oracle.passing(self.mart, self.rows, self.groups, levels, self.k)
        for group in self.groups:
            assert oracle.is_safe(self.mart, passing, group, levels, self.k)
        assert written == oracle.released_rows(self.mart, passing, self.columns, levels)
        assert len(self.rows) - len(passing) <= self.most_removed()
        assert result.rows_selected == len(self.rows)
        assert result.persons_selected == self.persons
        assert result.rows_released == len(passing)
        assert result.rows_suppressed == len(self.rows) - len(passing)
        if self.is_tied():
            for group in self.groups:
                assert not oracle.persons_alone(self.mart, passing, group, levels, self.k)
        if self.asked.identifying:
            every = self.asked.identifying
            assert result.rows_unique == oracle.uniques(self.mart, passing, every, levels)
            before = dict.fromkeys(every, 0)
            assert result.rows_unique_before == oracle.uniques(self.mart, self.rows, every, before)
        if self.most_removed() == 0 and self.asked.mapping["search"]["strategy"] == "box":
            self._check_least_loss(levels, limits)
        return Release(passing, self.asked.identifying, levels, self.k)

    def _check_least_loss(self, levels: Mapping[Column, int], limits: Mapping[Column, int]) -> None:
        given = self.asked.mapping["priorities"]
        weights = {c: Fraction(str(given[c[1]])) for c in self.asked.identifying}
        for group in self.groups:
            least = oracle.least_cost(self.mart, self.rows, group, limits, weights, self.k)
            own = {column: levels[column] for column in group}
            assert oracle.cost(self.mart, own, weights) == least

    def check_refusal(self, error: ShoalError) -> None:
        """A request is refused for the reason that the oracle sees."""
        if self.persons < self.k:
            assert error.code in FEW, error
            return
        if error.code in ("ids-tell", "rows-tied"):
            assert self.is_tied()
            return
        assert isinstance(error, Infeasible), error
        safe = all(
            oracle.is_safe(self.mart, self.rows, group, self.limits(), self.k)
            for group in self.groups
        )
        assert not safe, "levels within the limits are safe without suppression"


class Written:
    """A release as a reader of CSV finds it; empty is missing."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            self.rows = list(csv.DictReader(file))
        self._names = [name for _, name in columns]
        self.further = set(self.rows[0]) - set(self._names)
        assert set(self._names) <= set(self.rows[0])

    def labels(self, row: Mapping[str, str]) -> Labels:
        return tuple(row[name] or None for name in self._names)

    def counted(self) -> Counter[Labels]:
        """Each row of labels, and how often it is there."""
        return Counter(map(self.labels, self.rows))


def check_ids(written: Written, judged: Judged, release: Release) -> None:
    """Ids are random, one for each person, and on just the rows of that person."""
    (ids,) = written.further
    tied: dict[str, Counter[Labels]] = {}
    for row in written.rows:
        tied.setdefault(row[ids], Counter())[written.labels(row)] += 1
    expected: dict[Labels, Counter[Labels]] = {}
    for joined in release.rows:
        cells = oracle.labels(judged.mart, joined, judged.columns, release.levels)
        expected.setdefault(judged.mart.person_of(joined), Counter())[cells] += 1
    assert all(len(each) >= 32 for each in tied)
    assert as_multiset(tied.values()) == as_multiset(expected.values())


def as_multiset(counted: Iterable[Counter[Labels]]) -> Counter[frozenset[tuple[Labels, int]]]:
    return Counter(frozenset(each.items()) for each in counted)


def ask(
    catalog: Mapping[str, Any], asked: DrawnRequest, judged: Judged, output: Path
) -> tuple[MartResult, Release] | None:
    """Make a request and check its answer; None where it was refused, and rightly so."""
    try:
        result = mart.request(
            mart.catalog_from_mapping(catalog),
            mart.request_from_mapping(asked.mapping),
            output=output,
        )
    except ShoalError as error:
        judged.check_refusal(error)
        assert not output.exists()
        return None
    assert judged.persons >= judged.k
    written = Written(output, judged.columns)
    release = judged.check_release(result, written.counted())
    if asked.mapping["keys"] == "random":
        check_ids(written, judged, release)
    else:
        assert not written.further
    return result, release


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_release_is_right_and_every_refusal_has_its_reason(data: st.DataObject) -> None:
    drawn = data.draw(marts())
    asked = data.draw(requests(drawn))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ask(drawn.write(folder), asked, Judged(drawn, asked), folder / "out.csv")


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_releases_of_one_asker_never_intersect_below_k_unseen(data: st.DataObject) -> None:
    drawn = data.draw(marts())
    asked = [data.draw(requests(drawn, plain=True)) for _ in range(data.draw(st.integers(2, 3)))]
    earlier: list[Release] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        catalog = drawn.write(folder)
        for number, each in enumerate(asked):
            answer = ask(catalog, each, Judged(drawn, each), folder / f"out{number}.csv")
            if answer is not None:
                result, release = answer
                tells_too_much = intersect_below_k(drawn, earlier, release)
                assert result.overlaps or not tells_too_much
                earlier.append(release)


def intersect_below_k(drawn: DrawnMart, earlier: Sequence[Release], new: Release) -> bool:
    """Whether a new release and an earlier one tell something that is true of fewer than k."""
    return any(
        oracle.has_small_cell(drawn.mart, old, new, source)
        for old in earlier
        for source in {column[0] for column in (*old.columns, *new.columns)}
    )

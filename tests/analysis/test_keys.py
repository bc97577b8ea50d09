"""Sets of columns that tell records apart, judged by plain Python over all sets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.analysis.keys import Combinations, minimal_keys, minimal_sets, small_sets

Rows = list[tuple[str | None, ...]]
TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from(["a", "b", "c", None])] * width), min_size=1, max_size=25
    )
)


def combinations_of(rows: Rows) -> Combinations:
    counted = Counter(rows)
    columns = {
        f"c{place}": pa.array([row[place] for row in counted], pa.string())
        for place in range(len(rows[0]))
    }
    return Combinations(pa.table({**columns, "#records": list(counted.values())}))


def classes(rows: Rows, columns: tuple[int, ...]) -> int:
    return len({tuple(row[column] for column in columns) for row in rows})


@pytest.mark.slow
@given(TABLES)
def test_separation_is_the_share_of_pairs_that_differ(rows: Rows) -> None:
    found = small_sets(combinations_of(rows), 2)
    for each in found:
        places = tuple(int(name[1:]) for name in each.columns)
        keys = [tuple(row[place] for place in places) for row in rows]
        pairs = list(combinations(keys, 2))
        apart = sum(one != other for one, other in pairs)
        assert each.separation == pytest.approx(apart / len(pairs) if pairs else 0)
        assert each.distinction == pytest.approx(len(set(keys)) / len(rows))
    width = len(rows[0])
    assert len(found) == width + width * (width - 1) // 2


@pytest.mark.slow
@given(TABLES, st.sampled_from([0.2, 0.5, 0.9, 1.0]))
def test_minimal_keys_are_those_of_all_sets(rows: Rows, least: float) -> None:
    width = len(rows[0])
    keys = [
        frozenset(each)
        for size in range(width + 1)
        for each in combinations(range(width), size)
        if classes(rows, each) >= least * len(rows) - 1e-9
    ]
    expected = {each for each in keys if not any(other < each for other in keys)}
    found = minimal_keys(combinations_of(rows), least)
    assert found.complete
    assert {frozenset(int(n[1:]) for n in each.columns) for each in found.sets} == expected


def test_few_sets_are_tried_where_many_are_possible() -> None:
    tried = []

    def holds(columns: frozenset[int]) -> bool:
        tried.append(columns)
        return {3, 17} <= columns or {5, 8, 22} <= columns

    found, complete = minimal_sets(24, holds, 50)
    assert complete
    assert set(found) == {frozenset({3, 17}), frozenset({5, 8, 22})}
    assert len(tried) < 500


def test_too_many_keys_are_cut_off_and_said() -> None:
    found, complete = minimal_sets(16, lambda columns: len(columns) >= 8, 20)
    assert 1 < len(found) <= 20
    assert not complete
    assert all(len(each) == 8 for each in found)

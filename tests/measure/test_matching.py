"""Counting matches, against a comparison of every record with every other."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import BadData
from shoal.measure import pairs
from shoal.measure.classes import count_classes
from shoal.measure.matching import MATCHES, count_matches, judge_match
from shoal.measure.table import measure
from verify.rows import Cell, Row, source

NAMES = ("x", "y", "z")
CELLS = st.sampled_from(["a", "b", None])
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=14)
PATIENT = settings(max_examples=150)


def cells_match(match: str, mine: Cell, other: Cell) -> bool:
    if match == "basic":
        return mine == other and mine is not None
    if match == "extended":
        return mine == other
    if match == "maybe":
        return mine == other or mine is None or other is None
    return mine == other or other is None


def plain_matches(match: str, row: Row, rows: list[Row]) -> int:
    return sum(
        all(cells_match(match, mine, cell) for mine, cell in zip(row, other, strict=True))
        for other in rows
    )


@pytest.mark.slow
@PATIENT
@given(TABLES, st.sampled_from(MATCHES))
def test_matches_are_those_of_a_pairwise_comparison(rows: list[Row], match: str) -> None:
    found = count_classes(source(NAMES, rows), NAMES)
    counted = dict(
        zip(
            (tuple(found.name(i).labels.values()) for i in range(found.classes)),
            count_matches(found, match).tolist(),
            strict=True,
        )
    )
    assert counted == {row: plain_matches(match, row, rows) for row in rows}


@pytest.mark.slow
@PATIENT
@given(TABLES, st.sampled_from(MATCHES), st.integers(1, 4))
def test_records_are_counted_by_their_matches(rows: list[Row], match: str, k: int) -> None:
    found = judge_match(count_classes(source(NAMES, rows), NAMES), match, k)
    matches = [plain_matches(match, row, rows) for row in rows]
    assert found.k == min(matches, default=0)
    assert found.unique_records == sum(number <= 1 for number in matches)
    assert found.records_below == sum(number < k for number in matches)


@pytest.mark.slow
@PATIENT
@given(TABLES)
def test_the_relations_nest(rows: list[Row]) -> None:
    judged = measure(source(NAMES, rows), NAMES, match="all").matches
    by_name = {each.match: each.k or 0 for each in judged}
    order = ("basic", "extended", "right-maybe", "maybe")
    assert sorted(by_name[name] for name in order) == [by_name[name] for name in order]


def test_keys_too_large_for_one_number_are_numbered_anew() -> None:
    names = [f"column {i}" for i in range(40)]
    wide = [tuple(f"{(row * (i + 3)) % 11}" for i in range(40)) for row in range(30)]
    holed = [(*row[:39], None) for row in wide[:5]]
    found = count_classes(source(names, wide + holed), names)
    expected = [plain_matches("maybe", row, wide + holed) for row in {*wide, *holed}]
    assert sorted(count_matches(found, "maybe").tolist()) == sorted(expected)


@pytest.mark.slow
@PATIENT
@given(TABLES, st.sampled_from(MATCHES[2:]), st.sampled_from([0, 5, 20]))
def test_a_join_taken_apart_has_the_same_matches(rows: list[Row], match: str, few: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pairs, "FEW_PAIRS", few)
        judged = judge_match(count_classes(source(NAMES, rows), NAMES), match, k=3)
    matches = [plain_matches(match, row, rows) for row in rows]
    assert judged.k == min(matches, default=0)
    assert judged.records_below == sum(number < 3 for number in matches)


@pytest.mark.slow
def test_a_table_of_many_patterns_is_measured_by_all_matches_in_seconds() -> None:
    random = Random(5)
    names = [f"column {i}" for i in range(16)]
    rows = [tuple(random.choice(["a", "b", None, None]) for _ in names) for _ in range(6000)]
    shares: list[float] = []
    judged = measure(source(names, rows), names, match="all", progress=shares.append).matches
    by_name = {each.match: each.k or 0 for each in judged}
    for match in ("maybe", "right-maybe"):
        least = min(plain_matches(match, row, rows) for row in rows[:20])
        assert 1 <= by_name[match] <= least
    assert shares[-1] == 1.0


def test_more_pairs_than_allowed_are_not_compared_and_that_is_said() -> None:
    table = source(["x", "y"], [("a", None), (None, "b"), ("c", "d")])
    with pytest.raises(BadData) as refused:
        measure(table, ["x", "y"], match="maybe", pair_limit=3)
    assert refused.value.code == "too-many-pairs"
    everything = measure(table, ["x", "y"], match="all", pair_limit=3)
    assert [each.k for each in everything.matches] == [0, 1, None, None]
    assert "maybe match: not counted: more than 3 pairs" in str(everything)
    assert "not counted" in everything._repr_html_()
    assert measure(table, ["x", "y"], match="maybe", pair_limit=9).k == 1


def test_the_k_of_a_measure_is_that_of_the_relation_asked_for() -> None:
    table = source(["x"], [("a",), ("a",), (None,)])
    for match, k in {"basic": 0, "extended": 1, "right-maybe": 1, "maybe": 3}.items():
        assert measure(table, ["x"], match=match).k == k
    everything = measure(table, ["x"], match="all", k=2)
    assert everything.k == 1
    assert [each.records_below for each in everything.matches] == [1, 1, 0, 1]


def test_each_relation_says_what_it_does_not_withstand() -> None:
    judged = measure(source(["x"], [("a",)]), ["x"], match="all").matches
    weak = [each.match for each in judged if "does not withstand" in each.attack]
    assert weak == ["maybe", "right-maybe"]

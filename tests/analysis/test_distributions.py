"""Labels before and after, and what may be shown of them; the dependence of columns."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import Case, cases, person_problem, problem_of
from shoal.analysis.columns import strength_of
from shoal.analysis.distributions import Distribution, compare_counts, distribution_of
from shoal.report.counts import pool_few


@pytest.mark.slow
@given(cases(), st.data())
def test_labels_are_counted_at_the_level_of_the_release(case: Case, data: st.DataObject) -> None:
    node = tuple(data.draw(st.integers(0, limit)) for limit in case.limits)
    problem = problem_of(case)
    classes = problem.partition(node)
    labelled = [
        tuple(
            ladder.label(cell, level)
            for ladder, cell, level in zip(case.ladders, row, node, strict=True)
        )
        for row in case.rows
    ]
    sizes = Counter(labelled)
    for j in range(len(node)):
        found = distribution_of(problem.table, j, node, classes, case.k)
        before = Counter(labels[j] for labels in labelled)
        after = Counter(labels[j] for labels in labelled if sizes[labels] >= case.k)
        assert found.level == node[j]
        assert {each.label: each.after for each in found.labels} == dict(after)
        for each in found.labels:
            if each.before is not None:
                assert each.before == before[each.label]
        assert sum(found.befores) == pytest.approx(len(case.rows))
        assert_nothing_is_told_of_few(found, case.k, len(case.rows) - after.total())
        if all(each.before is not None for each in found.entries) and after:
            shares = [
                abs(before[label] / len(case.rows) - after[label] / after.total())
                for label in before
            ]
            assert found.distance == pytest.approx(sum(shares) / 2)


def assert_nothing_is_told_of_few(found: Distribution, k: int, suppressed: int) -> None:
    """No number of 1 to k-1 suppressed records is shown, but that of all of them."""
    pairs = list(zip(found.entries, found.befores, strict=True))
    pooled = [(each, before) for each, before in pairs if each.before is None]
    if len(found.entries) > 1:
        for each in found.entries:
            assert each.before is None or each.before - each.after not in range(1, k)
        assert len(pooled) != 1
        total = sum(before - each.after for each, before in pooled)
        assert not pooled or total >= k or total == pytest.approx(suppressed)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(2, 5), st.data())
def test_few_are_pooled_with_others(lost: list[int], k: int, data: st.DataObject) -> None:
    already = data.draw(st.sets(st.integers(0, len(lost) - 1)))
    pool = pool_few(lost, k, persons=False, pooled=already)
    few = {i for i, number in enumerate(lost) if 0 < number < k}
    assert few | already <= pool
    assert all(lost[i] for i in pool - few - already) or 0 < sum(lost) < k
    together = sum(lost[i] for i in pool)
    assert together == 0 or together >= k or len(pool) == len(lost)
    everything = frozenset(range(len(lost)))
    assert pool_few(lost, k, persons=True) == (everything if any(lost) else frozenset())


def test_where_persons_are_counted_no_label_shows_what_it_lost() -> None:
    from fractions import Fraction

    from oracle import Ladder

    ladder = Ladder({"a": ("a", "*"), "b": ("b", "*"), "c": ("c", "*")})
    other = Ladder({str(i): (str(i),) for i in range(20)})
    rows = [("a", "0")] * 3 + [("b", "1")] * 3 + [("c", "2")] * 3
    rows += [("a", "3"), ("a", "4"), ("a", "5")]
    case = Case(tuple(rows), (ladder, other), (1, 0), (Fraction(1), Fraction(1)), 3, 12)
    persons = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9]
    problem = person_problem(case, persons, [0] * len(rows))
    classes = problem.partition((0, 0))
    found = distribution_of(problem.table, 0, (0, 0), classes, 3)
    counts = {each.label: each for each in found.labels}
    assert counts["a"].after == 3
    assert counts["a"].before is None, "three records of one person are few"
    assert found.befores == [4, 4, 4], "what is suppressed in all, shared out evenly"
    everybody = person_problem(case, [*range(9), 9, 10, 11], [0] * len(rows))
    found = distribution_of(everybody.table, 0, (0, 0), everybody.partition((0, 0)), 3)
    assert [each.before for each in found.labels] == [None, None, None]
    whole = compare_counts("ill", {"a": 9, "b": 5}, {"a": 6, "b": 5}, 3, persons=True)
    assert whole.befores == [7.5, 6.5]


def test_values_that_only_suppressed_records_have_are_not_named() -> None:
    before = {"a": 50, "b": 30, "rare": 1, "rarer": 2, None: 17}
    found = compare_counts("ill", before, {"a": 40, "b": 30, None: 17}, 3)
    assert "rare" not in repr(found)
    assert found.others is not None
    assert found.others.before == 3
    assert {each.label: each.before for each in found.labels} == {"a": 50, "b": 30, None: 17}
    hidden = compare_counts("ill", before, {"a": 40, "b": 30, None: 17}, 5)
    assert hidden.others is not None
    assert hidden.befores == pytest.approx([46.5, 30, 17, 6.5])
    assert [each.before for each in hidden.labels] == [None, 30, 17]
    assert hidden.others.before is None


def test_rare_values_of_a_column_that_is_released_as_it_is_are_not_named() -> None:
    found = compare_counts("ill", {"a": 50, "rare": 3, "rarer": 2}, {"a": 50, "rare": 3}, 4)
    assert "rare" not in repr(found)
    assert found.others is not None
    assert found.others.after == 3
    assert sum(found.befores) == pytest.approx(55)


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30)


@given(pairs)
def test_dependence_is_what_its_definition_says(rows: list[tuple[int, int]]) -> None:
    counted = Counter(rows)
    first, second = (np.array([pair[i] for pair in counted], dtype=np.int64) for i in (0, 1))
    found = strength_of(first, second, np.array(list(counted.values()), dtype=np.int64))
    n = len(rows)
    a, b = Counter(x for x, _ in rows), Counter(y for _, y in rows)
    chi = sum(
        (counted[x, y] - a[x] * b[y] / n) ** 2 / (a[x] * b[y] / n)
        for x, y in itertools.product(a, b)
    )
    bits = sum(c / n * math.log2(c * n / (a[x] * b[y])) for (x, y), c in counted.items())
    smaller = min(len(a), len(b)) - 1
    expected = math.sqrt(chi / n / smaller) if smaller else 0
    assert found.cramers_v == pytest.approx(expected, abs=1e-7)
    assert found.mutual_information == pytest.approx(bits, abs=1e-9)
    assert 0 <= found.corrected_v <= 1
    if n > 1:
        left = max(0, chi / n - (len(a) - 1) * (len(b) - 1) / (n - 1))
        sizes = [r - (r - 1) ** 2 / (n - 1) for r in (len(a), len(b))]
        if min(sizes) > 1 + 1e-9:
            corrected = min(1, math.sqrt(left / (min(sizes) - 1)))
            assert found.corrected_v == pytest.approx(corrected, abs=1e-6)


def test_chance_is_not_taken_for_dependence() -> None:
    many, two = np.arange(400), np.arange(400) * 7919 % 2
    found = strength_of(many, two, np.ones(400, dtype=np.int64))
    assert found.cramers_v == pytest.approx(1)
    assert found.corrected_v < 0.1

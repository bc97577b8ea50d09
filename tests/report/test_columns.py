"""What a report says of columns: examples and counts of labels that single nobody out."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import shoal
from shoal.values import Result

SEEDS = range(60)


def problem(seed: int) -> tuple[pa.Table, int]:
    """A small table with a heavy and many rare values, and a k."""
    draw = random.Random(seed)
    values = ["aa", "ab", "ba", "bb", "bc", "ca", "da", None]
    weights = [9, 5, 4, 2, 1, 1, 1, draw.choice([0, 2])]
    records = draw.choice([30, 60, 90])
    columns = {name: draw.choices(values, weights, k=records) for name in ("p", "q")}
    return pa.table(columns), draw.choice([2, 3, 4])


def released(seed: int) -> tuple[pa.Table, pa.Table, Result, int]:
    table, k = problem(seed)
    mask = {"hierarchy": {"mask": 2}}
    release, result = shoal.anonymize(
        table, {"p": mask, "q": mask}, k=k, suppression=0.3, with_result=True
    )
    return table, release, result, k


def label_at(level: int, value: str | None) -> str:
    if level == 2:
        return "**"
    if value is None:
        return "missing"
    return value if level == 0 else f"{value[:1]}*"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_counts_of_labels_are_true_and_disclose_no_few_suppressed_records(seed: int) -> None:
    table, release, result, k = released(seed)
    for name, treatment in result.treatments.items():
        before = Counter(label_at(treatment.level, each) for each in table[name].to_pylist())
        after = Counter(each or "missing" for each in release[name].to_pylist())
        named = [each for each in treatment.labels if each.label is not None]
        for each in treatment.labels:
            rest = [label for label in before if label not in [other.label for other in named]]
            labels = rest if each.label is None else [each.label]
            assert each.after == sum(after[label] for label in labels)
            if each.before is None:
                assert 0 < result.suppressed < k
            else:
                assert each.before == sum(before[label] for label in labels)
                assert each.before - each.after not in range(1, k)
        assert sum(each.after for each in treatment.labels) == release.num_rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_example_of_a_level_is_rarer_than_k_in_the_release(seed: int) -> None:
    table, _, result, k = released(seed)
    records = list(zip(table["p"].to_pylist(), table["q"].to_pylist(), strict=True))
    levels = tuple(result.levels.values())
    classes = Counter(tuple(map(label_at, levels, row)) for row in records)
    rows = [row for row in records if classes[tuple(map(label_at, levels, row))] >= k]
    for j, treatment in enumerate(result.treatments.values()):
        for level in treatment.levels:
            having = Counter(label_at(level.level, row[j]) for row in rows)
            everywhere = {
                label_at(level.level, each) for each in table[table.column_names[j]].to_pylist()
            }
            assert level.labels == len(everywhere)
            assert level.example is None or having[level.example] >= k
        assert treatment.levels[treatment.level].example is not None


def test_where_persons_are_counted_no_value_below_the_release_is_an_example() -> None:
    rows = [("1", "1010")] * 9 + [(str(i), "1020") for i in range(2, 6)]
    table = pa.table({"id": [i for i, _ in rows], "zip": [z for _, z in rows]})
    _, result = shoal.anonymize(
        table,
        {"zip": {"hierarchy": {"mask": 4}}},
        k=5,
        person="id",
        with_result=True,
        suppression=0,
    )
    levels = result.treatments["zip"].levels
    assert result.levels["zip"] == 2
    assert [each.example for each in levels] == [None, None, "10**", "1***", "****"]


def test_where_persons_are_counted_suppressed_records_are_not_counted_by_label() -> None:
    rows = [("1", "9")] * 9 + [(str(i), "1") for i in range(2, 30)]
    table = pa.table({"id": [i for i, _ in rows], "zip": [z for _, z in rows]})
    _, result = shoal.anonymize(
        table, {"zip": {"hierarchy": "suppress"}}, k=5, person="id", with_result=True, suppression=9
    )
    assert result.suppressed == 9
    assert [each.before for each in result.treatments["zip"].labels] == [None]


def test_exposure_says_who_is_recognised_before_and_after() -> None:
    table = pa.table({"q": list("aaaabbbc")})
    _, result = shoal.anonymize(
        table, {"q": {"hierarchy": "suppress"}}, k=3, suppression=1, with_result=True
    )
    before, after = result.before, result.after
    assert before is not None
    assert after is not None
    assert (before.records, before.classes, before.alone, before.below_k) == (8, 3, 1, 1)
    assert (before.highest, before.average) == (1.0, 3 / 8)
    assert (after.records, after.classes, after.alone, after.below_k) == (7, 2, 0, 0)
    assert (after.highest, after.average) == (1 / 3, 2 / 7)


def test_the_progress_of_the_search_ends_with_the_result() -> None:
    table, _ = problem(1)
    _, result = shoal.anonymize(table, ["p", "q"], k=3, with_result=True)
    last = result.progress[-1]
    assert (last.best, last.bound) == (result.loss, result.bound)
    assert [each.seconds for each in result.progress] == sorted(
        each.seconds for each in result.progress
    )

"""Counting classes: a plain Counter says what is right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.measure.classes import count_classes
from shoal.measure.table import Measure, measure
from verify.rows import Row, source

CELLS = st.sampled_from(["a", "b", "?", "", None])
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=30)


def seen(row: Row) -> Row:
    return tuple(None if cell in ("?", "") else cell for cell in row)


@pytest.mark.slow
@given(TABLES)
def test_a_measure_counts_what_a_plain_counter_counts(rows: list[Row]) -> None:
    sizes = Counter(seen(row[:2]) for row in rows)
    found = measure(source("xyz", rows), ["x", "y"], ["?"])
    assert found.records == len(rows)
    assert found.classes == len(sizes)
    assert found.smallest_class == found.k == min(sizes.values(), default=0)
    assert found.largest_class == max(sizes.values(), default=0)
    assert found.unique_records == list(sizes.values()).count(1)
    assert found.incomplete_records == sum(None in seen(row[:2]) for row in rows)
    for bucket in found.class_sizes:
        most = bucket.most or len(rows)
        inside = [size for size in sizes.values() if bucket.least <= size <= most]
        assert (bucket.classes, bucket.records) == (len(inside), sum(inside))
    assert sum(bucket.records for bucket in found.class_sizes) == len(rows)


@given(TABLES)
def test_labels_of_a_column_are_counted_over_all_classes(rows: list[Row]) -> None:
    found = count_classes(source("xyz", rows), ["x", "y"])
    for at in range(2):
        counts = Counter(row[at] or None for row in rows)
        column = found.column(at)
        assert column.missing == counts.pop(None, 0)
        assert dict(zip(column.labels, column.counts, strict=True)) == counts


@pytest.mark.slow
@given(TABLES)
def test_marked_records_are_those_without_any_value_looked_at(rows: list[Row]) -> None:
    found = count_classes(source("xyz", rows), ["x", "y"], sensitive=["z"], mark=True)
    marked = [row for row in rows if not any(row)]
    assert found.marked == len(marked)
    kept = Counter(tuple(cell or None for cell in row[:2]) for row in rows if any(row))
    assert sorted(found.sizes.tolist()) == sorted(kept.values())


def test_a_column_may_have_the_name_of_the_counts() -> None:
    assert measure(source(["size"], [("a",), ("a",)]), ["size"]).k == 2


def sample() -> Measure:
    return measure(source(["<b>"], [("a",), ("a",), ("a",), (None,)]), ["<b>"])


def test_a_measure_reads_as_text() -> None:
    text = str(sample())
    assert text.startswith("rows: 1-anonymous\n")
    assert "unique records: 1 (25.0%)" in text
    assert "classes of 3-4: 1, 3 records (75.0%)" in text
    assert "classes of 100+: 0" in text


def test_a_measure_shows_in_a_notebook_with_names_escaped() -> None:
    html = sample()._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html

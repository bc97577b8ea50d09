"""Counting by labels, of complete records, and of at most so many rows: against a Counter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.base import Generalization
from shoal.engines.frames.source import open_frame

Cell = str | None
cell = st.sampled_from([None, "", "NA", "a", "A", "b", "b ", "it's"])
LABELS: Mapping[str, str] = {"a": "*", "A": "NA", "b": "?", "b ": "?", "it's": "*", "NA": "*"}


@st.composite
def generalizations(draw: st.DrawFn) -> Generalization | None:
    missing = draw(st.sampled_from([None, "*", "absent"]))
    kind = draw(st.sampled_from(["none", "unchanged", "labels"]))
    if kind == "none":
        return None
    if kind == "unchanged":
        return Generalization((), (), missing)
    return Generalization(tuple(LABELS), tuple(LABELS.values()), missing)


def labelled(value: Cell, generalization: Generalization | None) -> Cell:
    if generalization is None:
        return value
    if value is None:
        return generalization.missing
    return LABELS[value] if generalization.values else value


@pytest.mark.slow
@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(cell, cell, cell), max_size=8),
    missing=st.sampled_from([[], ["NA"]]),
    given_x=generalizations(),
    given_y=generalizations(),
    complete=st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
    at_most=st.none() | st.integers(0, 3),
)
def test_labels_of_complete_records_are_counted(
    rows: list[tuple[Cell, Cell, Cell]],
    missing: list[str],
    given_x: Generalization | None,
    given_y: Generalization | None,
    complete: list[str],
    at_most: int | None,
) -> None:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(3)]
    named = {"x": given_x, "y": given_y}
    generalized = {name: each for name, each in named.items() if each is not None}
    with open_frame(pa.table(columns, names=list("xyz"))) as source:
        options: dict[str, Any] = {
            "generalized": generalized,
            "complete": complete,
            "at_most": at_most,
        }
        table = source.count_by(["y", "x"], missing, **options)
        number = source.count_distinct(["y", "x"], missing, **options)
        records = source.count_by([], missing, complete=complete)
    clean = [dict(zip("xyz", row, strict=True)) for row in rows]
    present = [{n: None if v in ("", *missing) else v for n, v in row.items()} for row in clean]
    counted = [row for row in present if all(row[name] is not None for name in complete)]
    expected = Counter(
        (labelled(row["y"], given_y), labelled(row["x"], given_x)) for row in counted
    )
    found = {
        (y, x): n for y, x, n in zip(*map(pa.ChunkedArray.to_pylist, table.columns), strict=True)
    }
    if at_most is None or len(expected) <= at_most:
        assert found == expected
    else:
        assert len(found) == at_most + 1
        assert found.items() <= expected.items()
    assert number == len(found)
    assert records.to_pydict() == {"#records": [len(counted)]}


def test_a_value_without_a_label_stops_the_count() -> None:
    with open_frame(pa.table({"x": ["a", "b"]})) as source:
        for ask in (source.count_by, source.count_distinct):
            with pytest.raises(shoal.BadData) as caught:
                ask(["x"], generalized={"x": Generalization(("a",), ("*",))})
            assert caught.value.code == "source-changed"


def test_columns_that_are_not_counted_need_no_labels() -> None:
    with open_frame(pa.table({"x": ["a"], "y": ["b"]})) as source:
        table = source.count_by(["x"], generalized={"y": Generalization(("z",), ("*",))})
    assert table.to_pydict() == {"x": ["a"], "#records": [1]}

"""The order of classes: by their codes; where all is missing, with records of no class."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.base import class_ranks

rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=20)


@given(rows)
def test_class_ranks_are_those_of_the_codes_with_all_missing_at_zero(
    codes: list[tuple[int, ...]],
) -> None:
    ranks = sorted({(0, 0, 0), *codes})
    columns = [pa.array([row[j] for row in codes], pa.int32()) for j in range(3)]
    assert class_ranks(columns, len(codes)).to_pylist() == [ranks.index(row) for row in codes]


def test_classes_without_labels_are_ordered_like_records_of_no_class() -> None:
    assert class_ranks([], 2).to_pylist() == [0, 0]

"""The order of classes: by their codes; where all is missing, with records of no class."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.base import LAST_RANK, class_ranks

rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=20)


@given(rows)
def test_class_ranks_are_those_of_the_codes_with_missing_last(
    codes: list[tuple[int, ...]],
) -> None:
    """The code 3 stands for missing, which is the last of each column."""
    ranks = [LAST_RANK if row == (3, 3, 3) else sorted({*codes}).index(row) for row in codes]
    columns = [
        pa.array([None if row[j] == 3 else row[j] for row in codes], pa.int32()) for j in range(3)
    ]
    assert class_ranks(columns, len(codes)).to_pylist() == ranks


def test_classes_without_labels_are_ordered_like_records_of_no_class() -> None:
    assert class_ranks([], 2).to_pylist() == [LAST_RANK, LAST_RANK]

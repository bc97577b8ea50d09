"""What the collapse hands on about the tuples that it read."""

from __future__ import annotations

from shoal.collapse.read import distinct_values
from verify.rows import source


def test_distinct_values_leave_out_what_is_missing() -> None:
    counted = source("xy", [("a", "b"), ("a", None), ("c", "?")]).count_by("xy", ["?"])
    assert distinct_values(counted, ["x", "y"]) == {"x": {"a", "c"}, "y": {"b"}}

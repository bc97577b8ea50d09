"""Values that random trials found: two zeros, decimals below one, columns without any value."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal

TWO_ZEROS = pd.DataFrame({"age": [30, 30, 40, 40], "dose": [0.0, -0.0, 1.5, 0.0]})


def test_two_zeros_are_not_two_sensitive_values() -> None:
    demanded = {"dose": {"role": "sensitive", "diversity": {"distinct": 2}}}
    with pytest.raises(shoal.BadData) as refused:
        shoal.anonymize(TWO_ZEROS, {"age": None}, k=2, suppression=0.5, attributes=demanded)
    assert refused.value.code == "two-zeros"
    assert shoal.check(TWO_ZEROS, "age", sensitive="dose").sensitive[0].distinct_l == 1


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_decimals_below_one_have_one_text_in_every_output(tmp_path: Path, ending: str) -> None:
    source, output = tmp_path / "in.parquet", tmp_path / f"out.{ending}"
    shares = [Decimal("0.25")] * 2 + [Decimal("-0.50")] * 2 + [Decimal("0.00")] * 2
    pq.write_table(pa.table({"share": pa.array(shares, pa.decimal128(2, 2))}), source)
    attributes = {"share": {"role": "quasi-identifier", "hierarchy": "suppress"}}
    definition = {"source": str(source), "output": str(output), "k": 2, "attributes": attributes}
    assert shoal.run(definition).levels == {"share": 0}
    if ending == "csv":
        assert sorted(set(output.read_text().split())) == ["-0.50", "0.00", "0.25", "share"]


def test_a_frame_whose_large_decimals_are_suppressed_is_released() -> None:
    """What is left are decimals without a place before the point, of another type in Arrow."""
    frame = pd.DataFrame({"price": [Decimal("0.00")] * 4 + [Decimal("100.00")]})
    released = shoal.anonymize(frame, {"price": "suppress"}, k=2, suppression=1)
    assert released["price"].astype(str).tolist() == ["0.00"] * 4


def test_a_column_without_any_value_can_be_recoded_locally() -> None:
    frame = pd.DataFrame({"age": [30, 30, 40, 40], "none": [None] * 4})
    released = shoal.anonymize(
        frame, {"age": {"intervals": [5]}, "none": "suppress"}, k=2, suppression=0, recoding="local"
    )
    assert len(released) == 4

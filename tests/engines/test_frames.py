"""Frames: every kind goes in and comes out as it came, and is never changed."""

from __future__ import annotations

from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

from shoal.engines.base import Generalization, Recoding
from shoal.engines.frames.source import StagedTable, open_frame
from shoal.engines.opening import recode_into
from shoal.errors import BadData

DATA: dict[str, list[Any]] = {"age": [34, 51, 34], "sex": ["f", None, "f"]}


class Streams:
    """Something that only speaks the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table(DATA).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(DATA, index=[7, 8, 9]),
        pl.DataFrame(DATA),
        pl.LazyFrame(DATA),
        pa.table(DATA),
        pa.table(DATA).to_reader(),
        Streams(),
    ],
    ids=["pandas", "polars", "lazy", "table", "reader", "stream"],
)
def test_every_kind_of_frame_is_counted_alike(frame: Any) -> None:
    with open_frame(frame) as source:
        assert [column.name for column in source.columns()] == ["age", "sex"]
        rows = source.count_by(["age", "sex"]).to_pylist()
    assert {tuple(row.values()) for row in rows} == {("34", "f", 2), ("51", None, 1)}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_release_is_of_the_kind_given(make: Any) -> None:
    frame = make(DATA)
    generalized = {
        "age": Generalization(("34", "51"), ("[30s]", "[50s]")),
        "sex": Generalization((), ()),
    }
    classes = pa.table({"age": ["[30s]"], "sex": ["f"]})
    with open_frame(frame) as source:
        staged = recode_into(source, Recoding(("sex", "age"), generalized, classes, ()), None)
    assert isinstance(staged, StagedTable)
    with staged.source() as again:
        assert again.count_by(["age", "sex"]).num_rows == 1
    released = staged.frame()
    assert type(released) is type(frame)
    expected = make({"sex": ["f", "f"], "age": ["[30s]", "[30s]"]})
    assert released.equals(expected)
    assert frame.equals(make(DATA))


def test_categories_do_not_carry_suppressed_values_along() -> None:
    frame = pd.DataFrame({"city": pd.Categorical(["rome", "rome", "secret"])})
    classes = pa.table({"city": ["rome"]})
    with open_frame(frame) as source:
        recoding = Recoding(("city",), {"city": Generalization((), ())}, classes, ())
        staged = recode_into(source, recoding, None)
    assert isinstance(staged, StagedTable)
    assert list(staged.frame()["city"].cat.categories) == ["rome"]
    assert staged.frame().to_dict("list") == {"city": ["rome", "rome"]}


def test_a_discarded_table_forgets_its_records() -> None:
    with StagedTable(pa.table(DATA)) as staged:
        assert staged.publish() == "memory"
    assert len(staged.frame()) == 0


def test_a_column_twice_in_a_pandas_frame_is_refused() -> None:
    with pytest.raises(BadData) as caught:
        open_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert caught.value.code == "repeated-column"


def test_a_column_of_mixed_types_is_refused_by_name() -> None:
    frame = pd.DataFrame({"ok": [1, 2], "odd": pd.Series([1, "x"], dtype=object)})
    with pytest.raises(BadData) as caught:
        open_frame(frame)
    assert (caught.value.code, "'odd'" in caught.value.what) == ("mixed-types", True)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(BadData) as caught:
        open_frame([1, 2])
    assert caught.value.code == "not-a-frame"

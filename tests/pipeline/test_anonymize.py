"""`shoal.anonymize`, `shoal.check` and `shoal.verify`: frames in, frames of the same kind out."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.engines.frames.source import StagedTable

DATA: dict[str, list[Any]] = {
    "age": [34, 35, 36, 61, 62, 63, 34, 35],
    "zip": ["10115", "10117", "10119", "80331", "80333", "80335", "10115", "10117"],
    "score": [1.5, None, 2.5, 3.0, 1.0, 2.0, 2.0, 1.0],
    "day": [datetime.date(2020, 1, day) for day in range(1, 9)],
}
EXPECTED = Counter({("[30,40)", "1011*"): 5, ("[60,70)", "8033*"): 3})
HIERARCHIES = {"age": {"intervals": [10, 100]}, "zip": {"mask": 5}}


def rich_pandas() -> pd.DataFrame:
    """A frame with an index that identifies the records, and columns of many types."""
    frame = pd.DataFrame(DATA, index=[f"person {i}" for i in range(8)])
    frame["small"] = np.arange(8, dtype="int32")
    frame["whole"] = pd.array([1, None, 3, 4, 5, 6, 7, 8], dtype="Int64")
    frame["yes"] = [True, False] * 4
    frame["time"] = pd.date_range("2020-01-01", periods=8, tz="Europe/Berlin")
    frame["span"] = pd.to_timedelta(range(8), unit="h")
    frame["kind"] = pd.Categorical(list("xyxyxyxy"), categories=list("zyx"), ordered=True)
    return frame


@pytest.mark.slow
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_kind_given_is_the_kind_returned(make: Any) -> None:
    frame = make(DATA)
    released = shoal.anonymize(frame, HIERARCHIES, k=3, others="keep")
    assert type(released) is type(frame)
    columns = pa.table(released).to_pydict()
    assert Counter(zip(columns["age"], columns["zip"], strict=True)) == EXPECTED
    assert sorted(columns["day"]) == DATA["day"]
    assert list(columns) == ["age", "zip", "score", "day"]


@pytest.mark.slow
def test_a_pandas_frame_is_not_changed_and_its_index_not_released() -> None:
    frame = rich_pandas()
    before = frame.copy(deep=True)
    released = shoal.anonymize(frame, HIERARCHIES, k=3, others="keep")
    pd.testing.assert_frame_equal(frame, before)
    assert list(released.index) == list(range(8))


def test_a_polars_frame_is_not_changed() -> None:
    frame = pl.DataFrame(DATA)
    before = frame.clone()
    shoal.anonymize(frame, HIERARCHIES, k=3, others="drop")
    assert frame.equals(before)


@pytest.mark.slow
def test_kept_columns_of_pandas_keep_their_types_and_values() -> None:
    frame = rich_pandas()
    released = shoal.anonymize(frame, HIERARCHIES, k=3, others="keep")
    same = [name for name in frame.columns if name not in ("age", "zip", "kind")]
    for name in same:
        assert released[name].dtype == frame[name].dtype, name
    back = released.sort_values("small")[same].reset_index(drop=True)
    pd.testing.assert_frame_equal(back, frame[same].reset_index(drop=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bool", "int64", "uint8", "Sparse[int64]", "Sparse[bool]"])
def test_a_blank_is_no_value_of_a_type_without_missing_ones(kind: str) -> None:
    frame = pd.DataFrame({"yes": pd.Series([1] * 5 + [0], dtype=kind)})
    released = shoal.anonymize(frame, {"yes": {"limit": 0}}, k=3, suppression=1, suppressed="mark")
    assert released["yes"].isna().sum() == 1
    assert set(released["yes"].dropna()) == {1}


@pytest.mark.slow
def test_what_is_returned_is_what_was_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Any] = []
    source = StagedTable.source

    def spy(staged: StagedTable) -> Any:
        counted.append(staged.frame())
        return source(staged)

    monkeypatch.setattr(StagedTable, "source", spy)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        released = shoal.anonymize(make(DATA), HIERARCHIES, k=3, others="keep")
        assert counted.pop() is released


@pytest.mark.slow
def test_a_categorical_keeps_its_order_and_forgets_categories_nobody_has() -> None:
    released = shoal.anonymize(rich_pandas(), HIERARCHIES, k=3, others="keep")
    assert list(released["kind"].cat.categories) == ["y", "x"]
    assert released["kind"].cat.ordered


def test_kept_columns_of_polars_keep_their_types() -> None:
    frame = pl.DataFrame(DATA).with_columns(
        pl.Series("kind", list("xyxyxyxy"), dtype=pl.Categorical),
        pl.Series("span", [datetime.timedelta(hours=i) for i in range(8)]),
        pl.Series("small", range(8), dtype=pl.UInt8),
    )
    released = shoal.anonymize(frame, HIERARCHIES, k=3, others="keep")
    for name in ("score", "day", "kind", "span", "small"):
        assert released.schema[name] == frame.schema[name]
    assert released.sort("small")["span"].to_list() == frame["span"].to_list()


@pytest.mark.slow
def test_none_nan_and_nat_are_missing_and_match_each_other() -> None:
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, np.nan, 1.0],
            "text": ["x", None, None, "x"],
            "time": [pd.NaT, pd.NaT, pd.NaT, pd.NaT],
        }
    )
    released = shoal.anonymize(frame, list(frame), k=2, suppression=0)
    assert released.isna().sum().to_dict() == {"number": 2, "text": 2, "time": 4}
    assert shoal.check(frame, list(frame)).k == 2
    assert shoal.check(frame, next(iter(frame))) == shoal.check(frame, list(frame)[:1])


def test_quasi_identifiers_may_be_numbers_dates_and_categories() -> None:
    frame = rich_pandas()
    released, result = shoal.anonymize(
        frame, ["small", "day", "kind", "yes"], k=4, suppression=0, others="drop", with_result=True
    )
    assert len(released) == 8
    assert shoal.check(released, list(released)).k >= 4
    assert all(treatment.proposed for treatment in result.treatments.values())


def test_identifiers_are_left_out() -> None:
    released = shoal.anonymize(
        pl.DataFrame(DATA), HIERARCHIES, k=3, identifiers=["day"], others="keep"
    )
    assert released.columns == ["age", "zip", "score"]


def test_a_column_nobody_named_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.anonymize(pd.DataFrame(DATA), ["age", "zip"], k=3)
    assert "'score', 'day'" in caught.value.what
    assert 'others="keep"' in caught.value.what


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"quasi_identifiers": ["agee"]}, "did you mean 'age'?"),
        ({"quasi_identifiers": []}, "there is no quasi-identifier"),
        ({"quasi_identifiers": ["age"], "k": 1}, "must be at least 2"),
        ({"quasi_identifiers": ["age"], "suppression": 1.5}, "over 100 %"),
        (
            {"quasi_identifiers": ["age"], "identifiers": ["age"]},
            "named by quasi_identifiers and identifiers",
        ),
        ({"quasi_identifiers": ["age"], "other": "keep"}, "did you mean 'others'?"),
        ({"quasi_identifiers": {"zip": {"maks": 5}}}, "mask"),
    ],
)
def test_a_wrong_argument_is_an_error_with_its_remedy(
    arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.anonymize(pd.DataFrame(DATA), **{"others": "drop", **arguments})
    assert "anonymize: " in caught.value.what
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "repeated-column"),
        (pd.DataFrame({"age": []}), "no-records"),
        (pl.DataFrame({"age": []}), "no-records"),
        (pd.DataFrame(), "no-columns"),
        (pd.Series([1, 2], name="age"), "not-a-frame"),
        (pl.Series("age", [1, 2]), "not-a-frame"),
        ([{"age": 1}], "not-a-frame"),
        (pd.DataFrame({"age": [1, "x"]}), "mixed-types"),
    ],
)
def test_what_is_no_table_of_records_is_refused(frame: Any, code: str) -> None:
    with pytest.raises(shoal.BadData) as caught:
        shoal.anonymize(frame, ["age"], k=2)
    assert caught.value.code == code


@pytest.mark.slow
def test_one_name_needs_no_list_and_names_may_be_numbers() -> None:
    frame = pd.DataFrame({0: [1, 1, 2, 2], 1: list("abcd")})
    assert list(shoal.anonymize(frame, [0], others="keep", k=2).columns) == ["0", "1"]
    assert list(shoal.anonymize(frame, "0", others="drop", k=2)["0"]) == ["1", "1", "2", "2"]


def test_a_demand_that_cannot_be_met_returns_nothing() -> None:
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(pd.DataFrame(DATA), ["age"], k=9, others="drop")


@pytest.mark.slow
def test_a_release_is_verified_with_the_definition_alone(tmp_path: Path) -> None:
    pl.DataFrame(DATA).write_csv(tmp_path / "data.csv")
    stated = {
        "source": str(tmp_path / "data.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 3,
        "others": "keep",
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": hierarchy}
            for name, hierarchy in HIERARCHIES.items()
        },
    }
    shoal.run(stated)
    assert shoal.verify(tmp_path / "release.csv", stated).safe
    assert shoal.check(tmp_path / "release.csv", ["age", "zip"]).k == 3
    assert not shoal.verify(tmp_path / "data.csv", stated).safe

"""The types of a released frame depend on the call and the frame, never on what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

import shoal

ZIPS = ["10115"] * 4 + ["80331"] * 4
"""Two places: safe as they are for k up to 4; above that they become one."""
ONE_AND_MANY = ["10115"] * 7 + ["80331"]


def frame_of(zips: list[str]) -> pd.DataFrame:
    """Quasi-identifiers of many types, all of which go with the zip, and columns to keep."""
    first = [zip_ == "10115" for zip_ in zips]
    whole = [1 if each else 2 for each in first]
    return pd.DataFrame(
        {
            "zip": zips,
            "age": whole,
            "yes": first,
            "size": [each / 2 for each in whole],
            "born": pd.to_datetime(["1980-01-01" if each else "1990-05-05" for each in first]),
            "kind": pd.Categorical(["a" if each else "b" for each in first]),
            "nullable": pd.array([None if each else 5 for each in first], dtype="Int64"),
            "arrow": pd.Series(whole, dtype=pd.ArrowDtype(pa.int8())),
            "none": [None] * len(zips),
            "fixed": [7] * len(zips),
            "kept": range(len(zips)),
            "flag": [True] * len(zips),
        }
    )


QUASI = ["zip", "age", "yes", "size", "born", "kind", "nullable", "arrow", "none"]
TYPES = {
    "pandas": ("str", "int64", "Int64", "boolean", "bool"),
    "polars": ("String", "Int64", "Int64", "Boolean", "Boolean"),
    "arrow": ("string", "int64", "int64", "bool", "bool"),
}
"""By frame: text, whole numbers, the same with missing values, truth with and without those."""


def types_of(frame: Any) -> dict[str, str]:
    if isinstance(frame, pa.Table):
        return {field.name: str(field.type) for field in frame.schema}
    return {name: str(kind) for name, kind in zip(frame.columns, frame.dtypes, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("recoding", ["full-domain", "local"])
def test_types_do_not_depend_on_levels_or_suppression(kind: Any, recoding: Any) -> None:
    text, whole, missing, truth_missing, truth = TYPES[kind]
    quasi: dict[str, Any] = dict.fromkeys(QUASI)
    quasi["fixed"] = {"limit": 0}
    levels = set()
    for zips, k in ((ZIPS, 2), (ZIPS, 5), (ONE_AND_MANY, 5)):
        for suppressed in ("drop", "mark"):
            given = frame_of(zips)
            frame = {"pandas": given, "polars": pl.from_pandas(given)}.get(kind)
            frame = pa.Table.from_pandas(given) if frame is None else frame
            released, result = shoal.anonymize(
                frame,
                quasi,
                k=k,
                suppression=1,
                suppressed=suppressed,
                sensitive={"flag": {"closeness": 1}},
                keep="kept",
                recoding=recoding,
                with_result=True,
            )
            levels.add((str(result.levels["zip"]), result.suppressed))
            fixed = text if recoding == "local" else whole if suppressed == "drop" else missing
            assert types_of(released) == {
                **dict.fromkeys(QUASI, text),
                "fixed": fixed,
                "kept": whole,
                "flag": truth if suppressed == "drop" else truth_missing,
            }
    assert len(levels) == 3


def test_a_lazy_frame_comes_back_lazy_and_a_batch_as_a_table() -> None:
    given = pl.LazyFrame({"zip": ZIPS})
    released = shoal.anonymize(given, ["zip"], k=4)
    assert isinstance(released, pl.LazyFrame)
    assert released.collect()["zip"].to_list() == ZIPS
    batch = pa.RecordBatch.from_pydict({"zip": ZIPS})
    assert isinstance(shoal.anonymize(batch, ["zip"], k=4), pa.Table)


@pytest.mark.slow
def test_an_applied_frame_has_the_types_of_the_release(tmp_path: Path) -> None:
    given = frame_of(ZIPS)[["zip", "age", "fixed", "kept"]]
    given.to_parquet(tmp_path / "given.parquet")
    hierarchy = {"role": "quasi-identifier", "hierarchy": "suppress"}
    definition = {
        "source": str(tmp_path / "given.parquet"),
        "output": str(tmp_path / "released.parquet"),
        "k": 4,
        "others": "keep",
        "attributes": {
            "zip": hierarchy,
            "age": hierarchy,
            "fixed": {**hierarchy, "limit": 0},
        },
    }
    shoal.run(definition, transformation=tmp_path / "recoding.json")
    applied = shoal.apply(tmp_path / "recoding.json", given)
    quasi = {"zip": "suppress", "age": "suppress", "fixed": {"hierarchy": "suppress", "limit": 0}}
    released = shoal.anonymize(given, quasi, k=4, others="keep")
    assert types_of(applied.frame) == types_of(released)
    assert types_of(released) == {"zip": "str", "age": "str", "fixed": "int64", "kept": "int64"}
    assert sorted(applied.frame["age"]) == sorted(released["age"]) == ["1"] * 4 + ["2"] * 4


def test_types_of_a_spark_frame_do_not_depend_on_levels(spark_session: Any) -> None:
    rows = [(zip_, int(zip_), zip_ == "10115", 7, 1.5) for zip_ in ZIPS]
    frame = spark_session.createDataFrame(
        rows, "zip string, age int, yes boolean, fixed int, kept double"
    )
    quasi: dict[str, Any] = {"zip": None, "age": None, "yes": "suppress", "fixed": {"limit": 0}}
    for k, ages in ((4, {"10115", "80331"}), (5, None)):
        released = shoal.anonymize(frame, quasi, k=k, keep="kept", suppressed="mark")
        assert [(field.name, field.dataType.simpleString()) for field in released.schema] == [
            *((name, "string") for name in ("zip", "age", "yes")),
            ("fixed", "int"),
            ("kept", "double"),
        ]
        found = {row["age"] for row in released.collect()}
        assert found == ages if ages else len(found) == 1
        assert shoal.check(released, ["zip", "age", "yes", "fixed"]).k >= k

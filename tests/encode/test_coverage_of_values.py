"""A hierarchy covers every value of the data, or the error names those that it lacks."""

from pathlib import Path

import pytest

from shoal.definition.model import (
    Csv,
    Cuts,
    Dates,
    Groups,
    Hierarchy,
    Intervals,
    Mask,
    Suppress,
    Taxonomy,
)
from shoal.encode.hierarchy import build, read_hierarchy, write_hierarchy
from shoal.errors import BadHierarchy

BUILDERS: list[Hierarchy] = [
    Suppress(),
    Mask(mask=(1, 2)),
    Intervals(intervals=(5.0, 10.0)),
    Cuts(cuts=((30.0, 60.0), (30.0,))),
    Dates(date=("month", "year")),
    Groups(groups=(2, 4)),
]


def uncovered(spec: Hierarchy, counts: dict[str, int]) -> BadHierarchy:
    with pytest.raises(BadHierarchy) as caught:
        build("age", spec, counts)
    assert caught.value.code == "uncovered-value"
    return caught.value


def test_ten_uncovered_values_are_named_the_most_frequent_first() -> None:
    counts = {f"v{number:02}": number for number in range(1, 14)}
    error = uncovered(Intervals(intervals=(5.0,)), {**counts, "7": 99})
    assert "'age' does not cover 13 values of the data: 'v13' (13 records), 'v12'" in error.what
    assert error.what.endswith("'v04' (4 records) and 3 more")


def test_one_uncovered_value_is_named_with_its_one_record() -> None:
    error = uncovered(Intervals(intervals=(5.0,)), {"?": 1, "7": 99})
    assert error.what.endswith("1 value of the data: '?' (1 record)")
    assert 'missing: {values: ["?"]}' in error.hint


def test_what_looks_missing_is_offered_as_a_missing_value() -> None:
    error = uncovered(Intervals(intervals=(5.0,)), {"n/a": 2, "abc": 5, "Unknown": 3})
    assert 'missing: {values: ["Unknown", "n/a"]}' in error.hint


def test_a_file_asks_for_a_row(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("1;*\n2;*\n")
    error = uncovered(Csv(path=tmp_path / "age.csv"), {"1": 4, "3": 2})
    assert "'3' (2 records)" in error.what
    assert "add a row for each to age.csv" in error.hint


def test_a_file_of_one_column_asks_for_its_delimiter(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("1,*\n2,*\n")
    assert "give its delimiter" in uncovered(Csv(path=tmp_path / "age.csv"), {"1": 4}).hint


def test_a_tree_asks_for_a_leaf() -> None:
    assert "as a leaf of the tree" in uncovered(Taxonomy(tree={"x": ["1"]}), {"2": 1}).hint


def test_files_and_trees_may_have_leaves_that_the_data_lacks(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("2;*\n1;*\n")
    assert build("age", Csv(path=tmp_path / "age.csv"), {"1": 4}).labels[0] == ("2", "1")
    assert build("age", Taxonomy(tree={"x": ["2", "1"]}), {"1": 4}).labels[0] == ("2", "1")


@pytest.mark.parametrize("spec", BUILDERS, ids=lambda spec: type(spec).__name__)
def test_a_column_without_values_gets_its_levels_and_a_top(spec: Hierarchy) -> None:
    hierarchy = build("age", spec, {})
    listed = 0 if isinstance(spec, Suppress) else 2
    assert hierarchy.labels == ((),) * (listed + 1) + (("*",),)


@pytest.mark.parametrize("spec", BUILDERS, ids=lambda spec: type(spec).__name__)
def test_a_built_hierarchy_is_the_same_after_a_trip_through_a_file(
    spec: Hierarchy, tmp_path: Path
) -> None:
    values = [f"20{year}-0{month}-11" for year in range(10, 15) for month in range(1, 6)]
    if isinstance(spec, Intervals | Cuts):
        values = [str(number) for number in range(100)]
    built = build("age", spec, dict.fromkeys(values, 1))
    write_hierarchy(built, tmp_path / "age.csv")
    again = read_hierarchy("age", tmp_path / "age.csv")
    assert again.labels == built.labels
    assert [groups.tolist() for groups in again.groups] == [g.tolist() for g in built.groups]

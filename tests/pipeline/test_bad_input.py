"""Input as it comes: each file gives a right answer or a clear error, and nothing is lost."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import ShoalError

QI = "quasi-identifier"


def definition(folder: Path, content: str | bytes, **keys: Any) -> dict[str, Any]:
    """The content as a file, and a definition that generalizes its column `a`."""
    source = folder / "data.csv"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    given = {"k": 2, "attributes": {"a": QI}, "others": "keep", **keys}
    return {"source": str(source), "output": str(folder / "out.csv"), **given}


def refusal(stated: dict[str, Any] | Path) -> ShoalError:
    """The error of a run that must leave the old output, and no file of its own."""
    folder = stated.parent if isinstance(stated, Path) else Path(stated["source"]).parent
    (folder / "out.csv").write_text("old", encoding="utf-8")
    before = sorted(folder.iterdir())
    with pytest.raises(ShoalError) as caught:
        shoal.run(stated)
    assert sorted(folder.iterdir()) == before
    assert (folder / "out.csv").read_text(encoding="utf-8") == "old"
    return caught.value


def released(stated: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """The rows of a run that must be verified."""
    result = shoal.run(stated)
    assert result.verified
    with Path(stated["output"]).open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row) for row in list(csv.reader(file))[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("", "empty-file", "data.csv is empty"),
        ("a,b\n", "no-records", "data.csv has no records"),
        ("a,a\n1,2\n1,2\n", "repeated-column", "2 columns named 'a'"),
        (b"a,b\ncaf\xe9,1\n", "bad-encoding", "line 2"),
        ("a,b\n1\n", "ragged-row", "line 2"),
        ("x,b\n1,2\n1,2\n", "bad-definition", "no column 'a'"),
    ],
)
def test_a_file_that_is_no_table_is_refused_by_name(
    tmp_path: Path, content: str | bytes, code: str, words: str
) -> None:
    error = refusal(definition(tmp_path, content))
    assert (error.exit_code, error.code) == (2, code)
    assert words in error.what


@pytest.mark.parametrize(("content", "k"), [("a,b\n1,2\n", 2), ("a,b\n1,2\n2,3\n", 3)])
def test_fewer_records_than_k_cannot_be_released(tmp_path: Path, content: str, k: int) -> None:
    error = refusal(definition(tmp_path, content, k=k))
    assert (error.exit_code, error.code) == (3, "infeasible")


def test_a_table_of_which_all_may_be_suppressed_still_releases_something_or_nothing(
    tmp_path: Path,
) -> None:
    error = refusal(definition(tmp_path, "a,b\n1,2\n", suppression="100%"))
    assert error.exit_code == 3


def test_equal_rows_are_released_as_they_are(tmp_path: Path) -> None:
    assert released(definition(tmp_path, "a,b\n" + "1,2\n" * 50)) == {("1", "2"): 50}


@pytest.mark.slow
@pytest.mark.parametrize("hierarchy", [None, {"mask": 3}, {"intervals": [10]}, "suppress"])
def test_a_column_that_is_all_missing_is_one_class(tmp_path: Path, hierarchy: Any) -> None:
    attribute = {"role": QI} if hierarchy is None else {"role": QI, "hierarchy": hierarchy}
    stated = definition(tmp_path, "a,b\n" + ",1\n" * 6, attributes={"a": attribute})
    assert released(stated) == {("", "1"): 6}


def test_under_basic_match_a_column_that_is_all_missing_is_an_error(tmp_path: Path) -> None:
    assert refusal(definition(tmp_path, "a,b\n,1\n,1\n", missing="basic")).code == "all-missing"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hierarchy", "label"),
    [(None, "00000*"), ({"mask": 6}, "00000*"), ({"intervals": [10, 1000]}, "[0,10)")],
)
def test_a_hundred_thousand_distinct_values_are_generalized(
    tmp_path: Path, hierarchy: Any, label: str
) -> None:
    content = "a,b\n" + "".join(f"{i:06d},x\n" for i in range(100_000))
    attribute = {"role": QI} if hierarchy is None else {"role": QI, "hierarchy": hierarchy}
    rows = released(definition(tmp_path, content, attributes={"a": attribute}))
    assert rows[label, "x"] == 10
    assert len(rows) == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["x\ny", 'q"q', "c,c", "n\0l", "\x1b[31m", " ", "'; --", "é\u200b"])
def test_odd_values_are_released_as_they_are(tmp_path: Path, odd: str) -> None:
    quoted = '"' + odd.replace('"', '""') + '"'
    stated = definition(tmp_path, f"a,b\n{quoted},1\nz,2\n" * 1 + f"{quoted},1\nz,2\n")
    assert released(stated) == {(odd, "1"): 2, ("z", "2"): 2}


@pytest.mark.slow
def test_a_hierarchy_of_ten_levels_stops_at_the_lowest_safe_one(tmp_path: Path) -> None:
    widths = [2**level for level in range(1, 11)]
    attributes = {"a": {"role": QI, "hierarchy": {"intervals": widths}}}
    content = "a\n" + "".join(f"{i}\n" for i in range(1024))
    rows = released(definition(tmp_path, content, k=5, attributes=attributes))
    assert len(rows) == 128
    assert rows["[0,8)",] == 8


def test_a_hierarchy_that_lacks_values_is_refused_with_the_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1;*\n2;*\n", encoding="utf-8")
    attributes = {"a": {"role": QI, "hierarchy": str(tmp_path / "a.csv")}}
    error = refusal(definition(tmp_path, "a,b\n1,x\n3,x\n3,x\n", attributes=attributes))
    assert error.exit_code == 2
    assert "3" in error.what


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    content = "a,b\n1,2\n1,2\n"
    places = {
        tmp_path / "nowhere" / "out.csv": "no-output-folder",
        tmp_path / "data.csv" / "out.csv": "no-output-folder",
        Path("/proc/out.csv"): "output-folder-not-writable",
        tmp_path / "out.xyz": "unknown-output-format",
        tmp_path / "data.csv": "bad-definition",
    }
    for place, code in places.items():
        error = refusal(definition(tmp_path, content, output=str(place)))
        assert (error.exit_code, error.code) == (2, code)
    (tmp_path / "folder.csv").mkdir()
    stated = definition(tmp_path, content, output=str(tmp_path / "folder.csv"))
    assert refusal(stated).code == "output-not-a-file"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no such file"),
        (b"", "is empty"),
        (b"\x00\xff\xfe", "is not UTF-8"),
        (b"- a\n- b\n", "not a mapping"),
        (b"k: [1\n", "line"),
        (b"k: 5\n", "source"),
    ],
)
def test_a_file_that_is_no_definition_is_refused_by_name(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "patients.yaml"
    if content is not None:
        path.write_bytes(content)
    error = refusal(path)
    assert error.code == "bad-definition"
    assert str(path) in error.what
    assert words in error.what


def test_a_column_that_the_source_lacks_is_an_error_that_names_the_definition(
    tmp_path: Path,
) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n1,2\n", encoding="utf-8")
    path = tmp_path / "patients.yaml"
    path.write_text(
        "source: data.csv\noutput: out.csv\nk: 2\nattributes: {aa: quasi-identifier}\n",
        encoding="utf-8",
    )
    error = refusal(path)
    assert str(path) in error.what
    assert "did you mean 'a'?" in error.what

"""Files that cannot be read: each a clear error that names the line and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions
from shoal.errors import BadData


def refusal(path: Path | str, **options: Any) -> BadData:
    with (
        pytest.raises(BadData) as caught,
        open_files(FileOptions(str(path), **options)) as source,
    ):
        source.count_by([column.name for column in source.columns()])
    assert caught.value.hint
    return caught.value


def write(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("row", ["only", "one,two,three"])
def test_a_ragged_row_is_refused_with_its_line_number(tmp_path: Path, row: str) -> None:
    text = 'a,b\n"x\ny",1\n' + "x,1\n" * 50_000 + row + "\nx,1\n"
    error = refusal(write(tmp_path, text))
    assert error.code == "ragged-row"
    assert "data.csv, line 50004: " in error.what


def test_a_ragged_first_record_is_refused_too(tmp_path: Path) -> None:
    assert "line 2: 1 field where" in refusal(write(tmp_path, "a,b\nann\nx,1\n")).what


@pytest.mark.slow
@pytest.mark.parametrize("records", [0, 100_000])
def test_broken_utf8_is_refused_with_its_line_and_the_remedy(tmp_path: Path, records: int) -> None:
    content = b"a,b\n" + b"x,1\n" * records + b"caf\xe9,2\nx,3\n"
    error = refusal(write(tmp_path, content))
    assert error.code == "bad-encoding"
    assert f"line {records + 2}: " in error.what
    assert "encoding: latin-1}" in error.hint


def test_a_quote_that_never_closes_is_refused(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, 'a,b\nx,1\ny,"2\nz,3\n'))
    assert error.code == "bad-quote"


def test_errors_never_show_the_data(tmp_path: Path) -> None:
    for content in (b"a,b\nsecret\n", b'a,b\n"secret"x,1\n', b"a,b\nsecret\xff,1\n"):
        assert "secret" not in str(refusal(write(tmp_path, content)))


def test_a_column_twice_is_refused(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, "a,b,a\n1,2,3\n"))
    assert (error.code, "'a'" in error.what) == ("repeated-column", True)


def test_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, ",a\n0,1\n"))
    assert (error.code, "column 1" in error.what) == ("unnamed-column", True)


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path: Path, content: str) -> None:
    assert refusal(write(tmp_path, content)).code == "empty-file"


def test_a_missing_file_suggests_a_near_one(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "patients.csv")
    error = refusal(tmp_path / "patient.csv")
    assert error.code == "no-file"
    assert "did you mean 'patients.csv'?" in error.what
    assert refusal(tmp_path / "nowhere" / "patient.csv").code == "no-file"


def test_a_folder_and_a_glob_without_files_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "source-is-a-folder"
    assert refusal(tmp_path / "*.csv").code == "no-files"


def test_a_file_that_the_system_does_not_open_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a\n1\n")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refusal(path).code == "file-not-readable"


def test_an_unknown_ending_asks_for_the_format(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n", "data.dat")
    assert refusal(path).code == "unknown-format"
    with open_files(FileOptions(str(path), format="csv", header=True)) as source:
        assert source.count_by(["a"]).num_rows == 1


def test_files_with_other_columns_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "a,b\n1,2\n", "p1.csv")
    write(tmp_path, "a,c\n1,2\n", "p2.csv")
    error = refusal(tmp_path / "p*.csv")
    assert error.code == "different-columns"
    assert "p2.csv" in error.what
    assert "lacks 'b' and adds 'c'" in error.what


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    assert refusal(path, encoding="utf-nine").code == "unknown-encoding"
    assert refusal(path, delimiter="||").code == "bad-delimiter"
    assert refusal(path, quote="ab").code == "bad-quote"


@pytest.mark.parametrize("name", ["data.parquet", "data.json", "data.csv.gz", "data.csv.zst"])
def test_a_file_of_another_format_than_its_ending_is_refused(tmp_path: Path, name: str) -> None:
    assert refusal(write(tmp_path, "a,b\nx,1\n", name)).code == "unreadable-data"


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, '{"a":1}\n{"a":secret}\n{"a":3}\n', "data.jsonl"))
    assert "data.jsonl is not JSON near line " in error.what
    assert "secret" not in str(error)


@pytest.mark.parametrize(("text", "code"), [("[]", "empty-file"), ("[1, 2]", "not-records")])
def test_json_without_records_is_refused(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(write(tmp_path, text, "data.json")).code == code


def test_an_unknown_column_lists_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "zipcode,age\n1,2\n")
    with open_files(FileOptions(str(path))) as source, pytest.raises(BadData) as caught:
        source.count_by(["zip_code"])
    assert caught.value.code == "unknown-column"
    assert "did you mean 'zipcode'?" in caught.value.what
    assert "'zipcode', 'age'" in caught.value.hint


def test_a_refused_file_leaves_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    refusal(write(tmp_path, "a,b\nonly\n"))
    refusal(write(tmp_path, b"a,b\r\nx\n\xff,1\n"), encoding="utf-16")
    assert list((tmp_path / "tmp").iterdir()) == []

"""Hierarchy files: read and written as ARX does, refused with the line of the mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encode.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
from shoal.errors import BadHierarchy, BadOutput


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "age.csv"


def refusal(file: Path, content: bytes) -> BadHierarchy:
    file.write_bytes(content)
    with pytest.raises(BadHierarchy) as caught:
        read_hierarchy("age", file)
    assert "'age'" in caught.value.what
    assert caught.value.hint
    return caught.value


def test_a_file_is_read_with_its_quotes_blank_lines_and_byte_order_mark(file: Path) -> None:
    file.write_bytes('\ufeff"a;1";"say ""x""";*\r\n\r\nb;b;*\r\n'.encode())
    hierarchy = read_hierarchy("age", file)
    assert list(hierarchy.rows()) == [("a;1", 'say "x"', "*"), ("b", "b", "*")]


def test_another_delimiter_is_taken_when_given(file: Path) -> None:
    file.write_text("a,x,*\nb,x,*\n")
    assert read_hierarchy("age", file, ",").labels == (("a", "b"), ("x",), ("*",))


@pytest.mark.slow
def test_a_ragged_row_is_refused_with_its_line_number(file: Path) -> None:
    error = refusal(file, b"a;x;*\n\nb;x;*\nc;*\n")
    assert "age.csv line 4 has 2 cells where age.csv line 1 has 3" in error.what


def test_line_numbers_count_newlines_inside_quotes(file: Path) -> None:
    error = refusal(file, b'"a\n\nb";x;*\n"c\n";x;*\nd;*\n')
    assert "age.csv line 6 has 2 cells" in error.what


def test_a_row_of_several_lines_is_named_by_the_line_it_begins_at(file: Path) -> None:
    error = refusal(file, b'a;*\n"b\n\nc";x;*\n')
    assert "age.csv line 2 has 3 cells" in error.what


def test_a_repeated_value_is_refused_with_both_lines(file: Path) -> None:
    error = refusal(file, b"a;x;*\nb;x;*\na;y;*\n")
    assert error.code == "value-twice"
    assert "at age.csv line 1 and at age.csv line 3" in error.what


def test_a_row_that_is_repeated_as_it_was_counts_once(file: Path) -> None:
    file.write_bytes(b'a;x;*\nb;y;*\n"a";x;*\n\na;x;*\n')
    hierarchy = read_hierarchy("age", file)
    assert list(hierarchy.rows()) == [("a", "x", "*"), ("b", "y", "*")]


def test_the_line_of_a_mistake_behind_a_repeated_row_is_right(file: Path) -> None:
    assert "age.csv line 3 has 1 cells" in refusal(file, b"a;*\na;*\nb\n").what


def test_rows_that_do_not_nest_are_refused_with_both_lines(file: Path) -> None:
    error = refusal(file, b"a;x;p\nb;x;q\n")
    assert "at age.csv line 1 and at age.csv line 2" in error.what


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n\n"])
def test_an_empty_file_is_refused(file: Path, content: bytes) -> None:
    assert refusal(file, content).code == "empty-hierarchy"


def test_broken_utf8_is_refused_with_its_line_number(file: Path) -> None:
    assert "age.csv line 2 is not UTF-8" in refusal(file, b"a;*\nM\xfcnchen;*\n").what


def test_an_open_quote_is_refused_with_its_line_number(file: Path) -> None:
    error = refusal(file, b'a;*\n"b;*\nc;*\n')
    assert error.code == "unreadable-hierarchy"
    assert "age.csv line 2" in error.what


def test_a_missing_file_is_refused(file: Path) -> None:
    with pytest.raises(BadHierarchy, match=r"age\.csv: No such file"):
        read_hierarchy("age", file)


def test_a_written_file_quotes_only_where_needed(file: Path) -> None:
    rows = [("a", "[0,5)", "*"), ("b;c", 'd"e', "*"), (" f", "#g", "*")]
    write_hierarchy(Hierarchy.from_rows("age", rows, str), file)
    assert file.read_bytes() == b'a;[0,5);*\n"b;c";"d""e";*\n" f";"#g";*\n'


cells = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@pytest.mark.slow
@given(
    leaves=st.lists(cells, min_size=1, max_size=8, unique=True),
    labels=st.lists(cells, max_size=3),
)
def test_any_hierarchy_comes_back_from_its_file(
    leaves: list[str], labels: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [(leaf, *labels) for leaf in leaves]
    file = tmp_path_factory.mktemp("hierarchy") / "age.csv"
    write_hierarchy(Hierarchy.from_rows("age", rows, str), file)
    assert list(read_hierarchy("age", file).rows()) == rows


def test_a_file_that_exists_is_kept_unless_overwriting_is_asked_for(file: Path) -> None:
    file.write_text("old")
    hierarchy = Hierarchy.from_rows("age", [("a", "*")], str)
    with pytest.raises(BadOutput) as caught:
        write_hierarchy(hierarchy, file)
    assert caught.value.code == "file-exists"
    assert file.read_text() == "old"
    write_hierarchy(hierarchy, file, overwrite=True)
    assert file.read_text() == "a;*\n"


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="No such file or directory"):
        write_hierarchy(Hierarchy.from_rows("age", [("a", "*")], str), tmp_path / "x" / "age.csv")


def test_a_hierarchy_without_values_is_not_written(file: Path) -> None:
    with pytest.raises(BadHierarchy, match="no values to write"):
        write_hierarchy(Hierarchy.without_leaves("age", levels=1), file)
    assert not file.exists()

from __future__ import annotations

import gzip
from collections import Counter
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.xml import (
    LARGEST_RECORD,
    XmlReader,
    XmlWriter,
    from_xml_name,
    to_xml_name,
)
from shoal.engines.options import FileOptions, FileTarget
from shoal.errors import BadData, BadOutput

texts = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cs"), include_characters="\t\n\r"
    ).filter(lambda character: character not in "\ufffe\uffff"),
    max_size=6,
) | st.sampled_from(["<a>", "&amp;", "]]>", '"', " x ", "_x0041_", "\r\n", "a\tb"])
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6) | st.sampled_from(
    ["xml", "xmlns", "XML-x", "_x0041_", "a b", "ns:a", "1a", "-", "field", "é", "\0"]
)


def read(path: Path, **options: str) -> list[dict[str, str | None]]:
    batches = list(XmlReader().read(path, options))
    return [row for batch in batches for row in batch.to_pylist()]


def refusal(path: Path, text: str, **options: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadData) as caught:
        read(path, **options)
    assert caught.value.hint
    return caught.value.what


@given(names)
def test_every_name_has_an_xml_name_and_reads_back(name: str) -> None:
    written = to_xml_name(name)
    assert from_xml_name(written) == name
    assert from_xml_name("{urn:other}" + written) == name
    assert not written.lower().startswith("xml")
    assert ":" not in written


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(names, min_size=1, max_size=3, unique=True).flatmap(
        lambda found: st.lists(
            st.fixed_dictionaries(dict.fromkeys(found, st.none() | texts)), min_size=1, max_size=4
        )
    ),
    st.sampled_from([{}, {"fields": "attributes"}, {"row": "patient", "fields": "elements"}]),
)
def test_what_is_written_is_read_back(
    tmp_path: Path, rows: list[dict[str, str | None]], options: dict[str, str]
) -> None:
    path = tmp_path / "rows.xml"
    schema = pa.schema([(name, pa.string()) for name in rows[0]])
    XmlWriter().write(pa.Table.from_pylist(rows, schema).to_reader(), path, options)
    found = read(path, **options)
    assert [{k: v or None for k, v in row.items()} for row in found] == [
        {k: v or None for k, v in row.items()} for row in rows
    ]
    assert list(found[0]) == list(rows[0])


def test_fields_are_elements_and_attributes_in_any_namespace(tmp_path: Path) -> None:
    path = tmp_path / "patients.xml"
    path.write_text(
        """<?xml version="1.0"?><!-- a comment --><p:patients xmlns:p="urn:p"
             xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
           <p:patient id="1" xsi:type="t"><p:sex>m<!-- c -->f</p:sex>
             <age><![CDATA[ <5 ]]></age></p:patient>
           <p:patient id="2"><age xsi:nil="true">7</age><city/></p:patient>
           <p:patient/>
           </p:patients>""",
        encoding="utf-8",
    )
    assert read(path) == [
        {"id": "1", "sex": "mf", "age": " <5 ", "city": None},
        {"id": "2", "sex": None, "age": None, "city": None},
        {"id": None, "sex": None, "age": None, "city": None},
    ]
    assert read(path, fields="attributes") == [{"id": "1"}, {"id": "2"}, {"id": None}]
    assert [set(row) for row in read(path, fields="elements")] == [{"sex", "age", "city"}] * 3


def test_the_name_of_a_record_finds_it_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "deep.xml"
    path.write_text(
        "<a><head><made>now</made></head><ward><p><x>1</x></p><p><x>2</x></p></ward>"
        "<ward><p><x>3</x><p>4</p></p></ward><foot/></a>",
        encoding="utf-8",
    )
    assert read(path, row="p") == [
        {"x": "1", "p": None},
        {"x": "2", "p": None},
        {"x": "3", "p": "4"},
    ]
    assert "different elements under its root" in refusal(path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE a [<!ENTITY e "x">]><a><r><x>&e;</x></r></a>', "document type"),
        ('<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a><r/></a>', "document type"),
        ("<a><r><x>&e;</x></r></a>", "not XML"),
        ("<a><r><x>1</r></a>", "not XML"),
        ("<a><r><x>1</x></r>", "not XML"),
        ("no XML", "not XML"),
        ("<a><r><x><y>1</y></x></r></a>", "more than text in a field"),
        ("<a><r>1</r></a>", "text beside the fields"),
        ("<a><r><x/>1</r></a>", "more than text"),
        ("<a><r><x>1</x><x>2</x></r></a>", "'x' twice"),
        ('<a><r x="1"><x>2</x></r></a>', "'x' twice"),
        ("<a><r><x>1</x></r><s/></a>", "different elements"),
        ("<a><r><x>1</x></r><s/><r><x>1</x></r></a>", "different elements"),
        ("<a>" * 300, "not XML"),
        (
            '<a><r><i:include xmlns:i="http://www.w3.org/2001/XInclude" href="b"/></r></a>',
            "includes another file",
        ),
    ],
)
def test_what_is_no_table_is_refused_in_our_words(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path / "bad.xml", text)


def test_nested_entities_are_refused_before_they_grow(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    text = f'<!DOCTYPE a [<!ENTITY e0 "ha">{entities}]><a b="&e9;"><r>&e9;</r></a>'
    assert "document type" in refusal(tmp_path / "laughs.xml", text)


def test_a_record_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "endless.xml"
    with path.open("w", encoding="utf-8") as file:
        file.write("<a><r>")
        for _ in range(LARGEST_RECORD // 1000 + 200):
            file.write("<x>" + "y" * 993 + "</x>")
    with pytest.raises(BadData, match="no end of a record"):
        read(path)


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    assert "no way to hold" in refusal(path, "<a><r/></a>", fields="columns")
    assert "no name of an element" in refusal(path, "<a><r/></a>", row="a b")
    with pytest.raises(BadData, match="takes no option 'rows'; did you mean 'row'"):
        open_files(FileOptions(str(path), options={"rows": "r"}))


def test_a_character_that_xml_cannot_hold_is_refused_with_its_column(tmp_path: Path) -> None:
    rows = pa.table({"a": ["x"], "b": ["secret\x01"]}).to_reader()
    with pytest.raises(BadOutput) as caught:
        XmlWriter().write(rows, tmp_path / "out.xml", {})
    assert caught.value.code == "not-in-xml"
    assert "'b'" in caught.value.what
    assert "secret" not in caught.value.what


def test_xml_files_are_counted_alone_packed_and_beside_csv(tmp_path: Path) -> None:
    text = "<a><r><x>1</x><y>b</y></r><r><x>1</x></r></a>"
    (tmp_path / "one.xml").write_text(text, encoding="utf-8")
    (tmp_path / "two.xml.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "three.csv").write_text("y,x\nb,1\n", encoding="utf-8")
    with closing(open_files(FileOptions(str(tmp_path / "*")))) as source:
        rows = source.count_by(["x", "y"]).to_pylist()
    assert Counter({(r["x"], r["y"]): r["#records"] for r in rows}) == {
        ("1", "b"): 3,
        ("1", None): 2,
    }


def test_an_xml_file_without_records_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "none.xml").write_text("<a/>", encoding="utf-8")
    with pytest.raises(BadData) as caught:
        open_files(FileOptions(str(tmp_path / "none.xml")))
    assert caught.value.code == "no-columns"


@pytest.mark.slow
def test_many_records_are_read_without_keeping_them(tmp_path: Path) -> None:
    path = tmp_path / "many.xml"
    with path.open("w", encoding="utf-8") as file:
        file.write("<a>" + "".join(f"<r><x>{i}</x></r>\n" for i in range(25_000)) + "</a>")
    sizes = [batch.num_rows for batch in XmlReader().read(path, {})]
    assert sizes == [10_000, 10_000, 5_000]


def test_a_packed_xml_output_is_refused(tmp_path: Path) -> None:
    from shoal.engines.opening import check_target

    with pytest.raises(BadOutput) as caught:
        check_target(FileTarget(tmp_path / "out.xml.gz"))
    assert caught.value.code == "packed-output"


@pytest.mark.parametrize("fields", ["elements", "attributes"])
def test_marked_records_are_missing_in_xml(tmp_path: Path, fields: str) -> None:
    lines = ["q", *"abbbb"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    definition = {
        "source": str(tmp_path / "in.csv"),
        "output": {"path": str(tmp_path / "out.xml"), "options": {"fields": fields}},
        "k": 4,
        "suppression": 1,
        "suppressed": "mark",
        "attributes": {"q": {"role": "quasi-identifier", "limit": 0}},
    }
    assert shoal.run(definition).suppressed == 1
    found = [row["q"] or None for row in read(tmp_path / "out.xml", fields=fields)]
    assert Counter(found) == {"b": 4, None: 1}


@pytest.mark.parametrize(
    ("fields", "records"),
    [
        ("elements", "<r><q>a</q></r><r/><r/><r/><r><q/></r>"),
        ("attributes", '<r q="a"/><r/><r/><r/><r q=""/>'),
    ],
)
def test_empty_and_absent_fields_of_a_changed_release_are_distinguished(
    tmp_path: Path, fields: str, records: str
) -> None:
    path = tmp_path / "out.xml"
    path.write_text(f"<a>{records}</a>", encoding="utf-8")
    batches = list(XmlReader().read_stored(path, {"fields": fields}))
    assert [row["q"] for batch in batches for row in batch.to_pylist()] == [
        *("a", None, None, None, "")
    ]

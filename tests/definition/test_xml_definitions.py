"""Reading XML definitions: the report's words, what is refused for safety, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.definition.model import Database, Mask, Taxonomy
from shoal.definition.read import LARGEST, read
from shoal.errors import BadDefinition, Mistake

PARAMETERS = "<k>4</k>"
SOURCE = '<datasource path="patients.csv"/>'
ATTRIBUTES = '<attributes><attribute name="zip" type="k-attribute"/></attributes>'


def xml(parameters: str = PARAMETERS, body: str = "", attributes: str = ATTRIBUTES) -> str:
    return (
        f"<definition>\n<parameters>{parameters}</parameters>\n"
        f"{body or SOURCE}\n{attributes}\n</definition>\n"
    )


def written(folder: Path, text: str) -> Path:
    path = folder / "definition.xml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(folder: Path, text: str) -> tuple[Mistake, ...]:
    with pytest.raises(BadDefinition) as caught:
        read(written(folder, text))
    return caught.value.mistakes


def refusal(folder: Path, text: str) -> str:
    found = mistakes(folder, text)
    assert len(found) == 1, found
    return str(found[0])


def test_the_types_of_the_report_are_roles(tmp_path: Path) -> None:
    attributes = """<attributes others="drop">
        <attribute name="zip" type="k-attribute" priority="0.8" limit="3"/>
        <attribute name="ill" type="l-attribute"><diversity type="distinct" l="3"/></attribute>
        <attribute name="ward" type="dontcare"/><attribute name="notes" type="ignore"/>
        <attribute name="name" type="identifier"/><attribute name="sex" type="quasi-identifier"/>
        <attribute name="eye" type="keep"/><attribute name="ear" type="drop"/>
        <attribute name="pay" type="sensitive"><closeness t="0.2" distance="ordered"/></attribute>
    </attributes>"""
    definition = read(written(tmp_path, xml(attributes=attributes)))
    assert {name: found.role for name, found in definition.attributes.items()} == {
        "zip": "quasi-identifier",
        "ill": "sensitive",
        "ward": "keep",
        "notes": "drop",
        "name": "identifier",
        "sex": "quasi-identifier",
        "eye": "keep",
        "ear": "drop",
        "pay": "sensitive",
    }
    assert (definition.attributes["zip"].priority, definition.attributes["zip"].limit) == (0.8, 3)
    assert definition.others == "drop"


@pytest.mark.parametrize(
    ("said", "match"),
    [("true", "extended"), ("false", "basic"), ("extended", "extended"), (" basic ", "basic")],
)
def test_null_handling_is_the_match(tmp_path: Path, said: str, match: str) -> None:
    text = f"<k>4</k><null_handling>{said}</null_handling><null_string> NULL </null_string>"
    missing = read(written(tmp_path, xml(f"{text}<null_string/>"))).missing
    assert (missing.match, missing.values) == (match, (" NULL ", ""))


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    body = f'{SOURCE}<output path="release.csv" delimiter="tab"/>'
    definition = read(written(tmp_path, xml('<k>4</k><report path="r.html"/>', body)))
    assert definition.report == tmp_path / "r.html"
    assert definition.output is not None
    assert definition.output.file == tmp_path / "release.csv"


def test_a_query_is_an_element_of_its_own(tmp_path: Path) -> None:
    query = "select *\nfrom a where b &lt; 3"
    body = f'<datasource url="sqlite:///a.db"><query>{query}</query></datasource>'
    source = read(written(tmp_path, xml(body=body))).source
    assert source == Database(url="sqlite:///a.db", query="select *\nfrom a where b < 3")


def test_several_datasources_are_a_list(tmp_path: Path) -> None:
    body = """<datasource path="north.csv"/>
        <datasource url="sqlite:///a.db" table="t"><rename column="plz" to="zip"/></datasource>"""
    places = read(written(tmp_path, xml(body=body))).source.locations
    assert [place.shown for place in places] == ["north.csv", "t of sqlite:///a.db"]
    assert places[1].rename == {"plz": "zip"}


def test_a_column_that_is_renamed_twice_is_a_mistake(tmp_path: Path) -> None:
    twice = '<rename column="a" to="b"/>\n<rename column="a" to="c"/>'
    body = f'<datasource path="x.csv">{twice}</datasource>'
    assert refusal(tmp_path, xml(body=body)) == "a (line 4): occurs twice; keep one of them"


def test_levels_and_trees_join_their_attribute(tmp_path: Path) -> None:
    hierarchies = """<hierarchies><hierarchy attribute="zip">
      <level information_loss="0"/><level information_loss="0.4"/><level information_loss="1"/>
      <tree><value label="*"><value label="a"><value label="1"/></value><value label="b"/></value>
      </tree></hierarchy></hierarchies>"""
    attribute = read(written(tmp_path, xml(attributes=ATTRIBUTES + hierarchies))).attributes["zip"]
    assert attribute.hierarchy == Taxonomy(tree={"*": {"a": ("1",), "b": None}})
    assert attribute.information_loss == (0, 0.4, 1)


@pytest.mark.parametrize(
    ("said", "steps"), [('characters="3"', (1, 2, 3)), ('steps="3"', (3,)), ('steps="1 3"', (1, 3))]
)
def test_a_mask_counts_characters_or_lists_steps(
    tmp_path: Path, said: str, steps: tuple[int, ...]
) -> None:
    hierarchy = f'<hierarchies><hierarchy attribute="zip"><mask {said}/></hierarchy></hierarchies>'
    definition = read(written(tmp_path, xml(attributes=ATTRIBUTES + hierarchy)))
    assert definition.attributes["zip"].hierarchy == Mask(mask=steps)


BOMB = """<!DOCTYPE lolz [
 <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
 <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
]>
"""


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE definition SYSTEM "file:///etc/passwd">\n',
        '<!DOCTYPE definition [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n',
        BOMB,
        '<?xml version="1.0"?>\n<!-- <a> --><?php ?>\n<!DOCTYPE definition>\n',
        "<!doctype html>\n",
    ],
)
def test_a_document_type_is_refused_before_anything_is_parsed(tmp_path: Path, before: str) -> None:
    said = refusal(tmp_path, before + xml("<k>&d;</k>"))
    assert "has a DOCTYPE" in said
    assert "remove the DOCTYPE" in said


def test_a_document_type_in_a_comment_or_in_text_is_none(tmp_path: Path) -> None:
    text = xml("<k>4</k><null_string><![CDATA[<!DOCTYPE a>]]></null_string>")
    definition = read(written(tmp_path, f"<!-- <!DOCTYPE a> -->{text}"))
    assert definition.missing.values == ("<!DOCTYPE a>",)


def test_an_entity_that_nobody_declared_is_refused(tmp_path: Path) -> None:
    assert "entity 'secret' not defined" in refusal(tmp_path, xml("<k>&secret;</k>")).lower()


@pytest.mark.parametrize("tag", ["include", "fallback"])
def test_xinclude_is_refused_with_its_line(tmp_path: Path, tag: str) -> None:
    include = f'<xi:{tag} xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'
    said = refusal(tmp_path, xml(f"\n{include}<k>4</k>"))
    assert said.startswith("XML (line 3): includes another file by XInclude")


def test_another_namespace_is_refused(tmp_path: Path) -> None:
    text = xml().replace("<definition>", '<definition xmlns="urn:x">')
    assert "namespace 'urn:x'; remove `xmlns`" in refusal(tmp_path, text)


def test_where_editors_find_the_schema_may_be_said_and_is_not_looked_at(tmp_path: Path) -> None:
    said = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    said += 'xsi:noNamespaceSchemaLocation="http://localhost:9/nowhere.xsd"'
    assert read(written(tmp_path, xml().replace("<definition>", f"<definition {said}>"))).k == 4


@pytest.mark.parametrize("depth", [120, 100_000])
def test_endless_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    tree = "<value label='x'>" * depth + "</value>" * depth
    hierarchy = (
        f"<hierarchies><hierarchy attribute='zip'><tree>{tree}</tree></hierarchy></hierarchies>"
    )
    said = refusal(tmp_path, xml(attributes=ATTRIBUTES + hierarchy))
    assert "deep" in said or "depth" in said


@pytest.mark.parametrize(("labels", "values"), [(1, 10_001), (10, 6_000)])
def test_trees_that_belong_in_a_file_are_refused(tmp_path: Path, labels: int, values: int) -> None:
    label = "<value label='x'>" + "<value lebel='y'/>" * values + "</value>"
    tree = f"<hierarchy attribute='zip'><tree>{label * labels}</tree></hierarchy>"
    said = refusal(tmp_path, xml(attributes=f"{ATTRIBUTES}<hierarchies>{tree}</hierarchies>"))
    assert "move large trees into hierarchy files" in said


def test_a_huge_file_is_taken_for_data(tmp_path: Path) -> None:
    said = refusal(tmp_path, "<!--" + "x" * LARGEST + "-->" + xml())
    assert "is data, not a definition; try `shoal init " in said


def test_another_encoding_is_refused(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n' + xml()
    assert "declares the encoding 'ISO-8859-1'; save the file as UTF-8" in refusal(tmp_path, text)


def test_broken_xml_is_refused_with_its_line(tmp_path: Path) -> None:
    said = refusal(tmp_path, xml().replace("</parameters>", "</parameter>"))
    assert said.startswith("XML (line 2): cannot be read as XML, opening and ending tag mismatch")


def test_all_mistakes_of_the_schema_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """<definition>
<parameters><k>four</k>
<max_sup>1%</max_sup>
<null_handling>yes</null_handling></parameters>
<datasource path="x.csv" head="true" header="no"/>
<attributes>
<attribute name="a" type="k_attribute"/>
<attribute type="ignore"/>
<attribute name="a" type="ignore"/>
</attributes>
<hierarchies>
<hierarchy attribute="b"><intervals widths="5 ten"/></hierarchy>
</hierarchies>
</definition>
"""
    assert [str(mistake) for mistake in mistakes(tmp_path, text)] == [
        "parameters.k (line 2): 'four' is not a whole number; write for example 5",
        "parameters.max_sup (line 3): <max_sup> is no known element; did you mean 'max_supp'?",
        (
            "parameters.null_handling (line 4): 'yes' is not possible here; "
            "possible here: 'true', 'false', 'extended', 'basic'"
        ),
        (
            "datasource.header (line 5): 'no' is not true, false or the number of a row; "
            "write for example 3"
        ),
        "datasource.head (line 5): is no known attribute; did you mean 'header'?",
        (
            "attributes.a.type (line 7): 'k_attribute' is not possible here; "
            "did you mean 'k-attribute'?"
        ),
        'attributes.attribute (line 8): has no name; write `<attribute name="...">`',
        "attributes.a (line 9): 'a' occurs twice; keep one of them",
        "hierarchies.b.intervals.widths (line 12): '5 ten' is not a number; write for example 0.8",
        (
            "hierarchies (line 12): there is no attribute 'b'; "
            "name an attribute of the section attributes"
        ),
    ]


def test_sections_out_of_order_are_refused_with_the_right_order(tmp_path: Path) -> None:
    text = f"<definition>{SOURCE}<parameters><k>4</k></parameters>{ATTRIBUTES}</definition>"
    said = [str(mistake) for mistake in mistakes(tmp_path, text)]
    assert any("keep the order parameters, datasource, output" in each for each in said)


def test_mistakes_beyond_the_schema_name_keys_and_lines_as_in_yaml(tmp_path: Path) -> None:
    attributes = """<attributes>
<attribute name="zip" type="k-attribute" limit="9"/>
<attribute name="ill" type="l-attribute"/>
</attributes>
<hierarchies>
<hierarchy attribute="zip">
<level information_loss="0"/>
<suppress/></hierarchy></hierarchies>"""
    found = mistakes(tmp_path, xml("<k>1</k>", attributes=attributes))
    assert [(mistake.key, mistake.line) for mistake in found] == [
        ("k", 2),
        ("attributes.zip.limit", 5),
        ("attributes.ill", 6),
    ]


def test_mistakes_of_the_schema_and_beyond_it_come_at_once(tmp_path: Path) -> None:
    text = """<definition>
<parameters><k>1</k>
<max_sup>1%</max_sup></parameters>
<datasource path="x.csv"/>
<attributes>
<attribute name="zip" type="k-attribute" limit="9" priority="-1"/>
<attribute name="ill" type="l-attribute"/>
<attribute name="age" type="k-attribute" from="low"/>
</attributes>
<hierarchies>
<hierarchy attribute="zip"><suppress/></hierarchy>
</hierarchies>
</definition>
"""
    found = mistakes(tmp_path, text)
    assert [(mistake.key, mistake.line) for mistake in found] == [
        ("k", 2),
        ("parameters.max_sup", 3),
        ("attributes.zip.priority", 6),
        ("attributes.ill", 7),
        ("attributes.age.from", 8),
    ]


def test_what_the_schema_refused_is_not_called_missing(tmp_path: Path) -> None:
    text = """<definition>
<parameters><k>four</k></parameters>
<datasource pth="x.csv"/>
<attributes>
<attribute name="zip" type="k_attribute"/>
<attribute name="ill" type="l-attribute"><diversity type="distict" l="3"/></attribute>
</attributes>
<hierarchies>
<hierarchy attribute="zip"><level information_loss="0"/><mask character="5"/></hierarchy>
</hierarchies>
</definition>
"""
    assert [(mistake.key, mistake.line) for mistake in mistakes(tmp_path, text)] == [
        ("parameters.k", 2),
        ("datasource.pth", 3),
        ("attributes.zip.type", 5),
        ("attributes.ill.diversity.type", 6),
        ("hierarchies.zip.mask.character", 9),
    ]


def test_a_missing_section_is_named_with_the_mistakes_of_the_others(tmp_path: Path) -> None:
    text = f"<definition>\n<parameters><k>1</k></parameters>\n{SOURCE}</definition>"
    keys = [mistake.key for mistake in mistakes(tmp_path, text)]
    assert "k" in keys
    assert len(keys) == 2


def test_a_repeated_parameter_is_a_mistake(tmp_path: Path) -> None:
    said = refusal(tmp_path, xml("<k>4</k>\n<k>5</k>"))
    assert said == "k (line 3): occurs twice; keep one of them"


def test_a_repeated_label_is_a_mistake(tmp_path: Path) -> None:
    tree = "<value label='x'/><value label='x'><value label='y'/></value>"
    hierarchy = (
        f"<hierarchies><hierarchy attribute='zip'><tree>{tree}</tree></hierarchy></hierarchies>"
    )
    said = refusal(tmp_path, xml(attributes=ATTRIBUTES + hierarchy))
    assert "'x' occurs twice under one label" in said

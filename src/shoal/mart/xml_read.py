"""Catalogs and requests in XML: from elements to the keys that YAML and JSON have.

XML is read as strictly as that of definitions: no document type, no entities, no other files, and
every document is validated against the schema that ships with the package.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lxml import etree

from shoal.definition.parse import Parsed, Unreadable
from shoal.definition.scalars import shown
from shoal.definition.xml_elements import attributes_of, put_once
from shoal.definition.xml_mistakes import schema_mistakes
from shoal.definition.xml_parse import safe_elements
from shoal.definition.xml_parse import schema_text as definition_schema
from shoal.definition.xml_read import Reader, diversity_of, part_of
from shoal.errors import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

_OWN_ATTRIBUTE = '<xs:attribute name="attribute" type="xs:string" use="required"/>'
"""In a definition a hierarchy names its attribute; in a catalog it stands inside the column."""


def parse_catalog_xml(text: str) -> Parsed:
    """An XML catalog as plain data in the keys of a catalog."""
    return _parsed(text, "catalog", _catalog)


def parse_request_xml(text: str) -> Parsed:
    """An XML request as plain data in the keys of a request."""
    return _parsed(text, "request", _request)


def schema_text() -> str:
    """The XML schema of catalogs and requests, with the types that definitions have too."""
    text = (files("shoal.mart") / "schema" / "mart.xsd").read_text(encoding="utf-8")
    _, _, types = definition_schema().partition("\n  </xs:element>\n")
    types = types.replace(_OWN_ATTRIBUTE, "").removesuffix("</xs:schema>\n")
    return text.replace("  <!-- types of definitions -->\n", types)


@cache
def _schema() -> etree._Element:
    return etree.fromstring(schema_text().encode())


def _parsed(text: str, root_tag: str, read: Callable[[_Element, Reader], dict[str, Any]]) -> Parsed:
    root = safe_elements(text)
    if root.tag != root_tag:
        what = f"the file begins with {shown(root.tag)}"
        raise Unreadable(Mistake("XML", what, f"begin with `<{root_tag}>`", root.sourceline))
    mistakes, _ = schema_mistakes(root, _schema())
    if mistakes:
        raise Unreadable(*mistakes)
    reader = Reader()
    data = read(root, reader)
    return Parsed(data, reader.lines, tuple(reader.mistakes), tuple(reader.left_out))


def _catalog(root: _Element, reader: Reader) -> dict[str, Any]:
    data: dict[str, Any] = {**dict(attributes_of(root)), "sources": {}, "links": [], "maps": {}}
    for element in root:
        match element.tag:
            case "person":
                person = {"source": element.get("source"), "columns": _texts(element, "key")}
                reader.put(data, "person", person, element)
            case "source":
                name = str(element.get("name"))
                reader.put(
                    data["sources"], name, _source(element, name, reader), element, "sources"
                )
            case "link":
                reader.seen(element, f"links.{len(data['links'])}")
                data["links"].append(_link(element))
            case "lookup":
                name = str(element.get("name"))
                reader.put(data["maps"], name, _lookup(element), element, "maps")
            case "policy":
                reader.put(data, "policy", _policy(element), element)
            case "missing":
                missing = {**dict(attributes_of(element)), "values": _texts(element, "value")}
                reader.put(data, "missing", missing, element)
            case "engine":
                reader.put(data, "engine", part_of(element), element)
    return data


def _source(element: _Element, name: str, reader: Reader) -> dict[str, Any]:
    places = [part_of(each) for each in element.iterchildren("datasource")]
    holder = ("sources", name, "columns")
    columns: dict[str, Any] = {}
    for each in element.iterchildren("column"):
        column = str(each.get("name"))
        reader.put(columns, column, reader.attribute(each, *holder, column), each, *holder)
    return {
        "source": places[0] if len(places) == 1 else places,
        "askers": _texts(element, "asker") or None,
        "untransformed": element.get("untransformed"),
        "columns": columns,
    }


def _link(element: _Element) -> dict[str, Any]:
    ends = [
        {"source": end.get("source"), "columns": _texts(end, "key")}
        for end in element.iterchildren("end")
    ]
    return {**dict(attributes_of(element)), "between": ends}


def _lookup(element: _Element) -> dict[str, Any]:
    file: dict[str, Any] = {key: value for key, value in attributes_of(element) if key != "name"}
    entries: dict[str, Any] = {}
    for entry in element.iterchildren("entry"):
        put_once(entries, entry.get("value"), entry.get("result"), entry)
    if file and entries:
        what, remedy = "has a path and entries", "keep one of the two"
        raise Unreadable(Mistake(f"lookup.{element.get('name')}", what, remedy, element.sourceline))
    return file or {"entries": entries}


def _policy(element: _Element) -> dict[str, Any]:
    return {
        **dict(attributes_of(element)),
        "diversity": _diversity(element.iterchildren("diversity")),
        "askers": _texts(element, "asker") or None,
        "apart": [_texts(group, "name") for group in element.iterchildren("apart")],
    }


def _request(root: _Element, reader: Reader) -> dict[str, Any]:
    data: dict[str, Any] = dict(attributes_of(root))
    for key in ("project", "select"):
        data[key] = _texts(root, key)
        for element in root.iterchildren(key):
            reader.seen(element, key)
    for tag, key, value in (("priority", "priorities", "weight"), ("limit", "limits", "level")):
        data[key] = {}
        for element in root.iterchildren(tag):
            column = str(element.get("column"))
            reader.put(data[key], column, element.get(value), element, key)
    data["diversity"] = _diversity(root.iterchildren("diversity"))
    for element in root.iterchildren("search", "loss", "output"):
        reader.put(data, str(element.tag), part_of(element), element)
    return data


def _diversity(elements: Iterable[_Element]) -> dict[str, Any] | None:
    """The kinds of diversity by name; None for none."""
    kinds: dict[str, Any] = {}
    for element in elements:
        kind = str(element.get("type")).strip()
        put_once(kinds, kind, diversity_of(element, kind), element)
    return kinds or None


def _texts(element: _Element, tag: str) -> list[str]:
    return [each.text or "" for each in element.iterchildren(tag)]

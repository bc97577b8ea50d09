"""From the text of an XML definition to elements that are safe to read and valid by the schema.

Nothing outside the text is ever looked at: a document type, which could name entities and files,
is refused before anything is parsed, XInclude is refused, and the parser has no network and
expands nothing. The depth is limited here, the size where the file is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NoReturn

from lxml import etree

from shoal.definition.hierarchies.registry import KINDS_BY_ELEMENT
from shoal.definition.parse import DEEPEST, Unreadable
from shoal.definition.scalars import shown
from shoal.definition.sources import SOURCES
from shoal.definition.xml_mistakes import Checked, checked
from shoal.errors import Mistake

MOST_ELEMENTS = 50_000
MOST_CHILDREN = 10_000
"""How many elements a definition has at most, in all and side by side.

The validator counts the elements before each one with a mistake, so that many mistakes among many
elements would take forever.
"""
SOURCE_ELEMENTS = ("columns", "query", "rename", "settings")
"""Keys of a source that are elements of XML, not attributes."""
XINCLUDE = "http://www.w3.org/2001/XInclude"

_BEFORE_THE_ROOT = r"(?:\s+|<\?.*?\?>|<!--.*?-->)*+"
_DOCTYPE = re.compile(_BEFORE_THE_ROOT + r"<!DOCTYPE", re.DOTALL | re.IGNORECASE)
_ENCODING = re.compile(r"\s*<\?xml\s[^>]*?\bencoding\s*=\s*[\"']([^\"'>]*)[\"']")


def parse_elements(text: str) -> Checked:
    """What is valid by the schema, with the mistakes of the rest; Unreadable where nothing is."""
    return checked(safe_elements(text), schema_elements())


def safe_elements(text: str) -> etree._Element:
    """The elements of a text that refers to nothing outside of it; Unreadable for any other."""
    _refuse_what_is_no_part_of_the_text(text)
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except etree.XMLSyntaxError as error:
        what = str(error.msg or "it is broken").partition(", line ")[0]
        _refuse(f"cannot be read as XML, {_lowered(what)}", "correct that line", error.lineno)
    _refuse_what_no_definition_has(root)
    return root


def schema_text() -> str:
    """The XML schema of definitions: the file of the package, and what the models add to it."""
    text = (files("shoal.definition") / "schema" / "definition.xsd").read_text(encoding="utf-8")
    tags = [f'<xs:element name="{tag}" type="{tag}"/>' for tag in KINDS_BY_ELEMENT]
    types = [kind.xsd.strip("\n") for kind in KINDS_BY_ELEMENT.values()]
    text = text.replace("<!-- elements of the kinds -->", "\n        ".join(tags))
    text = text.replace("<!-- attributes of the sources -->", "\n    ".join(_source_attributes()))
    return text.replace("  <!-- types of the kinds -->", "\n".join(types))


def _source_attributes() -> Iterator[str]:
    """An XML attribute for every key of a source; `columns`, `query` and the like are elements."""
    fields = dict.fromkeys(name for part in SOURCES.values() for name in part.model_fields)
    for name in fields:
        if name not in SOURCE_ELEMENTS:
            kind = name if name in ("header", "decimal") else "xs:string"
            yield f'<xs:attribute name="{name}" type="{kind}"/>'


@cache
def schema_elements() -> etree._Element:
    """The schema as elements."""
    return etree.fromstring(schema_text().encode())


def _refuse_what_is_no_part_of_the_text(text: str) -> None:
    """A document type could bring entities and other files; another encoding is not what was read.

    Before the root only blanks, comments and instructions are allowed, so the search ends there.
    """
    if found := _DOCTYPE.match(text):
        line = text.count("\n", 0, found.end()) + 1
        what = "has a DOCTYPE, which could bring in entities and other files"
        _refuse(what, "remove the DOCTYPE, and write entities out", line)
    declared = _ENCODING.match(text)
    if declared and declared[1].lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        what = f"declares the encoding {shown(declared[1])}"
        _refuse(what, 'save the file as UTF-8 and declare `encoding="UTF-8"`', 1)


def _refuse_what_no_definition_has(root: etree._Element) -> None:
    """Endless nesting, endless length, and elements of other languages; layer by layer."""
    if root.getroottree().docinfo.internalDTD is not None:
        _refuse("has a document type", "remove the DOCTYPE", 1)
    layer, depth, elements = [root], 1, 1
    while layer:
        if depth > DEEPEST:
            remedy = f"nest at most {DEEPEST} levels"
            _refuse("is nested too deeply", remedy, layer[0].sourceline)
        for element in layer:
            _refuse_other_namespaces(element)
            elements += len(element)
            if elements > MOST_ELEMENTS or len(element) > MOST_CHILDREN:
                what = f"has over {MOST_ELEMENTS:,} elements, or over {MOST_CHILDREN:,} in one"
                _refuse(what, "move large trees into hierarchy files", element.sourceline)
        layer = [child for element in layer for child in element]
        depth += 1


def _refuse_other_namespaces(element: etree._Element) -> None:
    """XInclude refers to other files; the elements of a definition have no namespace at all."""
    namespace = etree.QName(element).namespace
    if namespace == XINCLUDE:
        what = "includes another file by XInclude, which is not followed"
        _refuse(what, "copy the content of that file here", element.sourceline)
    if namespace is not None:
        what = f"has an element of the namespace {shown(namespace)}"
        _refuse(what, "remove `xmlns` and the prefix", element.sourceline)


def _lowered(message: str) -> str:
    return f"{message[:1].lower()}{message[1:]}"


def _refuse(what: str, remedy: str, line: int | None) -> NoReturn:
    raise Unreadable(Mistake("XML", what, remedy, line))

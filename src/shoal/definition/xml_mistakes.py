"""What the XML schema objects to, in the words of a definition: key, what, remedy, line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from shoal.definition.parse import KeyPath, Unreadable
from shoal.definition.scalars import nearest, shown
from shoal.errors import Mistake

MOST = 100
"""The most mistakes to report at once; the rest is not listed."""
ROUNDS = 20
"""How often a document is looked at again; a whole one of many megabytes takes a moment."""

KEYS_OF_PARAMETERS: Mapping[str, str] = {
    "max_supp": "suppression",
    "null_handling": "missing",
    "null_string": "missing",
    "null_sensitive": "missing",
}
"""The elements of the section parameters that have another name than their key."""

_NAMED = ("source", "column", "lookup")
"""Elements of a data mart that messages name."""
_XS = "{http://www.w3.org/2001/XMLSchema}"
_EXPECTED = {
    "count": ("a whole number", "write for example 5"),
    "xs:double": ("a number", "write for example 0.8"),
    "xs:boolean": ("true or false", "write true or false"),
    "share": ("a share or a number of records", "write for example 5% or 100"),
    "duration": ("a duration", "write for example 60 s or 5 min"),
    "header": ("true, false or the number of a row", "write for example 3"),
    "decimal": ("a decimal mark", 'write "," or "."'),
    "size": ("an amount of memory", "write for example 8 GB"),
}
"""The types of the schema in words, each with an example."""
_TYPE_OF_ITEMS = {"counts": "count", "numbers": "xs:double"}
_TYPES = re.compile(r"(?:atomic|list|union) type '([^']*)'\.$")


@dataclass(frozen=True)
class Checked:
    """The part of a document that is valid, the mistakes of the rest, and the keys left out."""

    root: etree._Element
    mistakes: tuple[Mistake, ...] = ()
    left_out: tuple[KeyPath, ...] = ()


def checked(root: etree._Element, schema: etree._Element) -> Checked:
    """The document without what the schema objects to; Unreadable where nothing can be kept.

    So the mistakes that only the model finds are reported together with those of the schema. A
    section that is missing stays missing.
    """
    mistakes, too_many = schema_mistakes(root, schema)
    if not mistakes:
        return Checked(root)
    if too_many:
        raise Unreadable(*mistakes)
    left_out: list[KeyPath] = []
    for _ in range(ROUNDS):
        validator = etree.XMLSchema(schema)
        if validator.validate(root):
            return Checked(root, tuple(mistakes), tuple(left_out))
        wrong = [(_element(root, error), error) for error in validator.error_log]
        inside = [(element, error) for element, error in wrong if element is not root]
        if not inside:
            missing = [("source",), ("attributes",)] if root.tag == "definition" else []
            if not missing or any("Missing child" not in error.message for _, error in wrong):
                break
            return Checked(root, tuple(mistakes), (*left_out, *missing))
        left_out += [_key_path(element, _attribute(error)) for element, error in inside]
        for element, error in inside:
            _remove(element, _attribute(error))
    raise Unreadable(*mistakes)


def _remove(element: etree._Element, attribute: str) -> None:
    """Remove one attribute, or else the element."""
    if attribute and attribute in element.attrib:
        del element.attrib[attribute]
    elif (parent := element.getparent()) is not None:
        parent.remove(element)


def _key_path(element: etree._Element, attribute: str) -> KeyPath:
    """The keys of a definition that an element or one of its attributes means."""
    path = [element, *element.iterancestors()][::-1][1:]
    tags = [str(each.tag) for each in path]
    inside = (attribute.replace("_", " "),) if attribute else ()
    match tags:
        case ["parameters", tag, *_]:
            return (KEYS_OF_PARAMETERS.get(tag, tag),)
        case ["datasource", *_]:
            return ("source",)
        case ["attributes", _]:
            return ("attributes", str(path[1].get("name")), *inside)
        case ["attributes", _, tag, *_]:
            return ("attributes", str(path[1].get("name")), tag)
        case ["hierarchies", _, *deeper]:
            key = "information loss" if deeper[:1] == ["level"] else "hierarchy"
            return ("attributes", str(path[1].get("attribute")), key)
    return tuple(tags[:1])


def schema_mistakes(root: etree._Element, schema: etree._Element) -> tuple[list[Mistake], bool]:
    """All mistakes that the schema finds in a document, none twice, and whether there are too many.

    The validator looks no further in a part once an element is out of order. So such
    elements are taken out of the document, and what is left is looked at again.
    """
    found: dict[Mistake, None] = {}
    too_many = False
    for _ in range(ROUNDS):
        validator = etree.XMLSchema(schema)
        if validator.validate(root):
            break
        misplaced = []
        for error in islice(validator.error_log, MOST):
            element = _element(root, error)
            if (mistake := _mistake(element, error, schema)) is not None:
                found[mistake] = None
            if "This element is not expected" in error.message and element is not root:
                misplaced.append(element)
        for element in misplaced:
            if (parent := element.getparent()) is not None:
                parent.remove(element)
        too_many = len(validator.error_log) >= MOST
        if not misplaced or too_many:
            break
    return sorted(found, key=lambda mistake: mistake.line or 0)[:MOST], too_many


def _mistake(
    element: etree._Element, error: etree._LogEntry, schema: etree._Element
) -> Mistake | None:
    """One error in words; None for one that only repeats another."""
    kind = error.type_name.removeprefix("SCHEMAV_")
    if kind == "CVC_DATATYPE_VALID_1_2_2" or "Not all fields of key" in error.message:
        return None
    attribute = _attribute(error)
    key = f"{_key(element)}.{attribute}" if attribute else _key(element)
    if "No match found for key-sequence" in error.message:
        key = "hierarchies"
    what, remedy = _words(kind, element, attribute, error.message, schema)
    return Mistake(key, what, remedy, error.line or element.sourceline)


def _attribute(error: etree._LogEntry) -> str:
    """The attribute that an error is about, empty where it is about the element."""
    named = re.match(r"Element '[^']*', attribute '([^']*)'", error.message)
    return named[1] if named else ""


def _words(
    kind: str, element: etree._Element, attribute: str, message: str, schema: etree._Element
) -> tuple[str, str]:
    """What is wrong and the remedy, by the kind of the error."""
    tag = str(element.tag)
    value = element.get(attribute, "") if attribute else (element.text or "").strip()
    if kind == "ELEMENT_CONTENT":
        return _content(element, message, schema)
    if kind in ("CVC_COMPLEX_TYPE_3_2_1", "CVC_TYPE_3_1_1"):
        known = _declared(schema, tag, "attribute")
        return "is no known attribute", nearest(attribute, known) if known else "remove it"
    if kind == "CVC_COMPLEX_TYPE_4":
        missing = (re.findall(r"The attribute '([^']*)' is required", message) or [""])[0]
        return f"has no {missing}", f'write `<{tag} {missing}="...">`'
    if kind == "CVC_ENUMERATION_VALID":
        choices = re.findall(r"'([^']*)'", message.rpartition("set {")[2])
        return f"{shown(value)} is not possible here", nearest(value, choices)
    if kind == "CVC_ELT_1":
        return f"the file begins with {shown(tag)}", "begin with `<definition>`"
    if kind == "CVC_IDC":
        return _identity(message)
    if kind in ("CVC_DATATYPE_VALID_1_2_1", "CVC_DATATYPE_VALID_1_2_3", "CVC_PATTERN_VALID"):
        return _wrong_value(_type_of(schema, tag, attribute, message), value)
    if "CHARACTER CONTENT" in message.upper():
        return "has text where none is allowed", "write the text as attributes or elements"
    if "ELEMENT CONTENT" in message.upper():
        return "has elements where only text is allowed", "keep the text alone"
    return "is not as the schema wants it", "compare with `shoal schema --xsd`"


def _content(element: etree._Element, message: str, schema: etree._Element) -> tuple[str, str]:
    """An element that does not belong there, or one that is missing."""
    tag = str(element.tag)
    expected = re.findall(r"[\w*]+", message.rpartition("Expected is")[2].removeprefix(" one of"))
    if "Missing child" in message:
        choices = " or ".join(f"<{name}>" for name in expected)
        return f"{choices} is missing in it", "add it" if len(expected) == 1 else "add one of them"
    parent = element.getparent()
    known = _declared(schema, str(parent.tag), "element") if parent is not None else []
    if tag in known:
        order = ", ".join(known)
        return f"<{tag}> is not allowed here", f"keep the order {order}, each once"
    return f"<{tag}> is no known element", nearest(tag, known, "remove it")


def _identity(message: str) -> tuple[str, str]:
    """A name that occurs twice, or a hierarchy of no attribute."""
    name = (re.findall(r"key-sequence \['(.*)'\]", message) or [""])[0]
    if "No match found" in message:
        return f"there is no attribute {shown(name)}", "name an attribute of the section attributes"
    return f"{shown(name)} occurs twice", "keep one of them"


def _wrong_value(kind: str, value: str) -> tuple[str, str]:
    noun, example = _EXPECTED.get(kind, ("what is allowed here", "compare `shoal schema --xsd`"))
    return f"{shown(value)} is not {noun}", example


def _type_of(schema: etree._Element, tag: str, attribute: str, message: str) -> str:
    """The type that a value must have: by name from the schema, else from the message."""
    for declared in schema.iter(f"{_XS}attribute" if attribute else f"{_XS}element"):
        holder = next(declared.iterancestors(f"{_XS}complexType"), None)
        inside = holder is not None and holder.get("name") == tag
        if declared.get("name") == (attribute or tag) and (inside or not attribute):
            kind = str(declared.get("type"))
            return _TYPE_OF_ITEMS.get(kind, kind)
    return str((_TYPES.findall(message) or [""])[0])


def _declared(schema: etree._Element, tag: str, what: str) -> list[str]:
    """The names of the elements or attributes that the schema declares inside a tag.

    Every element but the root has a type of the name it bears.
    """
    for holder in schema.iter(f"{_XS}complexType"):
        root = holder.getparent()
        name = holder.get("name") or (root.get("name") if root is not None else None)
        if name == tag:
            return [str(each.get("name")) for each in holder.iter(f"{_XS}{what}")]
    return []


def _element(root: etree._Element, error: etree._LogEntry) -> etree._Element:
    """The element at the path of an error, such as `/definition/attributes/attribute[2]`."""
    found = root
    for step in str(error.path or "").split("/")[2:]:
        tag, _, number = step.rstrip("]").partition("[")
        alike = [child for child in found if tag in ("*", child.tag)]
        if len(alike) < int(number or 1):
            break
        found = alike[int(number or 1) - 1]
    return found


def _key(element: etree._Element) -> str:
    """The way to an element as keys are written: `attributes.zip`, `parameters.k`."""
    words: list[str] = []
    for each in (element, *element.iterancestors()):
        tag = str(each.tag)
        if tag == "attribute" or tag == "hierarchy":
            words.append(each.get("name") or each.get("attribute") or tag)
        elif tag in _NAMED and each.get("name"):
            words.append(f"{tag}.{each.get('name')}")
        elif each.getparent() is not None:
            words.append(tag)
    return ".".join(reversed(words)) or str(element.tag)

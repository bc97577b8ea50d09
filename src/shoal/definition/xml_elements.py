"""Elements of XML definitions: reading their attributes and parameters, and adding new ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.definition.parse import Unreadable
from shoal.definition.scalars import shown
from shoal.errors import BadOutput, Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element

_XML_TEXT = re.compile("[ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def attributes_of(element: _Element) -> Iterator[tuple[str, str]]:
    """The attributes of an element as keys, without those of a namespace, which are for tools."""
    for name, value in element.attrib.items():
        if not str(name).startswith("{"):
            yield key_of(str(name)), str(value)


def key_of(name: str) -> str:
    """The key of a definition that a name in XML means."""
    return name.replace("_", " ")


def parameters_in(element: _Element) -> dict[str, Any]:
    """The parameters of a plug-in inside an element, by their names."""
    found: dict[str, Any] = {}
    for each in element:
        put_once(found, each.get("name"), parameter_value(each), each)
    return found


def parameter_value(element: _Element) -> Any:
    """The value of a parameter or an item: a list, a mapping, a text, or nothing."""
    for each in element:
        if each.tag == "list":
            return [parameter_value(item) for item in each]
        return parameters_in(each)
    return element.get("value")


def put_once(found: dict[str, Any], name: Any, value: Any, element: _Element) -> None:
    """Put a value under its name; Unreadable if the name occurs twice."""
    if name in found:
        raise Unreadable(Mistake(str(name), "occurs twice", "keep one of them", element.sourceline))
    found[str(name)] = value


def child(parent: _Element, tag: str, /, **attributes: Any) -> _Element:
    """A new element inside another."""
    element = parent.makeelement(tag.replace(" ", "_"))
    parent.append(element)
    for key, value in attributes.items():
        set_attribute(element, key, value)
    return element


def set_attribute(element: _Element, key: str, value: Any) -> None:
    """Set an attribute; None sets none."""
    if value is not None:
        element.set(key.replace(" ", "_"), xml_text(value))


def add_text(parent: _Element, tag: str, value: Any) -> None:
    """A new element with text alone; None adds none."""
    if value is not None:
        child(parent, tag).text = xml_text(value)


def add_parameters(element: _Element, parameters: Mapping[str, Any]) -> None:
    """Add parameters that `parameters_in` reads back."""
    for name, value in parameters.items():
        _set_value(child(element, "parameter", name=str(name)), value)


def _set_value(element: _Element, value: Any) -> None:
    if isinstance(value, Mapping):
        add_parameters(child(element, "map"), value)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        items = child(element, "list")
        for each in value:
            _set_value(child(items, "item"), each)
    else:
        set_attribute(element, "value", value)


def joined(values: Iterable[Any]) -> str:
    """The values of a list attribute."""
    return " ".join(map(xml_text, values))


def xml_text(value: Any) -> str:
    """A scalar as text; BadOutput for the control characters that XML cannot hold."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    for character in text:
        if character not in "\t\n\r" and not _XML_TEXT.match(character):
            raise BadOutput(
                f"XML cannot hold the character U+{ord(character):04X} of {shown(text)}",
                code="not-in-xml",
                hint="write the definition as YAML or JSON",
            )
    return text

"""From the elements of an XML definition to the keys that YAML and JSON have, with their lines.

The schema has checked names and order before, so every element read here is known, and only a part
that occurs twice is still a mistake. Values stay text: the model checks them, as for YAML and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.registry import KINDS_BY_ELEMENT
from shoal.definition.parse import KeyPath, Parsed, Unreadable, dotted
from shoal.definition.xml_elements import (
    attributes_of,
    key_of,
    parameter_value,
    parameters_in,
    put_once,
)
from shoal.definition.xml_parse import parse_elements
from shoal.errors import Mistake

if TYPE_CHECKING:
    from lxml.etree import _Element

ROLES_OF_ANON: Mapping[str, str] = {
    "k-attribute": "quasi-identifier",
    "l-attribute": "sensitive",
    "dontcare": "keep",
    "ignore": "drop",
}
"""The names of roles in the ANON report; ours are accepted as well."""
MATCHES = {"true": "extended", "false": "basic"}
"""What the report says of null handling: with it missing values match each other."""


def parse_xml(text: str) -> Parsed:
    """An XML definition as plain data in the keys of a definition."""
    reader = Reader()
    checked = parse_elements(text)
    data = reader.definition(checked.root)
    mistakes = (*checked.mistakes, *reader.mistakes)
    return Parsed(data, reader.lines, mistakes, (*checked.left_out, *reader.left_out))


class Reader:
    """Turns elements into plain data; keeps lines and mistakes as it goes."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.mistakes: list[Mistake] = []
        self.left_out: list[KeyPath] = []

    def definition(self, root: _Element) -> dict[str, Any]:
        """The five sections, in the order of the schema."""
        data: dict[str, Any] = {}
        sources = []
        for section in root:
            match section.tag:
                case "parameters":
                    data |= self.parameters(section)
                case "datasource":
                    self.seen(section, "source")
                    sources.append(part_of(section))
                case "output":
                    self.seen(section, "output")
                    data["output"] = part_of(section)
                case "attributes":
                    data |= self.attributes(section)
                case "hierarchies":
                    self.hierarchies(section, data.get("attributes", {}))
        return {**data, "source": sources[0] if len(sources) == 1 else sources} if sources else data

    def parameters(self, section: _Element) -> dict[str, Any]:
        """The section of everything but source, output and attributes."""
        data: dict[str, Any] = {}
        missing: dict[str, Any] = {}
        for element in section:
            match element.tag:
                case "k":
                    self.put(data, "k", _word(element), element)
                case "max_supp":
                    self.put(data, "suppression", _word(element), element)
                case "suppressed":
                    self.put(data, "suppressed", _word(element), element)
                case "person":
                    self.seen(element, "person")
                    data.setdefault("person", []).append(element.text or "")
                case "strict" | "recoding":
                    self.put(data, str(element.tag), _word(element), element)
                case "report":
                    self.put(data, "report", element.get("path"), element)
                case "risk":
                    self.put(data, "risk", _risk(element), element)
                case "population":
                    self.put(data, "population", _population(element), element)
                case "loss" | "search" | "engine":
                    self.put(data, str(element.tag), part_of(element), element)
                case "privacy":
                    models = data.setdefault("privacy", {})
                    self.put(
                        models,
                        str(element.get("model")),
                        parameters_in(element),
                        element,
                        "privacy",
                    )
                case "null_handling":
                    match = _word(element)
                    self.put(missing, "match", MATCHES.get(match, match), element, "missing")
                case "null_sensitive":
                    self.put(missing, "sensitive", _word(element), element, "missing")
                case "null_string":
                    missing.setdefault("values", []).append(element.text or "")
        return {**data, "missing": missing} if missing else data

    def attributes(self, section: _Element) -> dict[str, Any]:
        """The columns, each with its role and what is demanded of it."""
        self.seen(section, "attributes")
        others = section.get("others")
        found: dict[str, Any] = {}
        for element in section:
            name = str(element.get("name"))
            keys = self.attribute(element, "attributes", name)
            self.put(found, name, keys, element, "attributes")
        return {"attributes": found} | ({"others": others} if others is not None else {})

    def attribute(self, element: _Element, *holder: str) -> dict[str, Any]:
        """One column; `holder` are the keys down to it."""
        keys = dict(attributes_of(element))
        role = str(keys.pop("type")).strip()
        keys.pop("name")
        data: dict[str, Any] = {"role": ROLES_OF_ANON.get(role, role), **keys}
        for child in element:
            match child.tag:
                case "diversity":
                    kinds = data.setdefault("diversity", {})
                    kind = str(child.get("type")).strip()
                    self.put(kinds, kind, diversity_of(child, kind), child, *holder, "diversity")
                case "privacy":
                    models = data.setdefault("privacy", {})
                    model = str(child.get("model"))
                    self.put(models, model, parameters_in(child), child, *holder, "privacy")
                case "hierarchy":
                    self.levels(data, child, *holder)
                case tag:
                    self.put(data, str(tag), part_of(child), child, *holder)
        return data

    def hierarchies(self, section: _Element, attributes: dict[str, Any]) -> None:
        """Each hierarchy joins its attribute."""
        for element in section:
            name = str(element.get("attribute"))
            self.levels(attributes[name], element, "attributes", name)

    def levels(self, attribute: dict[str, Any], element: _Element, *holder: str) -> None:
        """The hierarchy of an attribute, and the information loss of its levels."""
        losses = [child.get("information_loss") for child in element.iterchildren("level")]
        if losses:
            self.put(attribute, "information loss", losses, element, *holder)
        for each in element.iterchildren():
            if each.tag != "level":
                self.hierarchy(attribute, each, *holder)

    def hierarchy(self, attribute: dict[str, Any], element: _Element, *holder: str) -> None:
        """One hierarchy, whose element is named after its kind."""
        try:
            data = KINDS_BY_ELEMENT[str(element.tag)].from_xml(element)
        except Unreadable as error:
            self.mistakes += error.mistakes
            self.left_out.append((*holder, "hierarchy"))
            return
        self.put(attribute, "hierarchy", data, element, *holder)

    def put(
        self, data: dict[str, Any], key: str, value: Any, element: _Element, *holder: str
    ) -> None:
        """A key with its value and line; the first of two stays, and the second is a mistake."""
        name = dotted((*holder, key))
        if key in data:
            what, remedy = "occurs twice", "keep one of them"
            self.mistakes.append(Mistake(name, what, remedy, element.sourceline))
            return
        data[key] = value
        self.seen(element, name)

    def seen(self, element: _Element, key: str) -> None:
        """Remember the line of a key."""
        if element.sourceline is not None:
            self.lines.setdefault(key, element.sourceline)


def diversity_of(element: _Element, kind: str) -> Any:
    """`l` alone, or `c` and `l`: the model checks what the kind needs."""
    keys = {key: value for key, value in attributes_of(element) if key != "type"}
    return keys if kind == "recursive" or "c" in keys else keys["l"]


def _risk(element: _Element) -> dict[str, Any]:
    """The average as an attribute, the records above a threshold as an element."""
    found: dict[str, Any] = dict(attributes_of(element))
    for child in element:
        put_once(found, key_of(str(child.tag)), dict(attributes_of(child)), child)
    return found


def _population(element: _Element) -> dict[str, Any]:
    """`k` as an attribute, the two shares of `presence` as an element, and the datasources."""
    found: dict[str, Any] = dict(attributes_of(element))
    sources = [part_of(each) for each in element.iterchildren("datasource")]
    found["source"] = sources[0] if len(sources) == 1 else sources
    for each in element.iterchildren("presence"):
        put_once(found, "presence", [each.get("least"), each.get("most")], each)
    return found


def part_of(element: _Element) -> dict[str, Any]:
    """Attributes as keys, and the elements inside as what they hold: texts, lists and mappings."""
    found: dict[str, Any] = dict(attributes_of(element))
    for child in element:
        match child.tag:
            case "query":
                put_once(found, "query", child.text or "", child)
            case "parameter":
                put_once(
                    found.setdefault("parameters", {}),
                    child.get("name"),
                    parameter_value(child),
                    child,
                )
            case "option":
                options = found.setdefault("options", {})
                put_once(options, child.get("name"), child.get("value"), child)
            case "rename":
                put_once(
                    found.setdefault("rename", {}), child.get("column"), child.get("to"), child
                )
            case tag:
                found.setdefault(key_of(str(tag)), []).append(child.text or "")
    return found


def _word(element: _Element) -> str:
    return (element.text or "").strip()

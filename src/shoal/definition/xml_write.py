"""A definition as XML in the five sections of the ANON report; it reads back as the same one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lxml import etree

from shoal.definition.scalars import shown
from shoal.definition.write import to_mapping
from shoal.definition.xml_parse import MOST_CHILDREN, MOST_ELEMENTS
from shoal.definition.xml_read import ROLES_OF_ANON
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from lxml.etree import _Element

    from shoal.definition.model import Definition

_TYPES = {role: name for name, role in ROLES_OF_ANON.items()}
_XML_TEXT = re.compile("[ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LISTS = {"intervals": "widths", "date": "units", "groups": "sizes"}
"""The kinds of hierarchies that are a list of levels, and what XML calls the list."""


def to_xml(definition: Definition) -> str:
    """The definition as XML that is valid by the schema; BadOutput for text XML cannot hold."""
    data = to_mapping(definition)
    root = etree.Element("definition")
    _parameters_section(_child(root, "parameters"), data)
    sources = data["source"]
    for source in sources if isinstance(sources, list) else [sources]:
        _part(_child(root, "datasource"), _long(source, "path"))
    if "output" in data:
        _part(_child(root, "output"), _long(data["output"], "path"))
    attributes = {name: _long(given, "role") for name, given in data["attributes"].items()}
    section = _child(root, "attributes", others=data.get("others"))
    for name, attribute in attributes.items():
        _attribute(section, name, attribute)
    _hierarchies_section(root, attributes)
    _refuse_more_than_is_read(root)
    etree.indent(root)
    text = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _refuse_more_than_is_read(root: _Element) -> None:
    widest = max(len(element) for element in root.iter())
    if widest > MOST_CHILDREN or sum(1 for _ in root.iter()) > MOST_ELEMENTS:
        raise BadOutput(
            "a tree of the definition is larger than XML definitions may be",
            code="not-in-xml",
            hint="move the tree into a hierarchy file, or write the definition as YAML or JSON",
        )


def _parameters_section(section: _Element, data: Mapping[str, Any]) -> None:
    missing = _long(data.get("missing", {}), "match")
    _leaf(section, "k", data["k"])
    for name in data.get("person", ()):
        _leaf(section, "person", name)
    _leaf(section, "max_supp", data.get("suppression"))
    _leaf(section, "suppressed", data.get("suppressed"))
    _leaf(section, "null_handling", missing.get("match"))
    for value in missing.get("values", ()):
        _leaf(section, "null_string", value)
    _leaf(section, "null_sensitive", missing.get("sensitive"))
    if "loss" in data:
        _part(_child(section, "loss"), _long(data["loss"], "name"))
    for key in ("search", "engine"):
        if key in data:
            _part(_child(section, key), data[key])
    if "report" in data:
        _part(_child(section, "report"), _long(data["report"], "path"))
    _leaf(section, "strict", data.get("strict"))
    _models(section, data.get("privacy", {}))


def _attribute(section: _Element, name: str, data: Mapping[str, Any]) -> None:
    role = data["role"]
    element = _child(section, "attribute", name=name, type=_TYPES.get(role, role))
    for key, value in data.items():
        if key not in ("role", "hierarchy") and not isinstance(value, Mapping | list):
            _set(element, key, value)
    for kind, given in data.get("diversity", {}).items():
        _child(element, "diversity", type=kind, **_long(given, "l"))
    for key, short in (("closeness", "t"), ("likeness", "beta")):
        if key in data:
            _child(element, key, **_long(data[key], short))
    _models(element, data.get("privacy", {}))


def _hierarchies_section(root: _Element, attributes: Mapping[str, Mapping[str, Any]]) -> None:
    """The hierarchies and the information loss of their levels, where there are any."""
    with_levels = {
        name: data
        for name, data in attributes.items()
        if "hierarchy" in data or "information loss" in data
    }
    section = _child(root, "hierarchies") if with_levels else root
    for name, data in with_levels.items():
        element = _child(section, "hierarchy", attribute=name)
        for loss in data.get("information loss", ()):
            _child(element, "level", information_loss=loss)
        if "hierarchy" in data:
            _hierarchy(element, data["hierarchy"])


def _hierarchy(holder: _Element, given: Any) -> None:
    """One element named after the kind of the hierarchy."""
    if given == "suppress":
        _child(holder, "suppress")
        return
    data = dict(_long(given, "path"))
    if "path" in data:
        _child(holder, "file", **data)
    elif "tree" in data:
        _tree(_child(holder, "tree"), data["tree"])
    elif "cuts" in data:
        cuts = _child(holder, "cuts")
        for points in data["cuts"]:
            _child(cuts, "points").text = _joined(points)
    elif not data.keys() & {"mask", *_LISTS}:
        if "builder" not in data:
            ((name, parameters),) = data.items()
            data = {"builder": name, "parameters": parameters}
        _builder(_child(holder, "builder", name=data["builder"]), data.get("parameters", {}))
    elif "mask" in data:
        mask = data.pop("mask")
        said = {"steps": _joined(mask)} if isinstance(mask, list) else {"characters": mask}
        _child(holder, "mask", **said, **data)
    else:
        kind = next(key for key in _LISTS if key in data)
        said = {_LISTS[kind]: _joined(data.pop(kind))}
        _child(holder, kind, **said, **data)


def _builder(element: _Element, parameters: Mapping[str, Any]) -> None:
    for name, value in parameters.items():
        _value(_child(element, "parameter", name=name), value)


def _tree(element: _Element, below: Any) -> None:
    leaves = ((label, None) for label in below or ())
    for label, deeper in below.items() if isinstance(below, Mapping) else leaves:
        _tree(_child(element, "value", label=label), deeper)


def _models(holder: _Element, models: Mapping[str, Any]) -> None:
    for model, parameters in models.items():
        element = _child(holder, "privacy", model=model)
        for name, value in parameters.items():
            _value(_child(element, "parameter", name=name), value)


def _part(element: _Element, data: Mapping[str, Any]) -> None:
    """Keys as attributes; a query, lists and mappings as elements."""
    for key, value in data.items():
        match key:
            case "parameters":
                for name, parameter in value.items():
                    _value(_child(element, "parameter", name=name), parameter)
            case "options":
                for name, option in value.items():
                    _child(element, "option", name=name, value=option)
            case "rename":
                for column, name in value.items():
                    _child(element, "rename", column=column, to=name)
            case "query":
                _leaf(element, key, value)
            case _ if isinstance(value, list):
                for item in value:
                    _leaf(element, key, item)
            case _:
                _set(element, key, value)


def _value(element: _Element, value: Any) -> None:
    """A parameter or an item: a list, a mapping, a text, or nothing."""
    if isinstance(value, Mapping):
        holder = _child(element, "map")
        for name, inner in value.items():
            _value(_child(holder, "parameter", name=str(name)), inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        holder = _child(element, "list")
        for inner in value:
            _value(_child(holder, "item"), inner)
    else:
        _set(element, "value", value)


def _long(value: Any, key: str) -> Mapping[str, Any]:
    """A short form as the mapping that it stands for."""
    return value if isinstance(value, Mapping) else {key: value}


def _child(parent: _Element, tag: str, /, **attributes: Any) -> _Element:
    element = etree.SubElement(parent, tag.replace(" ", "_"))
    for key, value in attributes.items():
        _set(element, key, value)
    return element


def _leaf(parent: _Element, tag: str, value: Any) -> None:
    """An element with text alone, none where there is nothing to say."""
    if value is not None:
        _child(parent, tag).text = _text(value)


def _set(element: _Element, key: str, value: Any) -> None:
    if value is not None:
        element.set(key.replace(" ", "_"), _text(value))


def _joined(values: Iterable[Any]) -> str:
    return " ".join(map(_text, values))


def _text(value: Any) -> str:
    """A scalar as text that XML can hold: most control characters are not among it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    for character in text:
        if character not in "\t\n\r" and not _XML_TEXT.match(character):
            raise BadOutput(
                f"XML cannot hold the character U+{ord(character):04X} of {shown(text)}",
                code="not-in-xml",
                hint="write the definition as YAML or JSON",
            )
    return text

"""A definition as XML in the five sections of the ANON report; it reads back as the same one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lxml import etree

from shoal.definition.scalars import plain
from shoal.definition.write import to_mapping
from shoal.definition.xml_elements import add_parameters, add_text, child, set_attribute
from shoal.definition.xml_parse import MOST_CHILDREN, MOST_ELEMENTS
from shoal.definition.xml_read import ROLES_OF_ANON
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from lxml.etree import _Element

    from shoal.definition.model import Attribute, Definition

_TYPES = {role: name for name, role in ROLES_OF_ANON.items()}


def to_xml(definition: Definition) -> str:
    """The definition as XML that is valid by the schema; BadOutput for text XML cannot hold."""
    data = to_mapping(definition)
    root = etree.Element("definition")
    _parameters_section(child(root, "parameters"), data)
    sources = data["source"]
    for source in sources if isinstance(sources, list) else [sources]:
        add_part(child(root, "datasource"), long_form(source, "path"))
    if "output" in data:
        add_part(child(root, "output"), long_form(data["output"], "path"))
    attributes = {name: long_form(given, "role") for name, given in data["attributes"].items()}
    section = child(root, "attributes", others=data.get("others"))
    for name, attribute in attributes.items():
        _attribute(section, name, attribute)
    _hierarchies_section(root, definition)
    refuse_more_than_is_read(root)
    etree.indent(root)
    text = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def refuse_more_than_is_read(root: _Element) -> None:
    """BadOutput for a document that would not be read back."""
    widest = max(len(element) for element in root.iter())
    if widest > MOST_CHILDREN or sum(1 for _ in root.iter()) > MOST_ELEMENTS:
        raise BadOutput(
            "a tree of the definition is larger than XML definitions may be",
            code="not-in-xml",
            hint="move the tree into a hierarchy file, or write the definition as YAML or JSON",
        )


def _parameters_section(section: _Element, data: Mapping[str, Any]) -> None:
    missing = long_form(data.get("missing", {}), "match")
    add_text(section, "k", data["k"])
    for name in data.get("person", ()):
        add_text(section, "person", name)
    if "risk" in data:
        _risk(child(section, "risk"), data["risk"])
    if "population" in data:
        _population(child(section, "population"), data["population"])
    add_text(section, "max_supp", data.get("suppression"))
    add_text(section, "suppressed", data.get("suppressed"))
    add_text(section, "null_handling", missing.get("match"))
    for value in missing.get("values", ()):
        add_text(section, "null_string", value)
    add_text(section, "null_sensitive", missing.get("sensitive"))
    if "loss" in data:
        add_part(child(section, "loss"), long_form(data["loss"], "name"))
    add_text(section, "recoding", data.get("recoding"))
    for key in ("search", "engine"):
        if key in data:
            add_part(child(section, key), data[key])
    if "report" in data:
        add_part(child(section, "report"), long_form(data["report"], "path"))
    add_text(section, "strict", data.get("strict"))
    _models(section, data.get("privacy", {}))


def _risk(element: _Element, data: Mapping[str, Any]) -> None:
    for key, value in data.items():
        if isinstance(value, Mapping):
            child(element, key, **value)
        else:
            set_attribute(element, key, value)


def _population(element: _Element, data: Mapping[str, Any]) -> None:
    set_attribute(element, "k", data.get("k"))
    if "presence" in data:
        least, most = data["presence"]
        child(element, "presence", least=least, most=most)
    sources = data["source"]
    for source in sources if isinstance(sources, list) else [sources]:
        add_part(child(element, "datasource"), long_form(source, "path"))


def _attribute(section: _Element, name: str, data: Mapping[str, Any]) -> None:
    role = data["role"]
    element = child(section, "attribute", name=name, type=_TYPES.get(role, role))
    add_demands(element, data)


def add_demands(element: _Element, data: Mapping[str, Any]) -> None:
    """The keys of a column but its name, role and hierarchy: attributes, then elements."""
    for key, value in data.items():
        if key not in ("role", "hierarchy") and not isinstance(value, Mapping | list):
            set_attribute(element, key, value)
    add_diversity(element, data.get("diversity", {}))
    for key, short in (("closeness", "t"), ("likeness", "beta")):
        if key in data:
            child(element, key, **long_form(data[key], short))
    _models(element, data.get("privacy", {}))


def add_diversity(element: _Element, kinds: Mapping[str, Any]) -> None:
    """An element for each kind."""
    for kind, given in kinds.items():
        child(element, "diversity", type=kind, **long_form(given, "l"))


def add_hierarchy(element: _Element, attribute: Attribute) -> None:
    """The information loss of each level, and the hierarchy, where there are any."""
    for loss in plain(attribute.information_loss or ()):
        child(element, "level", information_loss=loss)
    if attribute.hierarchy is not None:
        attribute.hierarchy.to_xml(element)


def _hierarchies_section(root: _Element, definition: Definition) -> None:
    """The hierarchies and the information loss of their levels, where there are any."""
    with_levels = {
        name: attribute
        for name, attribute in definition.attributes.items()
        if attribute.hierarchy is not None or attribute.information_loss is not None
    }
    section = child(root, "hierarchies") if with_levels else root
    for name, attribute in with_levels.items():
        add_hierarchy(child(section, "hierarchy", attribute=name), attribute)


def _models(holder: _Element, models: Mapping[str, Any]) -> None:
    for model, parameters in models.items():
        element = child(holder, "privacy", model=model)
        add_parameters(element, parameters)


def add_part(element: _Element, data: Mapping[str, Any]) -> None:
    """Keys as attributes; a query, lists and mappings as elements."""
    for key, value in data.items():
        match key:
            case "parameters":
                add_parameters(element, value)
            case "options":
                for name, option in value.items():
                    child(element, "option", name=name, value=option)
            case "rename":
                for column, name in value.items():
                    child(element, "rename", column=column, to=name)
            case "query":
                add_text(element, key, value)
            case _ if isinstance(value, list):
                for item in value:
                    add_text(element, key, item)
            case _:
                set_attribute(element, key, value)


def long_form(value: Any, key: str) -> Mapping[str, Any]:
    """A short form as the mapping that it means."""
    return value if isinstance(value, Mapping) else {key: value}

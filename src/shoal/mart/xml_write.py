"""A catalog or a request as XML that is valid by the schema; it reads back as the same model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lxml import etree

from shoal.definition.xml_elements import add_text, child, set_attribute
from shoal.definition.xml_write import (
    add_demands,
    add_diversity,
    add_hierarchy,
    add_part,
    long_form,
    refuse_more_than_is_read,
)
from shoal.mart.write import catalog_mapping, request_mapping

if TYPE_CHECKING:
    from lxml.etree import _Element

    from shoal.mart.catalog import Catalog, CatalogSource
    from shoal.mart.request import Request


def catalog_xml(catalog: Catalog) -> str:
    """The catalog as XML; BadOutput for text that XML cannot hold."""
    data = catalog_mapping(catalog)
    root = etree.Element("catalog")
    for key in ("mart", "log"):
        set_attribute(root, key, data[key])
    person = child(root, "person", source=catalog.person.source)
    _add_texts(person, "key", catalog.person.columns)
    for name, source in catalog.sources.items():
        _add_source(child(root, "source", name=name), source, data["sources"][name])
    for link in catalog.links:
        element = child(root, "link", kind=link.kind, optional=link.optional)
        for end in link.ends:
            _add_texts(child(element, "end", source=end.source), "key", end.columns)
    for name, entries in catalog.maps.items():
        lookup = child(root, "lookup", name=name)
        for value, result in entries.items():
            child(lookup, "entry", value=value, result=result)
    if "policy" in data:
        _add_policy(child(root, "policy"), data["policy"])
    if "missing" in data:
        missing = dict(long_form(data["missing"], "match"))
        values = missing.pop("values", ())
        _add_texts(child(root, "missing", **missing), "value", values)
    if "engine" in data:
        add_part(child(root, "engine"), data["engine"])
    return _text(root)


def request_xml(request: Request) -> str:
    """The request as XML; BadOutput for text that XML cannot hold."""
    data = request_mapping(request)
    root = etree.Element("request")
    for key in ("asker", "purpose", "k", "suppression", "scope", "recoding", "keys", "report"):
        set_attribute(root, key, data.get(key))
    for key in ("project", "select"):
        _add_texts(root, key, data.get(key, ()))
    for column, weight in data.get("priorities", {}).items():
        child(root, "priority", column=column, weight=weight)
    for column, level in data.get("limits", {}).items():
        child(root, "limit", column=column, level=level)
    add_diversity(root, data.get("diversity", {}))
    if "search" in data:
        add_part(child(root, "search"), data["search"])
    for key, short in (("loss", "name"), ("output", "path")):
        if key in data:
            add_part(child(root, key), long_form(data[key], short))
    return _text(root)


def _add_source(element: _Element, source: CatalogSource, data: Mapping[str, Any]) -> None:
    set_attribute(element, "untransformed", source.untransformed)
    places = data["source"]
    for place in places if isinstance(places, list) else [places]:
        add_part(child(element, "datasource"), long_form(place, "path"))
    _add_texts(element, "asker", source.askers or ())
    for name, column in source.columns.items():
        inner = child(element, "column", name=name, type=column.role)
        add_demands(inner, long_form(data["columns"][name], "role"))
        if column.hierarchy is not None or column.information_loss is not None:
            add_hierarchy(child(inner, "hierarchy"), column)


def _add_policy(element: _Element, data: Mapping[str, Any]) -> None:
    for key in ("k", "suppression", "share", "overlap", "across"):
        set_attribute(element, key, data.get(key))
    add_diversity(element, data.get("diversity", {}))
    _add_texts(element, "asker", data.get("askers", ()))
    for group in data.get("apart", ()):
        _add_texts(child(element, "apart"), "name", group)


def _add_texts(element: _Element, tag: str, texts: Iterable[str]) -> None:
    for text in texts:
        add_text(element, tag, text)


def _text(root: _Element) -> str:
    refuse_more_than_is_read(root)
    etree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{etree.tostring(root, encoding="unicode")}\n'

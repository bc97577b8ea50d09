"""A catalog or a request as a mapping with the keys of its file, and as YAML, JSON or XML text.

The text reads back as an equal model; comments are lost, and lookups are written out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shoal.definition.scalars import plain
from shoal.definition.write import (
    attribute_mapping,
    duration,
    percent,
    short_form,
    source_mapping,
    yaml_lines,
)
from shoal.mart.catalog import Catalog
from shoal.mart.lookups import ENTRIES, is_file

if TYPE_CHECKING:
    from shoal.mart.catalog import CatalogSource, Link
    from shoal.mart.request import Request


def catalog_mapping(catalog: Catalog) -> dict[str, Any]:
    """The catalog in the keys of its file, defaults left out."""
    found: dict[str, Any] = plain(catalog.model_dump(by_alias=True, exclude_defaults=True))
    found["sources"] = {name: _source(source) for name, source in catalog.sources.items()}
    if catalog.links:
        found["links"] = [_link(link) for link in catalog.links]
    if catalog.maps:
        found["maps"] = {
            name: {ENTRIES: dict(lookup)} if is_file(lookup) else dict(lookup)
            for name, lookup in catalog.maps.items()
        }
    if "missing" in found:
        found["missing"] = short_form(found["missing"], "match")
    policy = catalog.policy
    if isinstance(policy.suppression, float):
        found["policy"]["suppression"] = percent(policy.suppression)
    if policy.share is not None:
        found["policy"]["share"] = percent(policy.share)
    return found


def _source(source: CatalogSource) -> dict[str, Any]:
    found: dict[str, Any] = plain(source.model_dump(by_alias=True, exclude_defaults=True))
    found["source"] = source_mapping(found["source"])
    if source.columns:
        found["columns"] = {
            name: attribute_mapping(column) for name, column in source.columns.items()
        }
    return found


def _link(link: Link) -> dict[str, Any]:
    between = {end.source: list(end.columns) for end in link.ends}
    optional = {} if link.optional is None else {"optional": link.optional}
    return {"between": between, "kind": link.kind, **optional}


def request_mapping(request: Request) -> dict[str, Any]:
    """The request in the keys of its file, defaults left out; conditions are texts."""
    found: dict[str, Any] = plain(request.model_dump(by_alias=True, exclude_defaults=True))
    if request.select:
        found["select"] = [str(condition) for condition in request.select]
    if "output" in found:
        found["output"] = short_form(found["output"], "path")
    if request.loss is not None:
        found["loss"] = short_form({"name": request.loss.name, **found["loss"]}, "name")
    if isinstance(request.suppression, float):
        found["suppression"] = percent(request.suppression)
    if request.search.time_limit is not None:
        found["search"]["time limit"] = duration(request.search.time_limit)
    return found


def spelled(model: Catalog | Request, spelling: str) -> str:
    """The model as text in a spelling: yaml, json or xml."""
    if spelling == "xml":
        from shoal.mart.xml_write import catalog_xml, request_xml

        return catalog_xml(model) if isinstance(model, Catalog) else request_xml(model)
    mapping = catalog_mapping(model) if isinstance(model, Catalog) else request_mapping(model)
    if spelling == "json":
        return json.dumps(mapping, indent=2, ensure_ascii=False) + "\n"
    return "".join(f"{line}\n" for key in mapping for line in yaml_lines(key, mapping[key]))

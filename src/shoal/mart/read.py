"""Read a catalog or a request from a YAML or JSON file, or a mapping; all its mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from shoal.definition.parse import dotted
from shoal.definition.read import content, parse
from shoal.definition.scalars import DefinitionPart, Wrong, shown
from shoal.errors import BadDefinition, Mistake
from shoal.mart.catalog import Catalog
from shoal.mart.request import Request

Part = TypeVar("Part", bound=DefinitionPart)


def read_catalog(path: str | Path) -> Catalog:
    """The catalog in a file; its relative paths are relative to the file's folder."""
    return _read(Catalog, Path(path))


def read_request(path: str | Path) -> Request:
    """The request in a file; its relative paths are relative to the file's folder."""
    return _read(Request, Path(path))


def catalog_from_mapping(data: Mapping[str, Any], folder: Path = Path()) -> Catalog:
    """The catalog in a mapping with the keys of a catalog file."""
    return _validated(Catalog, data, "catalog", folder)


def request_from_mapping(data: Mapping[str, Any], folder: Path = Path()) -> Request:
    """The request in a mapping with the keys of a request file."""
    return _validated(Request, data, "request", folder)


def _read(model: type[Part], path: Path) -> Part:
    parsed = parse(content(path), str(path), path.suffix.lower())
    return _validated(model, parsed.data, str(path), path.parent)


def _validated(model: type[Part], data: Any, file: str, folder: Path) -> Part:
    if not isinstance(data, Mapping):
        what = f"holds {shown(data)}, not a mapping of keys"
        raise BadDefinition(file, [Mistake("file", what, "see the guide of data marts")])
    try:
        return model.model_validate(data, context={"folder": folder}, by_alias=True, by_name=False)
    except ValidationError as error:
        raise BadDefinition(file, [_mistake(each) for each in error.errors()]) from None


def _mistake(error: Any) -> Mistake:
    wrong = error.get("ctx", {}).get("error")
    key = dotted(error["loc"])
    if isinstance(wrong, Wrong):
        return Mistake(key, wrong.what, wrong.remedy)
    return Mistake(key, error["msg"], "see the guide of data marts")

"""Read a catalog or a request from a YAML, JSON or XML file, or a mapping; all mistakes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from shoal.definition.parse import Parsed
from shoal.definition.read import content, parse, with_lines
from shoal.definition.scalars import shown
from shoal.errors import BadDefinition, Mistake
from shoal.mart.catalog import Catalog
from shoal.mart.explain import explain_catalog, explain_request
from shoal.mart.mistakes import mistakes_of, mistakes_of_request
from shoal.mart.request import Request

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CATALOG = "begin with `mart:`, `log:`, `person:` and `sources:`"
_REQUEST = "begin with `project:` and the names of columns"


def read_catalog(path: str | Path) -> Catalog:
    """The catalog in a file; its relative paths are relative to the file's folder.

    The ending says YAML, JSON or XML; with any other ending the content does. All mistakes of the
    file are raised together as one BadDefinition.

    Example:
        >>> shoal.mart.read_catalog("catalog.yaml").name
        'six patients'
    """
    path = Path(path)
    parsed = parse(content(path), str(path), path.suffix.lower(), _catalog_xml)
    return _catalog(parsed, str(path), path.parent, path)


def read_request(path: str | Path) -> Request:
    """The request in a file; its relative paths are relative to the file's folder.

    Example:
        >>> shoal.mart.read_request("request.yaml").k
        2
    """
    path = Path(path)
    parsed = parse(content(path), str(path), path.suffix.lower(), _request_xml)
    return _request(parsed, str(path), path.parent)


def catalog_from_mapping(data: Mapping[str, object], folder: Path = Path()) -> Catalog:
    """The catalog in a mapping with the keys of a catalog file.

    Relative paths are relative to the folder.

    Example:
        >>> shoal.mart.catalog_from_mapping(yaml.safe_load(open("catalog.yaml"))).name
        'six patients'
    """
    return _catalog(Parsed(data), "catalog", folder, None)


def request_from_mapping(data: Mapping[str, object], folder: Path = Path()) -> Request:
    """The request in a mapping with the keys of a request file.

    Relative paths are relative to the folder.

    Example:
        >>> shoal.mart.request_from_mapping({"project": ["PT", "BMI"], "k": 3}).k
        3
    """
    return _request(Parsed(data), "request", folder)


def _catalog_xml(text: str) -> Parsed:
    from shoal.mart.xml_read import parse_catalog_xml

    return parse_catalog_xml(text)


def _request_xml(text: str) -> Parsed:
    from shoal.mart.xml_read import parse_request_xml

    return parse_request_xml(text)


def _catalog(parsed: Parsed, file: str, folder: Path, path: Path | None) -> Catalog:
    data = _mapping(parsed, file, _CATALOG)
    try:
        catalog = _validated(data, folder)
    except ValidationError as error:
        found = [
            *_explained(error, explain_catalog),
            *_mistakes_of_the_rest(data, folder, path, error.errors(include_url=False)),
        ]
        raise _bad(file, parsed, found) from None
    if found := [*parsed.mistakes, *mistakes_of(catalog, path)]:
        raise _bad(file, parsed, found)
    return catalog


def _validated(data: Mapping[str, Any], folder: Path) -> Catalog:
    return Catalog.model_validate(data, context={"folder": folder}, by_alias=True, by_name=False)


def _mistakes_of_the_rest(
    data: Mapping[str, Any], folder: Path, path: Path | None, errors: Sequence[ErrorDetails]
) -> list[Mistake]:
    """The mistakes of what is sound, without the columns, sources and keys that have mistakes."""
    rest, unsure = _sound(data, [error["loc"] for error in errors])
    try:
        return mistakes_of(_validated(rest, folder), path, unsure)
    except ValidationError:
        return []


def _sound(
    data: Mapping[str, Any], broken: Sequence[tuple[str | int, ...]]
) -> tuple[Mapping[str, Any], set[str]]:
    """The data without what is broken, and what it therefore does not have as the file does.

    A column goes alone. A source keeps its name and its other columns. Of the other keys each goes
    as a whole, and those that must be there get a dummy.
    """
    unsure: set[str] = set()
    given = data.get("sources")
    sources = dict(given) if isinstance(given, Mapping) else {}
    for key, *inside in broken:
        if key != "sources" or not inside:
            unsure.add(str(key))
        else:
            unsure.add(f"sources.{inside[0]}")
            sources[inside[0]] = _sound_source(sources.get(inside[0]), inside[1:])
    dummies = {"mart": "-", "log": "-", "person": {"source": "-", "columns": ["-"]}}
    known = {field.alias or name for name, field in Catalog.model_fields.items()}
    kept = {key: data[key] for key in data if key in known and key not in unsure}
    return {**dummies, **kept, "sources": sources}, unsure


def _sound_source(source: Any, broken: Sequence[str | int]) -> dict[str, Any]:
    given = source if isinstance(source, Mapping) else {}
    columns = given.get("columns")
    kept = dict(columns) if isinstance(columns, Mapping) else {}
    if broken[:1] == ["columns"] and broken[1:]:
        kept.pop(broken[1], None)
        return {**given, "columns": kept}
    return {"source": "-", "columns": kept}


def _request(parsed: Parsed, file: str, folder: Path) -> Request:
    data = _mapping(parsed, file, _REQUEST)
    context = {"folder": folder}
    try:
        request = Request.model_validate(data, context=context, by_alias=True, by_name=False)
    except ValidationError as error:
        raise _bad(file, parsed, _explained(error, explain_request)) from None
    if found := [*parsed.mistakes, *mistakes_of_request(request)]:
        raise _bad(file, parsed, found)
    return request


def _mapping(parsed: Parsed, file: str, example: str) -> Mapping[str, Any]:
    data = parsed.data
    if not isinstance(data, Mapping):
        what = "is empty" if data is None else f"holds {shown(data)}, not a mapping of keys"
        raise BadDefinition(file, [Mistake("file", what, example)])
    return data


def _explained(error: ValidationError, explain: Callable[[ErrorDetails], Mistake]) -> list[Mistake]:
    return [explain(each) for each in error.errors(include_url=False)]


def _bad(file: str, parsed: Parsed, mistakes: Sequence[Mistake]) -> BadDefinition:
    """All mistakes in the order of their lines, those of the parser among them."""
    every = dict.fromkeys((*parsed.mistakes, *mistakes))
    return BadDefinition(file, with_lines(list(every), parsed.lines))

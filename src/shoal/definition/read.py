"""Read a definition from a YAML or JSON file, or from a mapping; all its mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import ValidationError

from shoal.definition import check
from shoal.definition.check_hierarchy import near_files
from shoal.definition.explain import explain, place_of
from shoal.definition.model import Definition
from shoal.definition.parse import Parsed, Unreadable, parse_json, parse_yaml
from shoal.definition.scalars import shown
from shoal.errors import BadDefinition, Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 10_000_000
"""More bytes than any definition needs; a large hierarchy belongs in a file of its own."""

_EXAMPLE = "begin with `source:`, `k:` and `attributes:`, or let `shoal init DATA` write one"


def read(path: str | Path) -> Definition:
    """The definition in a file; its relative paths are relative to the file's folder.

    The ending says YAML or JSON; with any other ending the content does. All mistakes of the file
    are raised together as one BadDefinition.
    """
    path = Path(path)
    file = str(path)
    try:
        parsed = _parse(_text(path), path.suffix.lower())
    except Unreadable as error:
        raise BadDefinition(file, [error.mistake]) from None
    return _definition(parsed, file, path.parent)


def from_mapping(
    data: Mapping[str, Any], file: str = "definition", folder: Path = Path()
) -> Definition:
    """The definition in a mapping with the keys of a definition file.

    `file` is what messages call it, `folder` is what relative paths are relative to.
    """
    return _definition(Parsed(data), file, folder)


def _parse(text: str, ending: str) -> Parsed:
    if ending == ".xml" or text.lstrip().startswith("<"):
        what = "XML definitions are not supported in this version"
        raise Unreadable(Mistake("XML", what, "write the definition as YAML or JSON"))
    if ending == ".json":
        return parse_json(text)
    if ending not in (".yaml", ".yml") and text.lstrip().startswith("{"):
        try:
            return parse_json(text)
        except Unreadable:
            return parse_yaml(text)
    return parse_yaml(text)


def _text(path: Path) -> str:
    """The text of the file, which is UTF-8 and not too large."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        _refuse(path, "there is no such file", near_files(path))
    except IsADirectoryError:
        _refuse(path, "is a folder", "give the path of the definition file in it")
    except OSError as error:
        _refuse(path, f"cannot be read ({error.strerror})", "check who may read the file")
    if len(content) > LARGEST:
        remedy = "move large trees into hierarchy files"
        _refuse(path, f"is larger than {LARGEST // 1_000_000} MB", remedy)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        _refuse(path, f"is not UTF-8 in line {line}", "save the file as UTF-8")


def _refuse(path: Path, what: str, remedy: str) -> NoReturn:
    raise BadDefinition(str(path), [Mistake("file", what, remedy)])


def _definition(parsed: Parsed, file: str, folder: Path) -> Definition:
    """The definition in the data, or all its mistakes in the order of their lines."""
    data = parsed.data
    if not isinstance(data, Mapping):
        what = "is empty" if data is None else f"holds {shown(data)}, not a mapping of keys"
        raise BadDefinition(file, [Mistake("file", what, _EXAMPLE)])
    mistakes = list(parsed.mistakes)
    try:
        definition = _validated(data, folder)
        mistakes += check.mistakes(definition)
    except ValidationError as error:
        mistakes += _model_mistakes(error) + _mistakes_of_the_rest(data, folder, error)
    if mistakes:
        raise BadDefinition(file, _with_lines(mistakes, parsed.lines))
    return definition


def _validated(data: Mapping[str, Any], folder: Path) -> Definition:
    return Definition.model_validate(data, context={"folder": folder}, by_alias=True, by_name=False)


def _model_mistakes(error: ValidationError) -> list[Mistake]:
    return [explain(details) for details in error.errors(include_url=False)]


def _mistakes_of_the_rest(
    data: Mapping[str, Any], folder: Path, error: ValidationError
) -> list[Mistake]:
    """The cross-field mistakes of what is sound: no key or attribute with a mistake of its own.

    Every part is valid or not on its own, so what is left is valid; the two keys that must be there
    get a stand-in that no check objects to. Whether the roles together make sense can only be said
    when every attribute is sound.
    """
    broken = {place_of(details)[:2] for details in error.errors(include_url=False)}
    keys = {place[0] for place in broken}
    known = set(Definition.model_fields)
    sound = {key: value for key, value in data.items() if key in known - keys}
    attributes = data.get("attributes")
    given = attributes if isinstance(attributes, Mapping) else {}
    sound["attributes"] = {
        name: value for name, value in given.items() if ("attributes", name) not in broken
    }
    rest = _validated({"source": "-", "k": "2", **sound}, folder)
    found = check.of_release(rest)
    for name, attribute in rest.attributes.items():
        found += check.of_attribute(name, attribute)
    return found if "attributes" in keys else found + check.of_roles(rest)


def _with_lines(mistakes: Sequence[Mistake], lines: Mapping[str, int]) -> list[Mistake]:
    """Each mistake with the line of its key, or of the innermost key around it that has one."""
    placed = [
        mistake if mistake.line else replace(mistake, line=_line(mistake.key, lines))
        for mistake in mistakes
    ]
    return sorted(placed, key=lambda mistake: mistake.line or 0)


def _line(key: str, lines: Mapping[str, int]) -> int | None:
    while key not in lines and "." in key:
        key = key.rpartition(".")[0]
    return lines.get(key)

"""Read a definition from a YAML, JSON or XML file, or a mapping; all its mistakes at once.

`override` changes some keys of a definition, as the options of a command say.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from pydantic import ValidationError

from shoal.definition import check
from shoal.definition.explain import explain, key_path
from shoal.definition.hierarchies.listed import near_files
from shoal.definition.model import ROLES, Attribute, Definition
from shoal.definition.parse import Parsed, Unreadable, parse_json, parse_yaml
from shoal.definition.scalars import shown
from shoal.engines.database_files import options_for
from shoal.errors import BadDefinition, Mistake

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_core import ErrorDetails

    from shoal.definition.model import DefinitionPart


LARGEST = 10_000_000
"""More bytes than any definition needs; a large hierarchy belongs in a file of its own."""

MANY_KEYS = 5
"""A file with so many keys, and none of those that a definition must have, is something else."""

KeyPath: TypeAlias = tuple[str | int, ...]
"""The keys from the top of a definition down to one of its values."""

_DATA = {
    ".csv",
    ".tsv",
    ".parquet",
    ".jsonl",
    ".ndjson",
    ".orc",
    ".xlsx",
    ".xls",
    ".gz",
    ".zst",
    ".feather",
}
"""Endings of files that hold records; those of JSON and XML may be definitions too."""

_MARKS_OF_DATA = (b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How files of Parquet, Excel, gzip and zstd begin."""

_EXAMPLE = "begin with `source:`, `k:` and `attributes:`, or let `shoal init DATA` write one"


def read(path: str | Path) -> Definition:
    """The definition in a file; its relative paths are relative to the file's folder.

    The ending says YAML, JSON or XML; with any other ending the content does. All mistakes of the
    file are raised together as one BadDefinition.
    """
    path = Path(path)
    file = str(path)
    if path.suffix.lower() in _DATA and path.is_file():
        _refuse_data(file)
    text = content(path)
    if _is_data(text) or options_for(path):
        _refuse_data(file)
    return from_parsed(parse(text, file, path.suffix.lower()), file, path.parent)


def parse(
    text: bytes, file: str, ending: str = "", xml: Callable[[str], Parsed] | None = None
) -> Parsed:
    """The plain data of a file; BadDefinition where it cannot be read at all.

    `xml` reads XML, by default that of definitions.
    """
    if len(text) > LARGEST:
        remedy = "move large trees into hierarchy files"
        _refuse(file, f"is larger than {LARGEST // 1_000_000} MB", remedy)
    try:
        return _parse(text.decode("utf-8-sig"), ending, xml or _parse_xml)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        _refuse(file, f"is not UTF-8 in line {line}", "save the file as UTF-8")
    except Unreadable as error:
        raise BadDefinition(file, error.mistakes) from None


def moved(parsed: Parsed, file: str, folder: Path, there: Path) -> Definition:
    """The definition in a file of one folder, with relative paths as a file in another has them.

    It is checked where it is. From there on paths are seen from `there`: in the same folder they
    stay as they are written.
    """
    from_parsed(parsed, file, folder)
    return _validated(parsed.data, Path(os.path.relpath(folder or ".", there or ".")))


def from_mapping(
    data: Mapping[str, Any], file: str = "definition", folder: Path = Path()
) -> Definition:
    """The definition in a mapping with the keys of a definition file.

    `file` is what messages call it, `folder` is what relative paths are relative to.
    """
    return from_parsed(Parsed(data), file, folder)


def _parse_xml(text: str) -> Parsed:
    from shoal.definition.xml_read import parse_xml

    return parse_xml(text)


def _parse(text: str, ending: str, xml: Callable[[str], Parsed]) -> Parsed:
    if ending == ".xml" or text.lstrip().startswith("<"):
        return xml(text)
    if ending == ".json":
        return parse_json(text)
    if ending not in (".yaml", ".yml") and text.lstrip().startswith("{"):
        try:
            return parse_json(text)
        except Unreadable:
            return parse_yaml(text)
    return parse_yaml(text)


def content(path: Path) -> bytes:
    """The bytes of the file, up to one more than a definition may have."""
    file = str(path)
    try:
        with path.open("rb") as opened:
            return opened.read(LARGEST + 1)
    except FileNotFoundError:
        _refuse(file, "there is no such file", near_files(path))
    except IsADirectoryError:
        _refuse(file, "is a folder", "give the path of the definition file in it")
    except OSError as error:
        _refuse(file, f"cannot be read ({error.strerror})", "check who may read the file")


def _is_data(text: bytes) -> bool:
    """Whether the beginning of a file is that of data, by what no definition can begin with.

    Parquet and packed files have marks, JSON of records is a list or has an object in each line.
    XML of more than the size of a definition, and JSON of more, is data too.
    """
    begin = text[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith(_MARKS_OF_DATA) or re.match(rb"\[\s*[\[{]", begin):
        return True
    lines = begin.splitlines()
    in_lines = len(lines) > 1 and all(re.fullmatch(rb"\{.+\}\s*", line) for line in lines[:2])
    return in_lines or (len(text) > LARGEST and begin.startswith((b"{", b"<")))


def _refuse_data(file: str) -> NoReturn:
    data = options_for(Path(file)) or shlex.quote(file)
    _refuse(file, "is data, not a definition", f"try `shoal init {data}`")


def _refuse(file: str, what: str, remedy: str) -> NoReturn:
    raise BadDefinition(file, [Mistake("file", what, remedy)])


def from_parsed(parsed: Parsed, file: str, folder: Path) -> Definition:
    """The definition in the data, or all its mistakes in the order of their lines."""
    data = parsed.data
    if not isinstance(data, Mapping):
        what = "is empty" if data is None else f"holds {shown(data)}, not a mapping of keys"
        raise BadDefinition(file, [Mistake("file", what, _EXAMPLE)])
    if len(data) >= MANY_KEYS and not {"source", "k", "attributes"} & set(data):
        what = "is no definition: it has none of the keys `source`, `k` and `attributes`"
        raise BadDefinition(
            file, [Mistake("file", what, "give the file that says what to release")]
        )
    mistakes = list(parsed.mistakes)
    broken: list[KeyPath] = list(parsed.left_out)
    try:
        definition = _validated(data, folder)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        mistakes += [explain(each) for each in errors if not _is_left_out(each, parsed.left_out)]
        broken += map(key_path, errors)
    if broken:
        mistakes += _mistakes_of_the_rest(data, folder, broken)
    else:
        mistakes += check.mistakes(definition)
    if mistakes:
        raise BadDefinition(file, with_lines(mistakes, parsed.lines))
    return definition


def _is_left_out(error: ErrorDetails, left_out: Sequence[KeyPath]) -> bool:
    """Whether the error is about a key that is left out, or comes of its being left out."""
    path = key_path(error)
    return any(path == each[: len(path)] or each == path[: len(each)] for each in left_out)


def _validated(data: Mapping[str, Any], folder: Path) -> Definition:
    return Definition.model_validate(data, context={"folder": folder}, by_alias=True, by_name=False)


def _mistakes_of_the_rest(
    data: Mapping[str, Any], folder: Path, broken: Sequence[KeyPath]
) -> list[Mistake]:
    """The cross-field mistakes of what is sound.

    A key with a mistake of its own is left out, and where the part that holds it is not valid
    without it, that part. The two keys that must be there get a dummy that no check objects to.
    """
    try:
        rest = _validated(_sound(data, broken, deep=True), folder)
    except ValidationError:
        rest = _validated(_sound(data, broken, deep=False), folder)
    found = check.of_release(rest)
    for name, attribute in rest.attributes.items():
        found += check.of_attribute(name, attribute)
    return found + check.of_roles(rest) if _roles_are_known(data, rest, broken) else found


def _sound(data: Mapping[str, Any], broken: Sequence[KeyPath], *, deep: bool) -> dict[str, Any]:
    """The data without its broken keys: single keys of its parts, or these parts as a whole."""
    known = set(Definition.model_fields)
    sound = {key: value for key, value in data.items() if key in known}
    given = data.get("attributes")
    attributes = dict(given) if isinstance(given, Mapping) else {}
    for path in broken:
        if path[0] != "attributes":
            _leave_out(sound, path[:2] if deep else path[:1])
        elif len(path) > 1:
            _leave_out(attributes, path[1:3] if deep and _spares(path, attributes) else path[1:2])
    return {"source": "-", "k": "2", **sound, "attributes": attributes}


def _spares(path: KeyPath, attributes: Mapping[Any, Any]) -> bool:
    """Whether the attribute without this key raises no objection that it does not deserve.

    Without its broken demand or priority it would seem to have none, and hierarchical distance
    needs the hierarchy.
    """
    given = attributes.get(path[1])
    if len(path) < 3 or not isinstance(given, Mapping):
        return False
    if path[2] == "hierarchy":
        return given.get("role") == "quasi-identifier"
    known = {field.alias or name for name, field in Attribute.model_fields.items()}
    return path[2] in ("from", "limit") or path[2] not in known


def _leave_out(parts: dict[Any, Any], path: Sequence[str | int]) -> None:
    """Take a part away, or only a key of it."""
    part = parts.get(path[0])
    if len(path) > 1 and isinstance(part, Mapping):
        parts[path[0]] = {key: value for key, value in part.items() if key != path[1]}
    else:
        parts.pop(path[0], None)


def _roles_are_known(data: Mapping[str, Any], rest: Definition, broken: Sequence[KeyPath]) -> bool:
    """Whether every attribute that was left out says a role that is none of a quasi-identifier."""
    given = data.get("attributes")
    if not isinstance(given, Mapping):
        return False
    if any(path[0] == "attributes" and path[1:2] and path[1] not in given for path in broken):
        return False
    left_out = [value for name, value in given.items() if name not in rest.attributes]
    roles = [value.get("role") if isinstance(value, Mapping) else value for value in left_out]
    return all(role in ROLES and role != "quasi-identifier" for role in roles)


def with_lines(mistakes: Sequence[Mistake], lines: Mapping[str, int]) -> list[Mistake]:
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


JOINED = ("search", "engine")
"""Keys that hold several settings: those that are given replace the old ones, the others stay."""
KEYS_OF_A_STRATEGY = ("backtrack", "parameters")
"""Settings of a search that only its strategy understands."""


def override(definition: Definition, changes: Mapping[str, Any], file: str) -> Definition:
    """The definition with these values for its keys; None changes nothing.

    A value is written as in a definition file. The new definition is checked as a whole, and
    BadDefinition calls it `file`. Another strategy does not inherit the settings that only the old
    one understood, nor full-domain recoding the effort of local recoding.
    """
    changed = _not_none(changes)
    if changed.get("recoding") == "full-domain" and definition.search.effort is not None:
        search = definition.search.model_copy(update={"effort": None})
        definition = definition.model_copy(update={"search": search})
    for key in JOINED:
        settings = _not_none(changed.pop(key, {}))
        if settings:
            changed[key] = _joined(getattr(definition, key), settings)
    if not changed:
        return definition
    kept = {name: getattr(definition, name) for name in Definition.model_fields}
    return from_mapping({**kept, **changed}, file=file)


def _joined(old: DefinitionPart, new: Mapping[str, Any]) -> dict[str, Any]:
    """The old settings, replaced by the new ones where these say something else."""
    settings = old.model_dump(by_alias=True, exclude_defaults=True)
    if "strategy" in new:
        settings = {key: settings[key] for key in settings if key not in KEYS_OF_A_STRATEGY}
    return {**settings, **new}


def _not_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}

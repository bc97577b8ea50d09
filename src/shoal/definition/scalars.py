"""The single values of a definition: shares, durations, texts, paths, and how each is written."""

from __future__ import annotations

import codecs
import glob
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from shoal.engines.object_store.address import fault_of_url, is_object
from shoal.errors import did_you_mean, quoted


class Wrong(ValueError):
    """A value that cannot be meant: what is wrong with it, and the remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


class DefinitionPart(BaseModel):
    """Base of all parts: frozen, finite numbers only, and an unknown key is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_not_given(cls, data: Any) -> Any:
        """A key with nothing after it counts as not given."""
        if isinstance(data, Mapping):
            return {key: value for key, value in data.items() if value is not None}
        return data


LONGEST_NUMBER = 400
"""More characters than any number needs; without a bound, patterns take their time."""


def _number_text(value: object) -> str:
    """A value as the text of a number, which true, false and endless text are not."""
    text = "" if isinstance(value, bool) else str(value).strip()
    return text if len(text) <= LONGEST_NUMBER else ""


def _share(value: object) -> object:
    """`5%` and `0.05` are shares; a whole number is a number of records.

    Percent are divided in decimal, so that a share reads back as the float it was written from.
    """
    text = _number_text(value)
    if match := re.fullmatch(r"([+-]?[0-9]*\.?[0-9]+)\s*%", text):
        return float(Decimal(match[1]) / 100)
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.I):
        return float(text)
    raise Wrong(
        f"{shown(value)} is neither a share nor a number of records",
        "write for example `suppression: 5%` or `suppression: 100`",
    )


def _portion(value: object) -> float:
    """`5%` and `0.05` are shares; so are 0 and 1."""
    try:
        return float(str(_share(value)))
    except Wrong:
        raise Wrong(f"{shown(value)} is not a share", "write for example `5%` or `0.05`") from None


_UNITS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}


def _seconds(value: object) -> object:
    """`2s`, `60 s`, `5 min`, `1 h`; a bare number is seconds."""
    if isinstance(value, float) and value >= 0:
        return value
    text = _number_text(value)
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(ms|s|sec|min|h)?", text)
    if match is None:
        raise Wrong(f"{shown(value)} is not a duration", "write for example `60 s` or `5 min`")
    return float(match[1]) * _UNITS[match[2] or "s"]


_SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZES |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def _bytes(value: object) -> object:
    """`8 GB`, `512 MiB`; a bare number is bytes."""
    text = _number_text(value)
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)", text)
    if match is None or match[2].upper() not in _SIZES:
        raise Wrong(f"{shown(value)} is no amount of memory", "write for example `8 GB`")
    return int(Decimal(match[1]) * _SIZES[match[2].upper()])


def text_of(value: object) -> str:
    """Scalars of a definition are text: JSON's 7 is the value "7"."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Wrong(f"{shown(value)} is not a text", "put quotes around it")
    return str(value)


def _delimiter(value: str) -> str:
    """One character; a tab may be written as `tab` or `\\t`."""
    character = {"tab": "\t", "\\t": "\t"}.get(value, value)
    if len(character) != 1 or character in '"\r\n':
        raise Wrong(
            f"{shown(value)} is not a delimiter", 'write one character, such as ";" or "\\t"'
        )
    return character


def _encoding(value: str) -> str:
    """The usual name of an encoding of text."""
    try:
        "".encode(value)
        return codecs.lookup(value).name
    except (LookupError, ValueError):
        raise Wrong(
            f"no encoding is called {shown(value)}",
            "common ones are utf-8, utf-8-sig, utf-16, latin-1 and windows-1252",
        ) from None


def _in_folder(path: Path, info: ValidationInfo) -> Path:
    _refuse_no_file(str(path))
    return _folder(info) / path


def _pattern_in_folder(pattern: str, info: ValidationInfo) -> str:
    """The pattern under the definition's folder, whose own name is never part of the pattern."""
    if is_object(pattern):
        return object_url(pattern)
    _refuse_no_file(pattern)
    folder = str(_folder(info))
    if folder == ".":
        return pattern
    return str(Path(glob.escape(folder) if glob.has_magic(pattern) else folder) / pattern)


def object_url(url: str) -> str:
    """The URL of an object, whose key could be the path of a file."""
    if fault := fault_of_url(url):
        raise Wrong(f"{shown(url)} is no address of an object", fault)
    return url


LONGEST_NAME = 255
"""More bytes than file systems let a file name have; Linux lets a path have sixteen times this."""


def _refuse_no_file(path: str) -> None:
    names = [name.encode("utf-8", "surrogatepass") for name in path.split("/")]
    too_long = max(map(len, names)) > LONGEST_NAME or len(path) > 16 * LONGEST_NAME
    if path in ("", ".") or "\0" in path or too_long:
        raise Wrong(f"{shown(path)} is no path of a file", "write for example `patients.csv`")


def _folder(info: ValidationInfo) -> Path:
    """The folder of the definition file, which relative paths are relative to."""
    return Path((info.context or {}).get("folder", ""))


def as_list(value: object) -> object:
    """A single value where a list is expected is a list of one."""
    return (value,) if isinstance(value, str | int | float) else value


def shown(value: object) -> str:
    """A value of the definition as messages show it, cut when long."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    text = repr(str(value))
    return text if len(text) <= 60 else f"{text[:57]}...'"


def plain(value: Any) -> Any:
    """Mappings, lists, numbers and text only: what YAML and JSON can hold."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return str(value) if isinstance(value, Path) else value


def nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A remedy for an unknown word: the one that may be meant, else all that are possible."""
    names = list(known)
    begins = [name for name in names if len(word) > 1 and name.startswith(word.casefold())]
    near = f"did you mean {begins[0]!r}?" if begins else did_you_mean(word, names).lstrip("; ")
    return near or otherwise or f"possible here: {quoted(names)}"


Text: TypeAlias = Annotated[str, BeforeValidator(text_of)]
Share: TypeAlias = Annotated[float | int, BeforeValidator(_share)]
Portion: TypeAlias = Annotated[float, BeforeValidator(_portion)]
Seconds: TypeAlias = Annotated[float, BeforeValidator(_seconds)]
Bytes: TypeAlias = Annotated[int, BeforeValidator(_bytes)]
Delimiter: TypeAlias = Annotated[str, AfterValidator(_delimiter)]
Encoding: TypeAlias = Annotated[str, AfterValidator(_encoding)]
FilePath: TypeAlias = Annotated[Path, AfterValidator(_in_folder)]
LocalPath: TypeAlias = Annotated[
    FilePath, WithJsonSchema({"type": "string", "format": "path", "pattern": "^(?!s3://)"})
]
ObjectUrl: TypeAlias = Annotated[
    str, AfterValidator(object_url), WithJsonSchema({"type": "string", "pattern": "^s3://"})
]
Pattern: TypeAlias = Annotated[str, AfterValidator(_pattern_in_folder)]

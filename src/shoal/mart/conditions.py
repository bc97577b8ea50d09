"""One condition of a selection, and the text that people write it as.

    PT = 1                      age between 40 and 60           death is missing
    Loc in [Mamma, Colon]       "day of birth" >= 1950-01-01    death is not missing

A name or value with an operator, comma, bracket or quote in it is written in quotes; a quote
inside quotes is written twice. `str` of a condition is such a text, and parses as the same one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import field_validator, model_validator

from shoal.definition.locations import Names  # noqa: TC001 the model needs it
from shoal.definition.scalars import DefinitionPart, Text, Wrong, nearest, shown, text_of

COMPARISONS: tuple[str, ...] = ("=", "==", "!=", "<", ">", "<=", ">=")
OPERATORS: tuple[str, ...] = (*COMPARISONS, "in", "between", "missing", "present")
EXAMPLE = "write for example `PT = 1`, `age between 40 and 60` or `Loc in [Mamma, Colon]`"

_QUOTED = r'"(?:[^"]|"")*"' + r"|'(?:[^']|'')*'" + r"|`(?:[^`]|``)*`"
_OPERATOR = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?P<symbol>==|!=|<>|<=|>=|=|<|>)"
    r"|(?<=\s)(?P<word>in|between|is\s+not\s+missing|is\s+missing)(?=[\s\[(]|$)",
    re.IGNORECASE,
)
_NEEDS_QUOTES = re.compile(r"[=<>!,\[\](){}\"'`]|^\s|\s$|^$|\b(?:in|between|is|and)\b", re.I)
_BRACKETS = {"[": "]", "(": ")"}


class Condition(DefinitionPart):
    """A column, an operator and the values it compares with, as texts.

    `missing` and `present` have no value, `between` two, `in` at least one, all others one.
    """

    column: Text
    operator: str
    values: Names = ()

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, data: Any) -> Any:
        return _keys(data) if isinstance(data, str) else data

    @field_validator("operator")
    @classmethod
    def _is_known(cls, operator: str) -> str:
        if operator not in OPERATORS:
            raise Wrong(f"{shown(operator)} is no operator", nearest(operator, OPERATORS))
        return operator

    @model_validator(mode="after")
    def _has_its_values(self) -> Condition:
        number = {"missing": 0, "present": 0, "between": 2, "in": max(1, len(self.values))}
        expected = number.get(self.operator, 1)
        if len(self.values) != expected:
            noun = "value" if expected == 1 else "values"
            what = f"{self.operator!r} takes {expected} {noun}, not {len(self.values)}"
            raise Wrong(what, EXAMPLE)
        return self

    def __str__(self) -> str:
        column = _spelled(self.column)
        values = [_spelled(value) for value in self.values]
        match self.operator:
            case "missing":
                return f"{column} is missing"
            case "present":
                return f"{column} is not missing"
            case "in":
                return f"{column} in [{', '.join(values)}]"
            case "between":
                return f"{column} between {values[0]} and {values[1]}"
            case operator:
                return f"{column} {operator} {values[0]}"


def conditions_of(given: Any) -> tuple[Any, ...]:
    """The conditions that a request writes as a list, a text or a mapping, one by one.

    Each is a text or has the keys of a Condition, whose model checks it.
    """
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        given = [given]
    return tuple(condition for each in given for condition in _each(each))


def _each(given: Any) -> Iterator[Any]:
    if isinstance(given, str | Condition):
        yield given
    elif isinstance(given, Mapping):
        for column, value in given.items():
            yield from _of_column(text_of(column), value)
    else:
        raise Wrong(f"{shown(given)} is no condition", EXAMPLE)


def _of_column(column: str, value: Any) -> Iterator[dict[str, Any]]:
    """`Loc: Mamma`, `PN: [1a, 1b]`, `age: {">=": 40, "<": 60}`, `death: {is: missing}`."""
    if isinstance(value, Mapping):
        for operator, inner in value.items():
            yield _compared(column, str(operator), inner)
    elif value is None:
        what = f"the condition on {column!r} says nothing"
        raise Wrong(what, f"write `{column}: {{is: missing}}` to select missing values")
    else:
        operator = "in" if isinstance(value, list | tuple) else "="
        yield {"column": column, "operator": operator, "values": value}


def _compared(column: str, operator: str, value: Any) -> dict[str, Any]:
    if operator != "is":
        return {"column": column, "operator": operator, "values": value}
    words = {"missing": "missing", "not missing": "present"}
    if str(value) not in words:
        raise Wrong(f"{column!r} is {shown(value)}", "write `missing` or `not missing`")
    return {"column": column, "operator": words[str(value)]}


def parse_condition(text: str) -> Condition:
    """The condition that a text means; Wrong if it means none."""
    return Condition(**_keys(text))


def _keys(text: str) -> dict[str, Any]:
    """The keys of the condition that a text means."""
    match = next((each for each in _OPERATOR.finditer(text) if not each["quoted"]), None)
    if match is None:
        raise Wrong(f"{shown(text)} has no operator", EXAMPLE)
    column = _unquoted(text[: match.start()], "a column", text)
    rest = text[match.end() :].strip()
    operator = " ".join((match["symbol"] or match["word"]).lower().split())
    if operator.startswith("is "):
        if rest:
            raise Wrong(f"{shown(text)} has more after {operator!r}", "end the condition there")
        return {"column": column, "operator": "present" if "not" in operator else "missing"}
    if operator == "in":
        values = tuple(_unquoted(each, "a value", text) for each in _listed(rest, text))
    elif operator == "between":
        values = _two(rest, text)
    else:
        operator = "!=" if operator == "<>" else operator
        values = (_unquoted(rest, "a value", text),)
    return {"column": column, "operator": operator, "values": values}


_Pieces: TypeAlias = tuple[str, ...]


def _two(rest: str, text: str) -> tuple[str, str]:
    """The two values of `between A and B`."""
    parts = _split(rest, r"(?<=\s)and(?=\s)")
    if len(parts) != 2:
        what = f"{shown(text)} does not say two values after between"
        raise Wrong(what, "write `between 40 and 60`, with quotes around a value that has an `and`")
    return _unquoted(parts[0], "a value", text), _unquoted(parts[1], "a value", text)


def _listed(rest: str, text: str) -> _Pieces:
    """The pieces of `[a, b]`, split at the commas that are in no quotes and no brackets."""
    if len(rest) < 2 or rest[0] not in _BRACKETS or rest[-1] != _BRACKETS[rest[0]]:
        raise Wrong(f"{shown(text)} has no list after in", "write `Loc in [Mamma, Colon]`")
    return _split(rest[1:-1], ",")


def _split(text: str, separator: str) -> _Pieces:
    """The text between separators (a pattern) that are neither in quotes nor in brackets."""
    pieces, start, depth = [], 0, 0
    for match in re.finditer(rf"{_QUOTED}|[\[(]|[\])]|(?P<at>{separator})", text, re.IGNORECASE):
        found = match[0]
        if found in _BRACKETS:
            depth += 1
        elif found in _BRACKETS.values():
            depth -= 1
        elif depth == 0 and match["at"]:
            pieces.append(text[start : match.start()])
            start = match.end()
    return (*pieces, text[start:])


def _unquoted(piece: str, what: str, text: str) -> str:
    """A name or value: what is in its quotes, or a bare text without an operator."""
    piece = piece.strip()
    if re.fullmatch(_QUOTED, piece):
        return piece[1:-1].replace(piece[0] * 2, piece[0])
    if not piece:
        raise Wrong(f"{shown(text)} lacks {what}", EXAMPLE)
    if any(not each["quoted"] for each in _OPERATOR.finditer(piece)):
        remedy = "write each condition on its own, or put quotes around a text with an operator"
        raise Wrong(f"{shown(text)} has two operators", remedy)
    if piece[0] in "\"'`":
        raise Wrong(f"{shown(text)} has a quote that does not end", "end it, or double it")
    return piece


def _spelled(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text

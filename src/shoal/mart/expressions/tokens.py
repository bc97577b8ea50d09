"""The text of an expression, cut into numbers, texts, names and symbols."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from shoal.errors import UserError

LONGEST = 10_000
"""Characters that an expression may have."""

EXACT = 2**53 - 1
"""The greatest whole number of which the double is not that of another one too."""

NAME = re.compile(r"[^\W\d]\w*")
"""A name that needs no backquotes, unless it is a word of the language."""

_TOKEN = re.compile(
    rf"""
      (?P<space>[ \t\r\n]+)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<text>'(?:[^']|'')*')
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<name>{NAME.pattern})
    | (?P<symbol>\|\||!=|<=|>=|[-+*/%^=<>(),.\[\]])
    """,
    re.VERBOSE,
)

_UNKNOWN = {
    "'": ("a text is not closed", "end the text with a single quote; write a quote in it twice"),
    "`": ("a name is not closed or empty", "write the name of the column between backquotes"),
    '"': ("a double quote", "write texts in single quotes, and names in backquotes"),
    ";": ("a semicolon", "an expression is one value; leave out the semicolon"),
    "!": ("an exclamation mark", "write `not`, or `!=`"),
}


@dataclass(frozen=True)
class Token:
    """A piece of the text: its kind, what it means, and its first character, counted from 1.

    Kinds are number, text, quoted (a name in backquotes), name, symbol and end.
    """

    kind: str
    text: str
    position: int


def mistake(where: str, position: int, what: str, remedy: str) -> UserError:
    """A mistake in an expression, at a character of its text."""
    return UserError(f"{where}: character {position}: {what}", code="bad-expression", hint=remedy)


def tokens(text: str, where: str) -> Iterator[Token]:
    """The tokens of an expression, the last one of kind `end`."""
    if len(text) > LONGEST:
        remedy = f"use at most {LONGEST:,} characters; put long lists into a map and use `lookup`"
        raise mistake(where, LONGEST + 1, "the expression is too long", remedy)
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _unknown(text[position], where, position + 1)
        kind = str(found.lastgroup)
        if kind != "space":
            token = Token(kind, _meaning(kind, found[0]), position + 1)
            _check(token, where)
            yield token
        position = found.end()
    yield Token("end", "", len(text) + 1)


def number_of(token: Token, where: str) -> int | float:
    """What a number token means: an `int` where it is whole."""
    value = float(token.text)
    if math.isinf(value) or (value.is_integer() and value > EXACT):
        remedy = f"use whole numbers up to {EXACT}, which are exact; put ids in quotes"
        raise mistake(where, token.position, "the number is too large", remedy)
    return int(value) if value.is_integer() else value


def _meaning(kind: str, found: str) -> str:
    if kind == "text":
        return found[1:-1].replace("''", "'")
    if kind == "quoted":
        return found[1:-1].replace("``", "`")
    return found


def _check(token: Token, where: str) -> None:
    """Texts and names hold no character that cannot be stored or seen."""
    for character in token.text:
        if unicodedata.category(character) in ("Cc", "Cs"):
            what = f"the character U+{ord(character):04X} in a text or name"
            raise mistake(where, token.position, what, "leave out control characters")


def _unknown(character: str, where: str, position: int) -> UserError:
    code_point = f"the character U+{ord(character):04X}"
    shown = f"{code_point}, {character!r}," if character.isprintable() else code_point
    other = (f"{shown} has no meaning here", "write texts in single quotes, names in backquotes")
    what, remedy = _UNKNOWN.get(character, other)
    return mistake(where, position, what, remedy)

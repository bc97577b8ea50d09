"""Names of columns as names of XML elements and attributes, and back: the escapes of SQL/XML.

A character that an XML name cannot have at its position becomes `_xHHHH_`, its code point in four
or six hexadecimal digits; so does an underscore before an x, and the first letter of a name that
begins with xml, which XML keeps for itself. Every name has one spelling, and each reads back.
"""

from __future__ import annotations

import re

_LETTER = (
    "_A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FIRST = re.compile(f"[{_LETTER}]")
_OTHER = re.compile(f"[{_LETTER}\\-.0-9\u00b7\u0300-\u036f\u203f\u2040]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4}|[0-9A-Fa-f]{6})_")


def to_xml_name(name: str) -> str:
    """A name of a column as an XML name without a prefix."""
    reserved = name[:3].lower() == "xml"
    return "".join(
        character if _is_allowed(name, index, reserved=reserved) else _escaped(character)
        for index, character in enumerate(name)
    )


def from_xml_name(name: str) -> str:
    """The name of the column; of a foreign name its local part, with its escapes read."""
    local = name.rpartition("}")[2]
    return _ESCAPE.sub(_read, local) if "_x" in local else local


def _is_allowed(name: str, index: int, *, reserved: bool) -> bool:
    if index == 0 and (reserved or not _FIRST.match(name[0])):
        return False
    begins_escape = name[index] == "_" and name[index + 1 : index + 2] == "x"
    return bool(_OTHER.match(name[index])) and not begins_escape


def _escaped(character: str) -> str:
    code = ord(character)
    return f"_x{code:04X}_" if code < 0x10000 else f"_x{code:06X}_"


def _read(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else escape[0]

"""The format of a file by its content and by the ending of its name; content counts more."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from shoal import plugins
from shoal.engines.formats.encodings import guess_encoding
from shoal.engines.formats.registry import ENDINGS, PACKED
from shoal.engines.formats.samples import json_objects
from shoal.errors import BadData

FORMATS = ("csv", "excel", "json", "xml", "parquet")
"""The formats that are known by their content; CSV is any text that is none of the others."""
_OTHERS = (b"PK\x03\x04", b"%PDF", b"\xd0\xcf\x11\xe0")
"""How archives, PDF files and old documents of Office begin."""


@dataclass(frozen=True)
class FileKind:
    """A format, and why it is that."""

    name: str
    reason: str


def file_kind(path: Path, name: Path, head: bytes) -> FileKind:
    """The format of a file with these first bytes; BadData for one that is no table."""
    ending = kind_by_ending(name)
    content = _by_content(path, head, ending)
    if ending is not None and content == ending:
        return FileKind(ending, "The ending of the name and the content say it.")
    if content is not None:
        return FileKind(content, "The content says it.")
    if ending is not None and ending not in FORMATS:
        return FileKind(ending, "The ending of the name says it.")
    if guess_encoding([head]).name is None or _is_binary(head):
        raise no_table(name)
    return FileKind("csv", "It is text, in rows of cells.")


def kind_by_ending(name: Path) -> str | None:
    """The format that the ending of a name says, where it says one."""
    ending = (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()
    plugged = plugins.by_ending("reader", ending)
    kind = ENDINGS.get(ending, plugged[0] if len(plugged) == 1 else "")
    return kind.removesuffix(" lines") or None


def _by_content(path: Path, head: bytes, ending: str | None) -> str | None:
    """The format that the first bytes show beyond doubt; None for other text."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as archive:
            return "excel" if "xl/workbook.xml" in archive.namelist() else None
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:5]
    if begin.startswith(b"<?xml") or (begin.startswith(b"<") and ending == "xml"):
        return "xml"
    if begin.startswith((b"{", b"[")):
        text = head.decode("utf-8", errors="replace")
        return "json" if next(json_objects(text), None) is not None else None
    return None


def _is_binary(head: bytes) -> bool:
    """Whether there are more control characters than text has."""
    controls = (code for code in range(1, 32) if code not in (9, 10, 12, 13))
    found = sum(head.count(bytes([code])) for code in controls)
    return found > 0.01 * len(head) or head.startswith(_OTHERS)


def no_table(name: Path) -> BadData:
    """The error for a file of which no table can be read."""
    return BadData(
        f"{name} cannot be read as a table",
        code="unreadable-data",
        hint="give CSV, Excel (.xlsx), Parquet, JSON or XML; save an .xls or .ods file as .xlsx",
    )

"""What kind of table an uploaded file is, by its content and its name, and whether it is sane.

The content decides where it can: Parquet, Excel and packed files begin with marks of their own. For
texts the ending of the user's name counts, else the first characters do. Packed files are refused
when they would unpack to more than the limit: they are unpacked in pieces, and nothing is kept.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.web.refusals import Refusal, TooLarge

if TYPE_CHECKING:
    from pathlib import Path

MOST_PARTS = 10_000
"""Files in the archive that an Excel file is."""
MOST_RATIO = 300
"""An Excel file unpacks to at most so many times its size, or to SMALL bytes."""
SMALL = 64 * 1024**2
MOST_COLUMNS = 2_000
"""Columns of a table."""
HEAD = 64 * 1024
PIECE = 1024**2

_TEXT_ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "txt": "txt",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "ndjson",
    "xml": "xml",
}


class UnknownKind(Refusal):
    """The file is none that Shoal reads."""

    status = 415

    def __init__(self, what: str) -> None:
        hint = "upload CSV (also packed as .gz), Parquet, Excel (.xlsx), XML or JSON"
        super().__init__(what, code="unknown-file", hint=hint)


@dataclass(frozen=True)
class Kind:
    """What a file is for people, and the ending that our own name for it gets."""

    name: str
    ending: str


def kind_of(path: Path, label: str, most: int) -> Kind:
    """The kind of an uploaded file; refuses what is no table, too wide, or unpacks to too much."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise UnknownKind("the file is empty")
    if head.startswith(b"PAR1"):
        _check_parquet(path)
        return Kind("Parquet", "parquet")
    if head.startswith(b"PK\x03\x04"):
        _check_archive(path, most)
        return Kind("Excel", "xlsx")
    if head.startswith(b"\x1f\x8b"):
        inner = _check_gzip(path, most)
        text = _text_kind(inner, label.lower().removesuffix(".gz"))
        return Kind(f"{text.name}, packed", f"{text.ending}.gz")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnknownKind("the file is an Excel file of the format before 2007, or protected")
    if head.startswith((b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\x7fELF", b"MZ", b"BZh", b"Rar!")):
        raise UnknownKind("the file is no table")
    return _text_kind(head, label.lower())


def _text_kind(head: bytes, label: str) -> Kind:
    """The kind of a text: by its ending, else by its first character."""
    _check_text(head)
    _check_first_line(head)
    ending = _TEXT_ENDINGS.get(label.rpartition(".")[2] if "." in label else "")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if ending is None:
        ending = {b"{": "json", b"[": "json", b"<": "xml"}.get(start, "csv")
    names = {"json": "JSON", "jsonl": "JSON", "ndjson": "JSON", "xml": "XML"}
    return Kind(names.get(ending, "CSV"), ending)


def _check_text(head: bytes) -> None:
    """Refuse what is no text: zeros, but for those of UTF-16, and many control characters."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    odd = sum(head.count(bytes([byte])) for byte in (*range(9), *range(14, 32)))
    zeros = head.count(0)
    if zeros > len(head) * 0.3 and odd - zeros < len(head) * 0.01:
        return
    if zeros or odd > len(head) * 0.01:
        raise UnknownKind("the file is no table: it holds bytes that no text has")


def _check_first_line(head: bytes) -> None:
    first = re.split(rb"[\r\n]", head, maxsplit=1)[0]
    widest = max(first.count(mark) for mark in (b",", b";", b"\t", b"|"))
    if widest >= MOST_COLUMNS:
        raise too_wide(widest + 1)


def _check_parquet(path: Path) -> None:
    """Refuse a Parquet file whose end is missing, or that has too many columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = pq.ParquetFile(path).metadata.num_columns
    except (pa.ArrowException, OSError, struct.error):
        raise UnknownKind("the file begins like Parquet, but is not whole") from None
    if columns > MOST_COLUMNS:
        raise too_wide(columns)


def _check_archive(path: Path, most: int) -> None:
    """Refuse an archive that is no Excel workbook, or that unpacks to much more than it is.

    Sizes are those that the archive states. A reader stops at the stated size of each part.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise UnknownKind("the file is an archive that is not whole") from None
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or not any(n.startswith("xl/") for n in names):
        raise UnknownKind("the file is an archive, but no Excel workbook")
    if any(part.flag_bits & 1 for part in parts):
        raise UnknownKind("the workbook is protected by a password")
    unpacked = sum(part.file_size for part in parts)
    allowed = min(most, max(SMALL, MOST_RATIO * path.stat().st_size))
    if len(parts) > MOST_PARTS or unpacked > allowed:
        raise unpacks_to_too_much()


def _check_gzip(path: Path, most: int) -> bytes:
    """The first bytes of what is packed; refuses what unpacks to more than the limit."""
    head, total = b"", 0
    unpacker = zlib.decompressobj(wbits=31)
    try:
        with path.open("rb") as file:
            pending = file.read(PIECE)
            while pending:
                piece = unpacker.decompress(pending, PIECE)
                total += len(piece)
                if len(head) < HEAD:
                    head += piece[: HEAD - len(head)]
                if total > most:
                    raise unpacks_to_too_much()
                pending = unpacker.unconsumed_tail
                if unpacker.eof and unpacker.unused_data:
                    pending, unpacker = unpacker.unused_data, zlib.decompressobj(wbits=31)
                pending = pending or file.read(PIECE)
    except zlib.error:
        raise UnknownKind("the packed file is broken") from None
    if not unpacker.eof:
        raise UnknownKind("the packed file is not whole")
    if not head:
        raise UnknownKind("the packed file is empty")
    return head


def too_wide(columns: int) -> Refusal:
    """A table with too many columns."""
    return TooLarge(
        f"the table has {columns:,} columns, and at most {MOST_COLUMNS:,} are allowed",
        "leave out the columns that nobody needs, and upload again",
    )


def unpacks_to_too_much() -> Refusal:
    """A packed file that would take too much room."""
    return TooLarge(
        "the file would unpack to more than the server allows",
        "upload fewer records or columns, or ask the administrator for a higher limit",
    )

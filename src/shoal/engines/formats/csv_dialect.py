"""How a CSV file is written: encoding, delimiter, quote and header, found in its first rows.

What the user states is never guessed. The guess is kept simple: it must not change because a
row further down is broken, since that row must be reported.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from shoal.errors import BadData

if TYPE_CHECKING:
    from _csv import Reader

    from shoal.engines.base import FileOptions

SAMPLE = 1 << 17
"""How many bytes are read to find the dialect."""

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""What stands in a sample for bytes that the encoding does not know."""

_DELIMITERS = (",", ";", "\t", "|")
_NUMBER_OR_DATE = re.compile(r"[-+]?[0-9][0-9.,:/eE+\-T ]*%?")


@dataclass(frozen=True)
class Dialect:
    """How to read a CSV file, and the names of its columns."""

    encoding: str
    delimiter: str
    quote: str
    header: bool
    names: tuple[str, ...]


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if its name ends in .gz or .zst."""
    return cast("BinaryIO", io.BufferedReader(pa.input_stream(str(path), compression="detect")))


def sniff(path: Path, options: FileOptions, expect: Collection[str]) -> Dialect:
    """The dialect of a file; a name of `expect` in the first row means that it is a header."""
    with open_bytes(path) as file:
        head = file.read(SAMPLE + 1)
    encoding = _encoding(path, head, options.encoding)
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head[:SAMPLE])
    except UnicodeError:
        raise not_decoded(path, encoding, 1) from None
    if len(head) > SAMPLE:
        text = _whole_lines(text)
    quote = _single("quote", options.quote) if options.quote is not None else _quote(text)
    delimiter = (
        _single("delimiter", options.delimiter.replace("\\t", "\t"))
        if options.delimiter is not None
        else _delimiter(text, quote)
    )
    rows = [row for row in _rows(text, delimiter, quote) if row]
    if not rows:
        raise BadData(
            f"{path} is empty",
            code="empty-file",
            hint="see that it is the right file; a table needs a first row with column names",
        )
    header = options.header if options.header is not None else _has_header(rows, expect)
    names = rows[0] if header else [f"column{i + 1}" for i in range(len(rows[0]))]
    if any(REPLACED in name for name in names) and REPLACED.encode() not in head:
        raise not_decoded(path, encoding, 1)
    return Dialect(encoding, delimiter, quote, header, tuple(names))


def _encoding(path: Path, head: bytes, stated: str | None) -> str:
    """The stated encoding, UTF-16 by its mark, else UTF-8 (with or without a mark)."""
    if stated is None:
        marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return "utf-16" if marked else "utf-8-sig"
    try:
        name = codecs.lookup(stated).name
    except LookupError:
        raise BadData(
            f"no encoding is called {stated!r} ({path})",
            code="unknown-encoding",
            hint="common ones are utf-8, utf-16, latin-1 and windows-1252",
        ) from None
    return "utf-8-sig" if name in ("utf-8", "ascii") else name


def not_decoded(path: Path, encoding: str, line: int) -> BadData:
    """The error for bytes that the encoding does not know."""
    shown = "utf-8" if encoding == "utf-8-sig" else encoding
    return BadData(
        f"{path}, line {line}: bytes that are not {shown}",
        code="bad-encoding",
        hint=f"state the encoding: source: {{path: {path}, encoding: latin-1}} in a definition, "
        "--encoding latin-1 on the command line",
    )


def _whole_lines(text: str) -> str:
    """Without the last line, which the end of the sample may have cut."""
    end = max(text.rfind("\n"), text.rfind("\r"))
    return text[: end + 1] if end >= 0 else text


def _single(what: str, character: str) -> str:
    """A delimiter or quote must be one character; a file may have no quote at all."""
    if len(character) == 1 or (what == "quote" and not character):
        return character
    raise BadData(
        f"the {what} {character!r} is not a single character",
        code=f"bad-{what}",
        hint=f"give one character, such as {what}: " + ("';'" if what == "delimiter" else "'\"'"),
    )


def _quote(text: str) -> str:
    """The double quote, also where the sample has none: a later row may have one.

    The single quote only where every field of the first line is in single quotes.
    """
    first = next((line for line in text.splitlines() if line), "")
    if '"' not in text and re.fullmatch(r"'[^']*'([,;\t|]'[^']*')*", first):
        return "'"
    return '"'


def _delimiter(text: str, quote: str) -> str:
    """The delimiter that splits the first row and leaves most rows as wide as the first."""

    def fit(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in _rows(text, delimiter, quote) if row]
        if not widths or widths[0] == 1:
            return (0.0, 0)
        return (widths.count(widths[0]) / len(widths), widths[0])

    return max(_DELIMITERS, key=fit)


def _rows(text: str, delimiter: str, quote: str) -> list[list[str]]:
    """The rows of the sample, as far as they can be read with this delimiter."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        rows.extend(reader(io.StringIO(text, newline=""), delimiter, quote, strict=False))
    return rows


def reader(lines: io.TextIOBase, delimiter: str, quote: str, *, strict: bool) -> Reader:
    """Python's CSV reader for a dialect; quotes inside are doubled."""
    if not quote:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=strict)
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=strict)


def _has_header(rows: list[list[str]], expect: Collection[str]) -> bool:
    """Whether the first row names the columns.

    It does if an expected name stands there. A number or a date is no name. Else it does if a
    column has numbers below, or if its cells could all be names: distinct and not empty.
    """
    first, below = rows[0], rows[1:]
    if set(first) & set(expect):
        return True
    if any(_NUMBER_OR_DATE.fullmatch(cell.strip()) for cell in first):
        return False
    columns = ([row[i] for row in below if i < len(row) and row[i]] for i in range(len(first)))
    if any(cells and all(map(_NUMBER_OR_DATE.fullmatch, cells)) for cells in columns):
        return True
    return len(set(first)) == len(first) and all(first)

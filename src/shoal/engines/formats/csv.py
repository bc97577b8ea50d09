"""CSV files in plain Python: how a file is written, and its rows where DuckDB cannot be trusted.

The dialect (encoding, delimiter, quote and header) is found in the first rows. What the user states
is never guessed. The guess is kept simple: it must not change because a row further down is broken,
since that row must be reported.

DuckDB reads fast what is regular: UTF-8 with one kind of line end. Where line ends are mixed it may
lose rows silently, so such a file, or one in another encoding, is first rewritten in a
private folder. Where DuckDB refuses a file, reading the rows here finds the broken line.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from shoal.errors import BadData

if TYPE_CHECKING:
    from _csv import Reader

    from shoal.engines.options import FileOptions


SAMPLE = 1 << 17
"""How many bytes are read to find the dialect."""

REPLACED = "\N{REPLACEMENT CHARACTER}"
"""What replaces bytes of a sample that the encoding does not know."""

_DELIMITERS = (",", ";", "\t", "|")
_NUMBER_OR_DATE = re.compile(r"[-+]?[0-9][0-9.,:/eE+\-T ]*%?")


@dataclass(frozen=True)
class Dialect:
    """How to read a CSV file, and the names of its columns; `above` rows precede the header."""

    encoding: str
    delimiter: str
    quote: str
    header: bool
    names: tuple[str, ...]
    above: int = 0


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
        text = whole_lines(text)
    above = rows_above(options.header)
    quote = _single("quote", options.quote) if options.quote is not None else quote_in(text, above)
    delimiter = (
        _single("delimiter", options.delimiter.replace("\\t", "\t"))
        if options.delimiter is not None
        else delimiter_in(text, quote, above)
    )
    rows = rows_in(text, delimiter, quote)
    if above and not any(cell.strip() for row in rows[above : above + 1] for cell in row):
        raise no_header_row(path, above + 1)
    rows = [row for row in rows[above:] if row]
    if not rows:
        raise BadData(
            f"{path} is empty",
            code="empty-file",
            hint="check that it is the right file; a table needs a first row with column names",
        )
    header = bool(above) or options.header
    if header is None:
        header = has_header(rows, expect)
    names = rows[0] if header else [f"column{i + 1}" for i in range(len(rows[0]))]
    if any(REPLACED in name for name in names) and REPLACED.encode() not in head:
        raise not_decoded(path, encoding, 1)
    return Dialect(encoding, delimiter, quote, bool(header), tuple(names), above)


def rows_above(header: bool | int | None) -> int:
    """How many rows are above the one with the names, for a `header` of options."""
    return 0 if header is None else max(0, int(header) - 1)


def no_header_row(path: Path, row: int) -> BadData:
    """The error for a header row that is not there, or has nothing in it."""
    return BadData(
        f"{path} has no names in row {row}",
        code="no-header-row",
        hint="state the row that has the names of the columns: header: 3; empty rows count too",
    )


def _encoding(path: Path, head: bytes, stated: str | None) -> str:
    """The stated encoding, UTF-16 by its mark, else UTF-8 (with or without a mark)."""
    if stated is None:
        marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return "utf-16" if marked else "utf-8-sig"
    name = checked_encoding(path, stated)
    return "utf-8-sig" if name in ("utf-8", "ascii") else name


def checked_encoding(path: Path, stated: str) -> str:
    """The usual name of a stated encoding; an error for one that is not known or is of no text."""
    try:
        "".encode(stated)
        return codecs.lookup(stated).name
    except (LookupError, ValueError):
        raise BadData(
            f"no encoding is called {stated!r} ({path})",
            code="unknown-encoding",
            hint="common ones are utf-8, utf-16, latin-1 and windows-1252",
        ) from None


def not_decoded(path: Path, encoding: str, line: int) -> BadData:
    """The error for bytes that the encoding does not know."""
    shown = "utf-8" if encoding == "utf-8-sig" else encoding
    return BadData(
        f"{path}, line {line}: bytes that are not {shown}",
        code="bad-encoding",
        hint=f"state the encoding: source: {{path: {path}, encoding: latin-1}} in a definition, "
        "--encoding latin-1 on the command line",
    )


def whole_lines(text: str) -> str:
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


def quote_in(text: str, above: int = 0) -> str:
    """The double quote, also where the sample has none: a later row may have one.

    The single quote only where every field of the first line is in single quotes.
    """
    first = next((line for line in text.splitlines()[above:] if line), "")
    if '"' not in text and re.fullmatch(r"'[^']*'([,;\t|]'[^']*')*", first):
        return "'"
    return '"'


def delimiter_in(text: str, quote: str, above: int = 0) -> str:
    """The delimiter that splits the first row and leaves most rows as wide as the first."""

    def fit(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in rows_in(text, delimiter, quote)[above:] if row]
        if not widths or widths[0] == 1:
            return (0.0, 0)
        return (widths.count(widths[0]) / len(widths), widths[0])

    return max(_DELIMITERS, key=fit)


def rows_in(text: str, delimiter: str, quote: str) -> list[list[str]]:
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


def has_header(rows: list[list[str]], expect: Collection[str]) -> bool:
    """Whether the first row names the columns.

    It does if it has an expected name. A number or a date is no name. Else it does if a
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


def regular_line_end(path: Path, dialect: Dialect) -> str | None:
    """The line end of a file DuckDB can be trusted with: UTF-8, nothing above, one line end.

    There is no blank first line, and no row above the header.

    All line ends are alike when there is no carriage return, or when carriage returns, line feeds
    and pairs of both are equally many. None for any other file.
    """
    if dialect.encoding != "utf-8-sig" or dialect.above:
        return None
    returns = feeds = pairs = 0
    last = b""
    with open_bytes(path) as file:
        while block := file.read(1 << 20):
            if not last and block.removeprefix(codecs.BOM_UTF8)[:1] in (b"\r", b"\n"):
                return None
            returns += block.count(b"\r")
            feeds += block.count(b"\n")
            pairs += (last + block).count(b"\r\n")
            last = block[-1:]
    if returns == 0:
        return "\n"
    return "\r\n" if returns == feeds == pairs else None


def read_csv_options(dialect: Dialect, line_end: str) -> dict[str, str]:
    """The dialect in the words of DuckDB's `read_csv`."""
    return {
        "header": str(dialect.header).lower(),
        "delim": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.quote,
        "new_line": line_end.replace("\r", "\\r").replace("\n", "\\n"),
    }


def rows(path: Path, dialect: Dialect) -> Iterator[list[str]]:
    """Every row below the header; an error with the line number where the file is broken.

    As DuckDB does, it skips blank lines unless they are the records of a single column, and lets a
    row end with one delimiter too many. Rows above the header may have any form.
    """
    width = len(dialect.names)
    with open_bytes(path) as file:
        text = io.TextIOWrapper(file, encoding=dialect.encoding, newline="")
        titles = reader(text, dialect.delimiter, dialect.quote, strict=False)
        lines = reader(text, dialect.delimiter, dialect.quote, strict=True)
        header_seen = not dialect.header
        try:
            deque(islice(titles, dialect.above), maxlen=0)
            for row in lines:
                if not row and (width > 1 or not header_seen):
                    continue
                if len(row) == width + 1 and not row[-1]:
                    row.pop()
                if len(row) != width and row:
                    raise _ragged(path, titles.line_num + lines.line_num, len(row), width)
                if header_seen:
                    yield row or [""]
                header_seen = True
        except UnicodeError:
            raise not_decoded(
                path, dialect.encoding, _broken_line(path, dialect.encoding)
            ) from None
        except csv.Error as error:
            raise _not_parsed(path, titles.line_num + lines.line_num, error) from None


def tidy(path: Path, dialect: Dialect, to: Path) -> Dialect:
    """Rewrite a file as regular UTF-8 CSV, without its header; returns the new dialect."""
    with to.open("x", encoding="utf-8", newline="") as file:
        to.chmod(0o600)
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows(path, dialect))
    return Dialect("utf-8-sig", ",", '"', False, dialect.names)


def fault(path: Path, dialect: Dialect) -> BadData | None:
    """What is wrong with a file, None if Python finds nothing."""
    try:
        for _ in rows(path, dialect):
            pass
    except BadData as error:
        return error
    return None


def _ragged(path: Path, line: int, found: int, width: int) -> BadData:
    fields = "1 field" if found == 1 else f"{found} fields"
    columns = "1 column" if width == 1 else f"{width} columns"
    return BadData(
        f"{path}, line {line}: {fields} where the table has {columns}",
        code="ragged-row",
        hint="correct the row, or state the delimiter and the quote:"
        f" source: {{path: {path}, delimiter: ';', quote: '\"'}}",
    )


def _not_parsed(path: Path, line: int, error: csv.Error) -> BadData:
    if "field limit" in str(error):
        what = f"a value is longer than {csv.field_size_limit()} characters"
    elif "end of data" in str(error):
        what = "a quote is opened and never closed before the end of the file"
    else:
        what = "a quote is inside a quoted value and is not doubled"
    return BadData(
        f"{path}, line {line}: {what}",
        code="bad-quote",
        hint=f"correct it; or, if quotes mean nothing here: source: {{path: {path}, quote: ''}}",
    )


def _broken_line(path: Path, encoding: str) -> int:
    """The line with the first bytes that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, block = 1, b"-"
    with open_bytes(path) as file:
        while block:
            block = file.read(1 << 16)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                before = bytes(error.object[: error.start])
                plain = "utf-8" if encoding == "utf-8-sig" else encoding
                return line + before.decode(plain, errors="replace").count("\n")
            line += text.count("\n")
    return line

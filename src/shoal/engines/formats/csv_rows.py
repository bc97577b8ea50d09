"""The rows of a CSV file in plain Python: to say where a file is broken, or to tidy one.

DuckDB reads fast what is regular: UTF-8 with one kind of line end. Where line ends are mixed it may
lose rows silently, so such a file, or one in another encoding, is first rewritten in a
private folder. Where DuckDB refuses a file, reading the rows here finds the broken line.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from shoal.engines.formats.csv_dialect import Dialect, not_decoded, open_bytes, reader
from shoal.errors import BadData


def regular_line_end(path: Path, dialect: Dialect) -> str | None:
    """The line end of a file DuckDB can be trusted with: UTF-8, no blank first line, one line end.

    All line ends are alike when there is no carriage return, or when carriage returns, line feeds
    and pairs of both are equally many. None for any other file.
    """
    if dialect.encoding != "utf-8-sig":
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


def rows(path: Path, dialect: Dialect) -> Iterator[list[str]]:
    """Every row below the header; an error with the line number where the file is broken.

    As DuckDB does, it skips blank lines unless they are the records of a single column, and lets a
    row end with one delimiter too many.
    """
    width = len(dialect.names)
    with open_bytes(path) as file:
        text = io.TextIOWrapper(file, encoding=dialect.encoding, newline="")
        lines = reader(text, dialect.delimiter, dialect.quote, strict=True)
        header_seen = not dialect.header
        try:
            for row in lines:
                if not row and (width > 1 or not header_seen):
                    continue
                if len(row) == width + 1 and not row[-1]:
                    row.pop()
                if len(row) != width and row:
                    raise _ragged(path, lines.line_num, len(row), width)
                if header_seen:
                    yield row or [""]
                header_seen = True
        except UnicodeError:
            raise not_decoded(
                path, dialect.encoding, _broken_line(path, dialect.encoding)
            ) from None
        except csv.Error as error:
            raise _not_parsed(path, lines.line_num, error) from None


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
        hint="mend the row, or state the delimiter and the quote:"
        f" source: {{path: {path}, delimiter: ';', quote: '\"'}}",
    )


def _not_parsed(path: Path, line: int, error: csv.Error) -> BadData:
    if "field limit" in str(error):
        what = f"a value is longer than {csv.field_size_limit()} characters"
    elif "end of data" in str(error):
        what = "a quote is opened and never closed before the end of the file"
    else:
        what = "a quote stands inside a quoted value and is not doubled"
    return BadData(
        f"{path}, line {line}: {what}",
        code="bad-quote",
        hint=f"mend the row; or, if quotes mean nothing here: source: {{path: {path}, quote: ''}}",
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

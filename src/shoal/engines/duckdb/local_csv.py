"""CSV as programs of other countries expect it: decimal commas, and another encoding.

With a decimal comma every cell that is a number with a point is written with a comma, and read back
with a point: nothing else is changed, so what is read is what was released. A cell that is a number
with a comma already would come back as another text, so it stops the query.
"""

from __future__ import annotations

import codecs
from pathlib import Path

import pyarrow as pa

from shoal.engines.duckdb.session import WITH_COMMA, literal
from shoal.errors import BadOutput

_EXPONENT = "([eE][+-]?[0-9]+)?"
_POINTED = literal(rf"[+-]?([0-9]+\.[0-9]*|\.[0-9]+){_EXPONENT}")
_COMMAED = literal(rf"[+-]?([0-9]+,[0-9]*|,[0-9]+){_EXPONENT}")
_BLOCK = 1 << 20


def with_comma(text: str) -> str:
    """SQL for a text as it is written with decimal commas."""
    return (
        f"CASE WHEN regexp_full_match({text}, {_POINTED}) THEN replace({text}, '.', ',')"
        f" WHEN regexp_full_match({text}, {_COMMAED}) THEN error({literal(WITH_COMMA)})"
        f" ELSE {text} END"
    )


def without_comma(text: str) -> str:
    """SQL for a text as it was before it was written with decimal commas."""
    is_number = f"regexp_full_match({text}, {_COMMAED})"
    return f"CASE WHEN {is_number} THEN replace({text}, ',', '.') ELSE {text} END"


def encode(written: Path, to: Path, encoding: str, packing: str) -> None:
    """Copy a file from UTF-8 to another encoding; both are packed alike.

    A character that the encoding does not have is BadOutput, which says where it would be.
    """
    compression = None if packing == "none" else packing
    decoder = codecs.getincrementaldecoder("utf-8")()
    encoder = codecs.getincrementalencoder(encoding)()
    line, block = 1, b"-"
    with (
        pa.input_stream(str(written), compression=compression) as source,
        pa.output_stream(str(to), compression=compression) as target,
    ):
        while block:
            block = source.read(_BLOCK)
            text = decoder.decode(block, final=not block)
            try:
                target.write(encoder.encode(text, final=not block))
            except UnicodeError as error:
                start = error.start if isinstance(error, UnicodeEncodeError) else 0
                raise _not_encoded(encoding, line + text.count("\n", 0, start)) from None
            line += text.count("\n")


def _not_encoded(encoding: str, line: int) -> BadOutput:
    return BadOutput(
        f"the encoding {encoding} does not have a character that line {line:,} of the release has",
        code="not-in-encoding",
        hint="write `encoding: utf-8-sig`, which spreadsheets know and which has all characters",
    )

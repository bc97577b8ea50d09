"""The encoding of a text file, guessed from samples of its bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

ALTERNATIVES = ("utf-8", "cp1252", "latin-1", "utf-16", "cp850", "mac-roman", "cp1250", "cp1251")
"""Encodings that people may choose instead."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OLD = ("cp1252", "cp850", "mac-roman")
"""Encodings of one byte in which Western European files are written, the usual one first."""
_LETTERS = re.compile("[äöüÄÖÜßéèêëàâáãçñíìîïóòôõúùûøåæœÉÈÀÇÑØÅÆ€]")
_ODD = re.compile(
    "[\x80-\x9f\u0081¤¦§¨©ª«¬®¯±²³´¶¸¹»¼½¾×÷ŸŽžŠš†‡•…‰‹›¡¢£¥º√∂∑∏π∫Ω≈∆◊▒▓│┤╣║╗╝┐└┴┬├─┼╚╔╩╦╠═╬]"
)


@dataclass(frozen=True)
class Encoding:
    """An encoding, and why it is that; None where the bytes are no text."""

    name: str | None
    reason: str


def guess_encoding(samples: Sequence[bytes]) -> Encoding:
    """The encoding of samples, of which the first is the beginning of the file.

    Bytes that are valid UTF-8 are that: other encodings hardly ever look so by chance.
    """
    head = samples[0] if samples else b""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, "The file begins with the mark of this encoding.")
    if wide := _without_mark(head):
        return Encoding(wide, "Every other byte is zero.")
    if b"\0" in head:
        return Encoding(None, "The file has zero bytes, which text has not.")
    if all(_is_utf8(sample, first=i == 0) for i, sample in enumerate(samples)):
        return Encoding("utf-8", "All bytes that were looked at are valid in it.")
    best = max(_OLD, key=lambda name: _fit(samples, name))
    if best == "cp1252" and not _decodes(samples, best):
        return Encoding("latin-1", "The bytes are no UTF-8, and some are not in cp1252.")
    return Encoding(best, "The bytes are no UTF-8, and its letters fit best.")


def _without_mark(head: bytes) -> str | None:
    """UTF-16 without a mark: nearly every other byte of Western text is zero."""
    sample = head[:4096]
    half = len(sample) // 2
    if half < 4:
        return None
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    if zeros[1] > 0.8 * half and zeros[0] < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > 0.8 * half and zeros[1] < 0.1 * half else None


def _is_utf8(sample: bytes, *, first: bool) -> bool:
    """Whether a sample is UTF-8; a character may be cut at its end, and at the beginning too."""
    start = 0
    while not first and start < min(3, len(sample)) and sample[start] & 0xC0 == 0x80:
        start += 1
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample[start:])
    except UnicodeDecodeError:
        return False
    return True


def _decodes(samples: Sequence[bytes], name: str) -> bool:
    try:
        for sample in samples:
            sample.decode(name)
    except UnicodeDecodeError:
        return False
    return True


def _fit(samples: Sequence[bytes], name: str) -> int:
    """Letters of Western European languages less characters that hardly occur in data."""
    text = "".join(sample.decode(name, errors="replace") for sample in samples)
    return len(_LETTERS.findall(text)) - 2 * len(_ODD.findall(text)) - 2 * text.count("\ufffd")

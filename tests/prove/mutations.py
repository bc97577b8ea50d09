"""Bytes flipped, cut, repeated and mixed, and the kept files that mutations begin with.

The files of `corpus/` are small. Each has a shape that the others do not have, or once found
something.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

CORPUS = Path(__file__).parent / "corpus"

ODD = (
    *(b"\0", b"\xff", b"\xed\xa0\x80", b'"', b"'", b"\n", b"\r", b",", b";", b"{", b"]", b": "),
    *(b"&a", b"*a", b"<", b"]]>", b"<!--", b"&amp;", b"&#0;", b"<!DOCTYPE x>", b"1e999", b"-1"),
    *(b"null", b"!!python/x", b"\xef\xbb\xbf", b"\xff\xfe", b"\xf0\x9f\x90\x9f", b"NaN", b"*"),
    *(b"- ", b"\t", b"(", b")", b"`", b"..", b"%", b"9" * 40, b"=1+1"),
)
"""What readers stumble over: ends of lines and quotes, marks of formats, odd numbers."""

WORDS = (*ODD, b"true", b"[]", b"{}", b"7", b"", b"0.5")


def kept(kind: str) -> list[Path]:
    """The kept files of a kind, in an order that is always the same."""
    return sorted((CORPUS / kind).iterdir())


def changed(rng: Random, data: bytes) -> bytes:
    """The bytes with one change, or a few."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = _once(rng, data)
    return data


def _once(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.choice([1, 2, 10, 100]))
    way = rng.choice(["flip", "cut", "end", "insert", "repeat", "word", "move", "many"])
    if way == "flip" and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if way == "cut":
        return data[:at] + data[to:]
    if way == "end":
        return data[:at]
    if way == "repeat":
        return data[:to] + data[at:]
    if way == "many":
        return data[:at] + data[at:to] * rng.choice([20, 300]) + data[to:]
    if way == "move":
        rest = data[:at] + data[to:]
        there = rng.randrange(len(rest) + 1)
        return rest[:there] + data[at:to] + rest[there:]
    if way == "word":
        words = data.split(b" ")
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        return b" ".join(words)
    return data[:at] + rng.choice(ODD) + data[at:]

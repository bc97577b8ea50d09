"""The chain of a log: its entries, how they are spelled, and what is wrong with a chain.

All of it works on bytes that were read, so that the same code judges a log that is read, checked
or appended to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

MOST_FAULTS = 20
"""So many faults are listed; one is enough to refuse."""


@dataclass(frozen=True)
class Entry:
    """One request and what became of it: `released`, `refused` or `failed`.

    `request` is what was asked for, as the asker wrote it. `recipe` says how a release was made
    (see recipe.py), `result` its counts, `sources` the fingerprints of what was read. A refusal has
    a `code` and a `reason`. Times are for people: the order is that of the numbers.
    """

    number: int
    time: str
    asker: str | None
    kind: str
    request: Mapping[str, Any] | None
    code: str | None
    reason: str | None
    recipe: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    sources: Mapping[str, str | None] | None
    output_sha256: str | None
    previous: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the line has them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True)
class Head:
    """The number and the digest of the last entry; 0 and no digest for an empty log."""

    number: int = 0
    digest: str = ""

    def text(self) -> bytes:
        """The content of the head file."""
        return canonical({"digest": self.digest, "number": self.number}) + b"\n"


@dataclass(frozen=True)
class Fault:
    """What is wrong, and at which line of the log; None for what concerns the whole."""

    entry: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.entry is None else f"entry {self.entry}: {self.what}"


@dataclass(frozen=True)
class Chain:
    """What was read: the entries of all whole lines that are entries, and what is wrong.

    `size` is the number of bytes of the whole lines, `unfinished` what stands after them, and
    `stored_head` what the head file says.
    """

    entries: tuple[Entry, ...]
    size: int
    unfinished: bytes = b""
    stored_head: Head | None = None
    faults: tuple[Fault, ...] = field(default=())

    @property
    def head(self) -> Head:
        """The head that fits the entries."""
        return Head(self.entries[-1].number, self.entries[-1].digest) if self.entries else Head()

    def extended(self, line: bytes) -> Chain:
        """The chain with one line more, once line and head are written."""
        entries = (*self.entries, _parsed(line))
        chain = replace(self, entries=entries, size=self.size + len(line) + 1, unfinished=b"")
        return replace(chain, stored_head=chain.head)


def canonical(content: Mapping[str, Any]) -> bytes:
    """The one spelling of an entry: sorted keys, no spaces, UTF-8.

    Half a surrogate pair, which UTF-8 cannot spell, becomes a question mark.
    """
    text = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text.encode("utf-8", "replace")


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON of an entry without its digest."""
    return hashlib.sha256(canonical(content)).hexdigest()


def read_chain(log: bytes, head: bytes | None) -> Chain:
    """The chain in the bytes of a log and of its head file, None where there is no head."""
    *lines, unfinished = log.split(b"\n")
    entries: list[Entry] = []
    faults: list[Fault] = []
    previous: str | None = ""
    for number, line in enumerate(lines, 1):
        try:
            entry = _parsed(line)
        except ValueError as error:
            faults.append(Fault(number, str(error)))
            previous = None
            continue
        faults += _misplaced(entry, number, previous)
        previous = entry.digest
        entries.append(entry)
    chain = Chain(tuple(entries), len(log) - len(unfinished), unfinished)
    stored, wrong = _head(head, chain, bool(faults))
    return replace(chain, stored_head=stored, faults=tuple([*faults, *wrong][:MOST_FAULTS]))


def _parsed(line: bytes) -> Entry:
    """The entry of a line; ValueError says what is wrong with the line by itself."""
    try:
        content = json.loads(line)
        entry = Entry(**content)
        whole = canonical(content) == line
    except (ValueError, TypeError, RecursionError):
        raise ValueError("it is no entry of a log") from None
    del content["digest"]
    if not whole or digest_of(content) != entry.digest:
        raise ValueError("its content is not what its digest says: it was changed")
    return entry


def _misplaced(entry: Entry, number: int, previous: str | None) -> list[Fault]:
    """What is wrong with the place of an entry; `previous` is None after a line that is none."""
    if entry.number != number:
        what = f"it has the number {entry.number}: entries were removed, repeated or moved"
        return [Fault(number, what)]
    if previous is not None and entry.previous != previous:
        what = "it does not follow the entry before it: one of the two was exchanged"
        return [Fault(number, what)]
    return []


def _head(head: bytes | None, chain: Chain, broken: bool) -> tuple[Head | None, list[Fault]]:
    """What the head file says, and what is wrong between it and the entries.

    It may be behind by one entry, where an append crashed before it replaced the head. Where the
    entries are broken already, the head says nothing more.
    """
    if head is None:
        lost = [Fault(None, "its head file is gone, so it may have been cut")]
        return None, lost if chain.entries or chain.unfinished else []
    try:
        stored = Head(**json.loads(head))
        whole = stored.text() == head and type(stored.number) is int and stored.number >= 0
    except (ValueError, TypeError, RecursionError):
        whole = False
    if not whole:
        return None, [Fault(None, "its head file is damaged")]
    if broken:
        return stored, []
    return stored, _cut(stored, chain)


def _cut(stored: Head, chain: Chain) -> list[Fault]:
    """What is wrong between a head and a chain that is whole by itself."""
    last = len(chain.entries)
    if stored.number > last:
        there = f"it has {last} entries" if last else "it is gone or empty"
        return [Fault(None, f"{there}, but its head says {stored.number}: it was cut")]
    fitting = Head(stored.number, chain.entries[stored.number - 1].digest if stored.number else "")
    allowed = last if chain.unfinished else last - 1
    if stored != fitting or stored.number < allowed:
        what = f"its head is about entry {stored.number} and does not fit the {last} entries"
        return [Fault(None, what)]
    return []

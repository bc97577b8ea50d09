"""The log of a mart: every request, in a file that is only ever appended to.

Each line is an entry in canonical JSON. An entry has the digest of the entry before it
(`previous`) and its own (`digest`): SHA-256 over its canonical JSON without the digest. So a
changed, removed, repeated or moved entry breaks the chain. A log that was cut at its end is a whole
chain still; therefore a second file, `LOG.head`, has the number and the digest of the last entry.

**What a crash can leave.** Under the lock, an append writes the line without its end, flushes it,
writes the end of the line, flushes it, and then replaces the head in one step. So a crash leaves
one of two states beside the finished one, and the next append repairs both:

- bytes after the last end of a line, and a head that fits all whole lines: the entry was never
  finished, and is removed;
- one whole entry more than the head says: it is durable, so it stays, and the head is advanced.

Every other difference between the log and its head is damage. Nothing is released or appended
until somebody has restored the log. A person with write access to both files can make a new chain,
since it has no secret; the digests that askers kept show that (`check(contains=...)`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from shoal.errors import BadData, BadOutput, UserError
from shoal.mart.log_chain import Chain, Entry, Head, canonical, digest_of, read_chain
from shoal.mart.log_view import LogCheck

WAIT = 600.0
"""Seconds to wait for the lock of another process."""

CALLER_KEYS = (
    *("asker", "code", "kind", "output_sha256", "reason", "recipe", "request", "result"),
    "sources",
)
"""What a caller says of an entry; the log adds the other keys."""


class Log:
    """The log at a path. It is made by the first append.

    A link is followed, so that all who append by different names have one head.
    """

    def __init__(self, path: Path, *, wait: float = WAIT) -> None:
        self.path = path.resolve()
        self._wait = wait

    def append(self, entry: Mapping[str, Any]) -> str:
        """Append an entry and return its digest; it is on the disk then."""
        with self.locked() as held:
            return held.append(entry)

    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order; `broken-log` unless the whole log is as it was written."""
        return _checked(self.path, self._read()).entries

    def check(self, contains: Sequence[str] = ()) -> LogCheck:
        """What is wrong with the log, and which of these digests it does not have."""
        chain = self._read()
        known = {entry.digest for entry in chain.entries}
        lacking = tuple(digest for digest in contains if digest.strip().lower() not in known)
        last = chain.entries[-1].digest if chain.entries else ""
        return LogCheck(len(chain.entries), last, chain.faults, lacking, bool(chain.unfinished))

    def copy_to(self, path: Path) -> Log:
        """A copy of the log and its head, as they are while nobody appends."""
        with suppress(FileNotFoundError), self._opened(os.O_RDONLY, fcntl.LOCK_SH) as file:
            path.write_bytes(file.read())
        head = _read_head(self.path)
        if head is not None:
            head_path(path).write_bytes(head)
        return Log(path, wait=self._wait)

    @contextmanager
    def locked(self) -> Iterator[HeldLog]:
        """The log for this process alone, so that nobody appends between a look and an append.

        Append through the object that this gives: `Log.append` would wait for the same lock.
        """
        if not self.path.exists() and head_path(self.path).exists():
            _checked(self.path, self._read())
        with self._opened(os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as file:
            yield HeldLog(self.path, file)

    def _read(self) -> Chain:
        """The log as it is, read while nobody appends."""
        try:
            with self._opened(os.O_RDONLY, fcntl.LOCK_SH) as file:
                return read_chain(file.read(), _read_head(self.path))
        except FileNotFoundError:
            return read_chain(b"", _read_head(self.path))

    @contextmanager
    def _opened(self, flags: int, lock: int) -> Iterator[IO[bytes]]:
        """The file, open and locked. The lock ends when the file is closed, also by a crash."""
        deadline = time.monotonic() + self._wait
        while True:
            file = self._open(flags)
            try:
                _lock(file, lock, deadline, self.path)
                if _is_at(file, self.path):
                    yield file
                    return
            finally:
                file.close()

    def _open(self, flags: int) -> IO[bytes]:
        try:
            handle = os.open(self.path, flags | os.O_CLOEXEC, 0o600)
            return os.fdopen(handle, "rb" if flags == os.O_RDONLY else "r+b", buffering=0)
        except FileNotFoundError:
            if flags == os.O_RDONLY and self.path.parent.is_dir():
                raise
            raise _cannot_write(self.path, "its folder does not exist") from None
        except OSError as error:
            raise _cannot_write(self.path, error.strerror) from None


class HeldLog:
    """A log that was read, found whole, and that nobody else can append to meanwhile."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._chain = _checked(path, read_chain(file.read(), _read_head(path)))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order."""
        return self._chain.entries

    def append(self, entry: Mapping[str, Any]) -> str:
        """Append an entry and return its digest; it is on the disk then."""
        last = self._chain.head
        fields = {key: entry.get(key) for key in CALLER_KEYS} | {
            "number": last.number + 1,
            "previous": last.digest,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if unknown := entry.keys() - set(CALLER_KEYS):
            raise ValueError(f"an entry of the log has no {sorted(unknown)}")
        head = Head(last.number + 1, digest_of(fields))
        line = canonical({**fields, "digest": head.digest})
        try:
            self._repair()
            self._write(line)
            _write_head(self._path, head)
        except OSError as error:
            raise _cannot_write(self._path, error.strerror, error.errno) from None
        self._chain = self._chain.extended(line)
        return head.digest

    def _repair(self) -> None:
        """Finish, or undo, what a crashed append left; a new log gets its head first of all."""
        chain = self._chain
        if chain.unfinished:
            self._file.truncate(chain.size)
            os.fsync(self._file.fileno())
        if chain.stored_head != chain.head:
            _write_head(self._path, chain.head)

    def _write(self, line: bytes) -> None:
        """The end of the line is written when all before it is durable: it is the commit."""
        try:
            self._file.seek(self._chain.size)
            _write_all(self._file, line)
            os.fsync(self._file.fileno())
        except BaseException:
            with suppress(OSError):
                self._file.truncate(self._chain.size)
            raise
        _write_all(self._file, b"\n")
        os.fsync(self._file.fileno())


def head_path(path: Path) -> Path:
    """The file with the number and the digest of the last entry."""
    return path.with_name(f"{path.name}.head")


def _read_head(path: Path) -> bytes | None:
    try:
        return head_path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadData(
            f"{head_path(path)} cannot be read: {error.strerror}",
            code="broken-log",
            hint="make it readable, or restore the log and its head from a backup",
        ) from None


def _write_head(path: Path, head: Head) -> None:
    """Replace the head in one step. The lock is held, so one name for the new file is enough."""
    final = head_path(path)
    staged = final.with_name(f"{final.name}.new")
    handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(head.text())
        file.flush()
        os.fsync(file.fileno())
    staged.replace(final)
    folder = os.open(path.parent, os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_all(file: IO[bytes], data: bytes) -> None:
    """All bytes: an unbuffered write may take only a part of them."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _lock(file: IO[bytes], lock: int, deadline: float, path: Path) -> None:
    """Wait for the lock, and refuse at the deadline."""
    while True:
        try:
            fcntl.flock(file.fileno(), lock | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise UserError(
                    f"another request has held the log {path} for too long",
                    code="log-busy",
                    hint="ask again when the other request has ended",
                ) from None
            time.sleep(0.02)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the open file is the one at the path: it may have been replaced meanwhile."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _checked(path: Path, chain: Chain) -> Chain:
    """The chain, if nothing is wrong with it."""
    if chain.faults:
        raise BadData(
            f"the log {path} is not as it was written: {chain.faults[0]}",
            code="broken-log",
            hint="`shoal mart log CATALOG --check` lists all that is wrong; restore the log and its"
            " head from a backup; until then every request is refused",
        )
    return chain


def _cannot_write(path: Path, why: str | None, number: int | None = None) -> BadOutput:
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return BadOutput(
            f"the disk is full: the log {path} cannot be written",
            code="disk-full",
            hint="free some space there",
        )
    return BadOutput(
        f"the log {path} cannot be opened or written: {why}",
        code="cannot-write",
        hint="give a path in a folder that exists and is writable",
    )

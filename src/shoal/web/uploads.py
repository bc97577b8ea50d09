"""Uploads: the body of a request goes to a private file as it comes, and is counted meanwhile.

A file is written under a temporary name with access for the server alone. It gets its name when it
is complete and its kind is known; otherwise it is deleted. Names of files are made here. The user's
name for a file is kept as a label, and is never part of a path. Slow senders are refused by the
guard, before this.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.web.refusals import NotFound, Refusal, TooLarge, TooMany
from shoal.web.upload_kinds import kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.web.settings import Limits
    from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS uploads (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    file TEXT NOT NULL,
    label TEXT NOT NULL,
    kind TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created REAL NOT NULL
);
"""

AT_ONCE = 4
"""Uploads of one user at the same time."""
BLOCK = 1024**2
"""Bytes that are collected before they are written."""
SPARE = 256 * 1024**2
"""Bytes of the disk that no upload takes."""

_ID = re.compile(r"[0-9a-f]{32}")


class NoRoom(Refusal):
    """The disk of the server is full."""

    status = 507

    def __init__(self) -> None:
        super().__init__(
            "there is no room on the server for this file",
            code="disk-full",
            hint="delete projects that are done, or ask the administrator for room",
        )


@dataclass(frozen=True)
class Upload:
    """A file that was uploaded: our name for it, the user's label, and what it is."""

    id: str
    owner: str
    file: str
    label: str
    kind: str
    bytes: int
    created: float


class Uploads:
    """Receives files, and keeps those that belong to no project until they are used or old."""

    def __init__(self, store: Store, folder: Path, limits: Limits) -> None:
        store.define(SCHEMA)
        self._store = store
        self._limits = limits
        self._folder = folder / "uploads"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._running: Counter[str] = Counter()

    async def receive(
        self, body: AsyncIterator[bytes], *, owner: str, label: str, declared: int | None = None
    ) -> Upload:
        """Keep the body of a request as an upload of its own, found again by its id."""
        upload = await self.receive_into(
            self._folder, body, owner=owner, label=label, declared=declared
        )
        self._store.write(
            "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                upload.id,
                owner,
                upload.file,
                upload.label,
                upload.kind,
                upload.bytes,
                upload.created,
            ),
        )
        return upload

    async def receive_into(
        self,
        folder: Path,
        body: AsyncIterator[bytes],
        *,
        owner: str,
        label: str,
        declared: int | None = None,
    ) -> Upload:
        """Write the body of a request to a file of a folder, such as that of a project.

        `declared` is what the request says about its length: too much is refused before a byte is
        read. What fails leaves nothing behind.
        """
        self._check_room(folder, declared)
        with self._one_of_few(owner):
            upload_id = secrets.token_hex(16)
            part = folder / f".part-{upload_id}"
            try:
                size = await self._write(part, body)
                kind = await asyncio.to_thread(kind_of, part, label, self._limits.upload_bytes)
                file = f"data-{upload_id}.{kind.ending}"
                part.rename(folder / file)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise NoRoom from None
                raise
            finally:
                part.unlink(missing_ok=True)
        label = _with_packing(shown_label(label), file)
        return Upload(upload_id, owner, file, label, kind.name, size, time.time())

    def get(self, upload_id: str, owner: str) -> Upload:
        """An upload of the owner; the same error for unknown ids and those of others."""
        rows = self._store.read(
            "SELECT * FROM uploads WHERE id = ? AND owner = ?", (upload_id, owner)
        )
        if not _ID.fullmatch(upload_id) or not rows:
            raise NotFound("there is no such upload", "it may have been deleted; upload it again")
        return Upload(**dict(rows[0]))

    def of(self, owner: str) -> list[Upload]:
        """The uploads of a user that belong to no project, newest first."""
        rows = self._store.read(
            "SELECT * FROM uploads WHERE owner = ? ORDER BY created DESC", (owner,)
        )
        return [Upload(**dict(row)) for row in rows]

    def path(self, upload_id: str, owner: str) -> Path:
        """The file of an upload."""
        path = self._folder / self.get(upload_id, owner).file
        if not path.is_file():
            raise NotFound("there is no such upload", "it may have been deleted; upload it again")
        return path

    def delete(self, upload_id: str, owner: str) -> None:
        """Delete an upload and its file."""
        upload = self.get(upload_id, owner)
        (self._folder / upload.file).unlink(missing_ok=True)
        self._store.write("DELETE FROM uploads WHERE id = ? AND owner = ?", (upload_id, owner))

    def delete_old(self, seconds: float) -> int:
        """Delete uploads older than this, and parts of files that a killed server left; how many.

        Running uploads of this server are younger: they are given up long before.
        """
        limit = time.time() - seconds
        rows = self._store.read("SELECT id, owner FROM uploads WHERE created < ?", (limit,))
        for row in rows:
            self.delete(row["id"], row["owner"])
        known = {row["file"] for row in self._store.read("SELECT file FROM uploads")}
        for path in self._folder.iterdir():
            if path.name not in known and path.stat().st_mtime < limit:
                path.unlink(missing_ok=True)
        return len(rows)

    def _check_room(self, folder: Path, declared: int | None) -> None:
        most = self._limits.upload_bytes
        if declared is not None and declared > most:
            raise too_many_bytes(most)
        if shutil.disk_usage(folder).free < (declared or 0) + SPARE:
            raise NoRoom

    async def _write(self, path: Path, body: AsyncIterator[bytes]) -> int:
        """Write the body block by block; its number of bytes."""
        size, block = 0, bytearray()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            async for piece in body:
                size += len(piece)
                if size > self._limits.upload_bytes:
                    raise too_many_bytes(self._limits.upload_bytes)
                block += piece
                if len(block) >= BLOCK:
                    await asyncio.to_thread(_write_all, file.fileno(), bytes(block))
                    block.clear()
            await asyncio.to_thread(_write_all, file.fileno(), bytes(block))
        return size

    @contextmanager
    def _one_of_few(self, owner: str) -> Iterator[None]:
        if self._running[owner] >= AT_ONCE:
            raise TooMany(f"{AT_ONCE} uploads are running already", 30)
        self._running[owner] += 1
        try:
            yield
        finally:
            self._running[owner] -= 1


def shown_label(label: str) -> str:
    """The user's name for a file, to be shown: its last part, one line, not too long."""
    last = label.replace("\\", "/").rpartition("/")[2]
    return "".join(each for each in last if each.isprintable()).strip()[:200] or "data"


def _with_packing(label: str, file: str) -> str:
    """The label with the ending .gz just where the file is packed: readers go by the name."""
    plain = label[:-3] if label.lower().endswith(".gz") else label
    return f"{plain}.gz" if file.endswith(".gz") else plain or "data"


def too_many_bytes(most: int) -> TooLarge:
    """A file that is larger than the server takes."""
    return TooLarge(
        f"the file is larger than the {most / 1024**2:,.0f} MiB that this server takes",
        "pack it as .gz or as Parquet, leave out columns, or ask the administrator",
    )


def _write_all(descriptor: int, block: bytes) -> None:
    left = memoryview(block)
    while left:
        left = left[os.write(descriptor, left) :]

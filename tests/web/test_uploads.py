"""Uploads: written as they come, counted meanwhile, nothing half-written, no path of a client."""

from __future__ import annotations

import asyncio
import errno
import gzip
import io
import os
import zipfile
from collections.abc import AsyncIterator, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.errors import ShoalError
from shoal.web import uploads as module
from shoal.web.refusals import NotFound, Refusal, TooLarge, TooMany
from shoal.web.settings import Limits
from shoal.web.store import Store
from shoal.web.upload_kinds import MOST_COLUMNS, UnknownKind, kind_of
from shoal.web.uploads import AT_ONCE, NoRoom, Upload, Uploads

T = TypeVar("T")
CSV = b"name,age\nAda,36\nBob,41\n"


def make(tmp_path: Path, upload_bytes: int = 1_000_000) -> Uploads:
    limits = Limits(upload_bytes=upload_bytes)
    return Uploads(Store(tmp_path / "store.sqlite"), tmp_path, limits)


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for each in given:
        yield each


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, run in a thread: a browser of other tests has this one's loop."""
    with ThreadPoolExecutor() as pool:
        return pool.submit(asyncio.run, coroutine).result()


def receive(
    uploads: Uploads, *given: bytes, label: str = "people.csv", declared: int | None = None
) -> Upload:
    body = pieces(*given)
    return finished(uploads.receive(body, owner="ada", label=label, declared=declared))


def files(tmp_path: Path) -> Sequence[str]:
    return sorted(path.name for path in (tmp_path / "uploads").iterdir())


def test_an_upload_is_what_was_sent_in_a_private_file_with_a_name_of_ours(tmp_path: Path) -> None:
    uploads = make(tmp_path)
    upload = receive(uploads, CSV[:7], CSV[7:], label="../../etc/people.csv")
    path = uploads.path(upload.id, "ada")
    assert path.read_bytes() == CSV
    assert path.parent == tmp_path / "uploads"
    assert path.name == f"data-{upload.id}.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (upload.label, upload.kind, upload.bytes) == ("people.csv", "CSV", len(CSV))


def named(value: object) -> str | None:
    """A name for a case: bytes that hold a time would give each test process another one."""
    return "bytes" if isinstance(value, bytes) else None


@pytest.mark.parametrize(
    ("content", "label", "kept"),
    [
        (gzip.compress(CSV), "people.csv", "people.csv.gz"),
        (gzip.compress(CSV), "people.csv.GZ", "people.csv.gz"),
        (CSV, "people.csv.gz", "people.csv"),
        (CSV, "", "data"),
    ],
    ids=named,
)
def test_a_label_ends_in_gz_just_where_the_file_is_packed(
    tmp_path: Path, content: bytes, label: str, kept: str
) -> None:
    assert receive(make(tmp_path), content, label=label).label == kept


def test_another_user_never_finds_an_upload(tmp_path: Path) -> None:
    uploads = make(tmp_path)
    upload = receive(uploads, CSV)
    for act in (uploads.path, uploads.get, uploads.delete):
        with pytest.raises(NotFound):
            act(upload.id, "bob")
    assert uploads.path(upload.id, "ada").exists()
    assert uploads.of("bob") == []


def test_a_body_declared_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("read")
        yield b""

    uploads = make(tmp_path, upload_bytes=100)
    with pytest.raises(TooLarge):
        finished(uploads.receive(never(), owner="ada", label="x.csv", declared=101))


def test_a_body_that_says_nothing_of_its_length_is_refused_at_the_limit(tmp_path: Path) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1000
            yield b"a,b\n" * 250

    uploads = make(tmp_path, upload_bytes=50_000)
    with pytest.raises(TooLarge):
        finished(uploads.receive(endless(), owner="ada", label="x.csv", declared=10))
    assert read <= 52_000
    assert files(tmp_path) == []
    assert uploads.of("ada") == []


def test_a_broken_connection_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CSV
        raise ConnectionResetError

    uploads = make(tmp_path)
    with pytest.raises(ConnectionResetError):
        finished(uploads.receive(broken(), owner="ada", label="x.csv"))
    assert files(tmp_path) == []


def test_a_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, block: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "_write_all", full)
    with pytest.raises(NoRoom):
        receive(make(tmp_path), CSV)
    assert files(tmp_path) == []


def test_one_user_has_few_uploads_at_once(tmp_path: Path) -> None:
    uploads = make(tmp_path)

    async def many() -> list[Upload | BaseException]:
        gate = asyncio.Event()

        async def waits() -> AsyncIterator[bytes]:
            yield CSV
            await gate.wait()

        running = [
            asyncio.create_task(uploads.receive(waits(), owner="ada", label="x.csv"))
            for _ in range(AT_ONCE)
        ]
        await asyncio.sleep(0.05)
        with pytest.raises(TooMany):
            await uploads.receive(pieces(CSV), owner="ada", label="x.csv")
        await uploads.receive(pieces(CSV), owner="bob", label="x.csv")
        gate.set()
        return await asyncio.gather(*running, return_exceptions=True)

    assert all(isinstance(each, Upload) for each in finished(many()))
    assert len(uploads.of("ada")) == AT_ONCE


def test_old_uploads_and_parts_of_killed_servers_are_deleted(tmp_path: Path) -> None:
    uploads = make(tmp_path)
    receive(uploads, CSV)
    (tmp_path / "uploads" / ".part-00").write_bytes(b"x")
    assert uploads.delete_old(3600) == 0
    assert len(files(tmp_path)) == 2
    assert uploads.delete_old(-1) == 1
    assert files(tmp_path) == []


def saved(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2]}), sink)
    return sink.getvalue()


def archive(**parts: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            written.writestr(name.replace("__", "/"), content)
    return sink.getvalue()


def workbook(sheet: bytes = b"<x/>") -> bytes:
    return archive(**{"[Content_Types].xml": b"<x/>", "xl__workbook.xml": sheet})


@pytest.mark.parametrize(
    ("content", "label", "ending"),
    [
        (CSV, "people.csv", "csv"),
        (CSV, "people.dat", "csv"),
        (CSV, "people", "csv"),
        (b"a\tb\n1\t2\n", "people.tsv", "tsv"),
        ("Größe;Ä\n1,5;x\n".encode("latin-1"), "people.txt", "txt"),
        ("a,b\n1,2\n".encode("utf-16"), "people.csv", "csv"),
        (gzip.compress(CSV), "people.csv.gz", "csv.gz"),
        (gzip.compress(CSV), "people.gz", "csv.gz"),
        (gzip.compress(CSV) + gzip.compress(CSV), "people.csv.gz", "csv.gz"),
        (parquet(), "people.csv", "parquet"),
        (workbook(), "people.xlsx", "xlsx"),
        (b'[{"a": 1}]', "people.json", "json"),
        (b'{"a": 1}\n{"a": 2}\n', "people.jsonl", "jsonl"),
        (b'[{"a": 1}]', "people", "json"),
        (b"<rows><row><a>1</a></row></rows>", "people.xml", "xml"),
        (b"<rows><row><a>1</a></row></rows>", "people", "xml"),
    ],
    ids=named,
)
def test_a_kind_is_known_by_content_and_name(
    tmp_path: Path, content: bytes, label: str, ending: str
) -> None:
    assert kind_of(saved(tmp_path, content), label, 1_000_000).ending == ending


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", UnknownKind),
        (b"%PDF-1.7 ...", UnknownKind),
        (bytes(range(256)) * 4, UnknownKind),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", UnknownKind),
        (b"PAR1 and no more", UnknownKind),
        (b"PK\x03\x04 and no more", UnknownKind),
        (archive(**{"evil.txt": b"x"}), UnknownKind),
        (gzip.compress(CSV)[:-9], UnknownKind),
        (b"\x1f\x8b and no more", UnknownKind),
        (gzip.compress(b""), UnknownKind),
        (gzip.compress(b"a,b\n" * 1_000_000), TooLarge),
        (gzip.compress(b"a,b\n" * 200_000) * 2, TooLarge),
        (workbook(b"0" * 2_000_000), TooLarge),
        (b",".join(b"c%d" % i for i in range(MOST_COLUMNS + 1)) + b"\n", TooLarge),
    ],
    ids=named,
)
def test_what_is_no_table_or_unpacks_to_too_much_is_refused(
    tmp_path: Path, content: bytes, error: type[ShoalError]
) -> None:
    with pytest.raises(error) as refused:
        kind_of(saved(tmp_path, content), "people.csv", 1_000_000)
    assert isinstance(refused.value, Refusal)
    assert refused.value.hint


def test_a_refused_kind_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnknownKind):
        receive(make(tmp_path), b"%PDF-1.7")
    assert files(tmp_path) == []

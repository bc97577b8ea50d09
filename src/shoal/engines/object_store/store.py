"""The storage: a client that lists, reads, writes and copies objects, and hidden objects."""

from __future__ import annotations

import errno
import glob
import importlib.util
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from shoal.engines.local_files import HIDDEN, is_left, owned
from shoal.engines.object_store.address import SCHEME, Address, fault_of_url
from shoal.engines.object_store.failures import explained, failure
from shoal.errors import BadData, BadOutput, MissingExtra, UserError

COPIES = "s3"
"""The folder of copies in a private folder: buckets are folders in it."""
_BLOCK = 1 << 20
_LARGEST_COPY = 5 * 2**30
"""S3 copies larger objects in parts, which take effect together too."""

Report = Callable[[float], None]
"""Is called with the bytes that were copied since the last call."""


@dataclass(frozen=True)
class Found:
    """An object that is there, and the tag of its content."""

    key: str
    tag: str
    size: int


@dataclass(frozen=True)
class Store:
    """The storage, as the environment of this process says; errors name `shown`."""

    shown: str
    is_output: bool = False

    @cached_property
    def client(self) -> Any:
        """boto3's client. Of an endpoint that is not Amazon's, buckets are parts of the path."""
        with self.explaining():
            import boto3
            import botocore.session
            from botocore.config import Config

            settings: dict[str, Any] = {
                "connect_timeout": 10,
                "retries": {"mode": "standard", "total_max_attempts": 3},
                "request_checksum_calculation": "when_required",
                "response_checksum_validation": "when_required",
            }
            core = botocore.session.Session()
            core.register_component("data_loader", _loader())
            session = boto3.session.Session(botocore_session=core)
            region = session.region_name or "us-east-1"
            try:
                client = session.client("s3", region_name=region, config=Config(**settings))
            except ValueError:  # its endpoint
                raise failure("cannot-connect", self.shown, is_output=self.is_output) from None
            if "amazonaws.com" not in client.meta.endpoint_url:
                settings["s3"] = {"addressing_style": "path"}
                client = session.client("s3", region_name=region, config=Config(**settings))
        return client

    def listed(self, bucket: str, prefix: str) -> Iterator[Found]:
        """The objects whose keys begin so."""
        with self.explaining():
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=bucket, Prefix=prefix):
                for each in page.get("Contents", ()):
                    yield Found(each["Key"], each["ETag"], each["Size"])

    def found(self, address: Address) -> Found | None:
        """The object of this very key, if it is there."""
        with self.explaining():
            from botocore.exceptions import ClientError

            try:
                head = self.client.head_object(Bucket=address.bucket, Key=address.key)
            except ClientError as error:
                if error.response["Error"]["Code"] not in ("404", "NoSuchKey"):
                    raise
                return None
        return Found(address.key, head["ETag"], head["ContentLength"])

    def download(self, bucket: str, each: Found, path: Path, report: Report) -> None:
        """Copy an object to a new file; an error if it is another one by now, or gone."""
        with self.explaining():
            got = self.client.get_object(Bucket=bucket, Key=each.key, IfMatch=each.tag)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                for block in got["Body"].iter_chunks(_BLOCK):
                    file.write(block)
                    report(len(block))

    def upload(self, path: Path, address: Address, report: Report) -> Found:
        """Copy a file to an object; it is there as a whole or not at all."""
        with self.explaining():
            from boto3.s3.transfer import TransferConfig

            parts = TransferConfig(multipart_threshold=64 * _BLOCK, multipart_chunksize=64 * _BLOCK)
            place = {"Bucket": address.bucket, "Key": address.key}
            self.client.upload_file(str(path), **place, Callback=report, Config=parts)
            head = self.client.head_object(**place)
        return Found(address.key, head["ETag"], head["ContentLength"])

    def copy(self, bucket: str, each: Found, key: str) -> None:
        """Copy an object inside the storage, in place of what is there, in one step."""
        source = {"Bucket": bucket, "Key": each.key}
        with self.explaining():
            if each.size < _LARGEST_COPY:
                self.client.copy_object(
                    Bucket=bucket, Key=key, CopySource=source, CopySourceIfMatch=each.tag
                )
            else:
                from boto3.s3.transfer import TransferConfig

                parts = TransferConfig(multipart_chunksize=256 * _BLOCK)
                self.client.copy(source, bucket, key, Config=parts)

    def remove(self, bucket: str, key: str) -> None:
        """Remove an object; harmless where there is none."""
        with self.explaining():
            self.client.delete_object(Bucket=bucket, Key=key)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn errors of boto3 and of the disk into ours."""
        if importlib.util.find_spec("boto3") is None:
            raise MissingExtra(
                "objects of S3 need boto3, which is not installed",
                code="missing-driver",
                hint="install it: pip install 'shoal[s3]'",
            )
        from boto3.exceptions import Boto3Error, S3UploadFailedError
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (BotoCoreError, ClientError, Boto3Error) as error:
            cause = error.__context__ if isinstance(error, S3UploadFailedError) else None
            raise explained(cause or error, self.shown, is_output=self.is_output) from None
        except FileExistsError:
            raise BadData(
                f"{self.shown} has objects whose keys are one name for this machine's file system",
                code="names-differ-in-case",
                hint="name one of them, or rename one",
            ) from None
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise BadOutput(
                f"the disk is full: there is no room for a copy of {self.shown}",
                code="disk-full",
                hint="name a folder on a larger disk: engine: {spill folder: /big}",
            ) from None


@cache
def _loader() -> Any:
    """What reads boto3's description of S3, and keeps it: to read it takes a fifth of a second."""
    from botocore.loaders import create_loader

    return create_loader()


def fetch(url: str, folder: Path, report: Callable[[float], None] = lambda _: None) -> str:
    """Copy what a path, folder or pattern names into a folder; gives the path of the copies.

    `report` is called with the share that is done.
    """
    address, store = Address.of(url), Store(url)
    root = folder / COPIES / address.bucket
    found, copies = _meant(store, address, root)
    total, done = max(sum(each.size for each in found), 1), 0

    def count(size: float) -> None:
        nonlocal done
        done += int(size)
        report(min(done / total, 1.0))

    for each in found:
        store.download(address.bucket, each, root / each.key, count)
    return copies


def _meant(store: Store, address: Address, root: Path) -> tuple[list[Found], str]:
    """The objects that are meant, and the path of their copies below the root."""
    exact = None if address.key.endswith("/") else store.found(address)
    if exact is not None:
        return [exact], str(root / exact.key)
    is_glob = glob.has_magic(address.key)
    fixed = re.split(r"[*?\[]", address.key)[0] if is_glob else f"{address.key.rstrip('/')}/"
    there = [each for each in store.listed(address.bucket, fixed) if address.matches(each.key)]
    found = [each for each in there if not fault_of_url(f"{SCHEME}x/{each.key}") and each.size]
    if not is_glob:
        found = [each for each in found if each.key.endswith(".parquet")]
    if not found:
        raise BadData(
            f"there is no object {address.url}"
            + (", and no Parquet file below it" if not is_glob else ""),
            code="no-files" if is_glob else "no-file",
            hint="check the bucket and the key; ** looks in folders below too",
        )
    return found, str(Path(glob.escape(str(root)) if is_glob else root) / address.key)


def check_object(url: str) -> None:
    """Refuse an object that could not be put in the end: one is put beside it, and removed.

    Also removes what killed processes left there.
    """
    address, store = Address.of(url), Store(f"the output {url}", is_output=True)
    trial = address.hidden(_hidden_name())
    with store.explaining():
        store.client.put_object(Bucket=trial.bucket, Key=trial.key, Body=b"")
    store.remove(trial.bucket, trial.key)
    with suppress(UserError):  # who may write need not be allowed to list
        orphans(url, remove=True)


def orphans(url: str, *, remove: bool) -> list[str]:
    """What killed processes of this host left beside an object: hidden ones, and unended uploads.

    Nobody sees an upload that has not ended, but its parts are stored.
    """
    address, store = Address.of(url), Store(url, is_output=True)
    start = address.hidden()
    found = [each.key for each in store.listed(start.bucket, start.key) if _is_orphan(each.key)]
    with store.explaining():
        begun = store.client.list_multipart_uploads(Bucket=start.bucket, Prefix=start.key)
    uploads = [each for each in begun.get("Uploads", ()) if _is_orphan(each["Key"])]
    if remove:
        for key in found:
            store.remove(start.bucket, key)
        for each in uploads:
            with store.explaining():
                store.client.abort_multipart_upload(
                    Bucket=start.bucket, Key=each["Key"], UploadId=each["UploadId"]
                )
    return [*found, *(each["Key"] for each in uploads)]


def _is_orphan(key: str) -> bool:
    return is_left(key.rpartition("/")[2], HIDDEN)


def _hidden_name() -> str:
    return f"{owned(HIDDEN)}{secrets.token_hex(4)}"


class HiddenObject:
    """A file that was uploaded beside an output, under a key of its own."""

    def __init__(self, path: Path, url: str, report: Report) -> None:
        self._address = Address.of(url)
        self._store = Store(f"the output {url}", is_output=True)
        self._bucket = self._address.bucket
        hidden = self._address.hidden(_hidden_name())
        self._found = self._store.upload(path, hidden, report)

    def download(self, path: Path) -> None:
        """Copy it to a new file."""
        self._store.download(self._bucket, self._found, path, lambda _: None)

    def publish(self) -> None:
        """Copy it to the key of the output, and remove it."""
        self._store.copy(self._bucket, self._found, self._address.key)
        self.discard()

    def discard(self) -> None:
        """Remove it. Where that fails, the next run does it."""
        with suppress(UserError):
            self._store.remove(self._bucket, self._found.key)

"""Where objects are: URLs with a bucket, and a key or a pattern of keys."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass

from shoal.engines.local_files import HIDDEN
from shoal.errors import BadData

SCHEME = "s3://"


def is_object(text: str) -> bool:
    """Whether a path is the URL of an object."""
    return text.startswith(SCHEME)


def fault_of_url(url: str) -> str:
    """How to correct a URL whose key could be no path of a file; else nothing."""
    bucket, _, key = url.removeprefix(SCHEME).partition("/")
    if not bucket or not key:
        return "write for example `s3://bucket/folder/patients.parquet`"
    if any(part in ("", ".", "..") for part in key.rstrip("/").split("/")) or "\0" in key:
        return "leave out empty parts of the key, and the parts `.` and `..`"
    return ""


@dataclass(frozen=True)
class Address:
    """A bucket and a key, or a pattern of keys."""

    bucket: str
    key: str

    @classmethod
    def of(cls, url: str) -> Address:
        """The address that a URL names."""
        if fault := fault_of_url(url):
            raise BadData(f"{url!r} is no address of an object", code="bad-url", hint=fault)
        bucket, _, key = url.removeprefix(SCHEME).partition("/")
        return cls(bucket, key)

    @property
    def url(self) -> str:
        """What people see of it."""
        return f"{SCHEME}{self.bucket}/{self.key}"

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    def hidden(self, name: str = "") -> Address:
        """A key beside this one that begins as orphans do."""
        folder = self.key[: len(self.key) - len(self.name)]
        return Address(self.bucket, f"{folder}{name or HIDDEN}")

    def matches(self, key: str) -> bool:
        """Whether a key is this one, below it, or matches it as a pattern of files does."""
        if key == self.key or key.startswith(f"{self.key.rstrip('/')}/"):
            return True
        return glob.has_magic(self.key) and re.fullmatch(_pattern(self.key), key) is not None


def _pattern(text: str) -> str:
    """A regular expression for a glob: `**` is any folders, or at the end all that is below."""
    *folders, name = text.split("/")
    found = ["(?:[^/]+/)*" if each == "**" else f"{_pattern_of_part(each)}/" for each in folders]
    return "".join([*found, ".+" if name == "**" else _pattern_of_part(name)])


def _pattern_of_part(text: str) -> str:
    """The same for a part of a glob between slashes."""
    names = {"*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*|\?|\[[^\]]+\])", text)
    return "".join(
        names.get(part) or (part.replace("[!", "[^") if part[:1] == "[" else re.escape(part))
        for part in parts
    )

"""The file of a SQLite database, as its URL tells it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from shoal.engines.same_file import is_path, resolved

_URL = re.compile(r"sqlite(?:\+\w+)?:///(?P<database>[^?]*)(?:\?(?P<query>.*))?", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/))?")


def sqlite_file(database: str | None, query: Mapping[str, Any]) -> Path | None:
    """The file for the last part of a URL and its parameters; None for a database in memory.

    With `uri=true` the part is itself a URI such as `file:/data/x.db`.
    """
    name = database or ""
    if name.startswith("file:") and str(query.get("uri", "")).lower() in ("true", "1", "yes", "on"):
        if query.get("mode") == "memory":
            return None
        name = unquote(_FILE.sub("", name, count=1))
    return None if name in ("", ":memory:") or not is_path(name) else resolved(Path(name))


def file_of_url(url: str) -> Path | None:
    """The file that a whole URL leads to; None where it leads to none.

    Variables of the environment are filled in; one that is not set leads nowhere yet.
    """
    filled = _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), url)
    found = _URL.fullmatch(filled)
    if found is None:
        return None
    return sqlite_file(unquote(found["database"]), dict(parse_qsl(found["query"] or "")))


def files_beside(file: Path) -> tuple[Path, ...]:
    """The file of a database and those that SQLite keeps beside it while there is a change."""
    endings = ("", "-journal", "-wal", "-shm")
    return tuple(file.with_name(f"{file.name}{ending}") for ending in endings)

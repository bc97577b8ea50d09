"""Whether two paths are one file, and the file that the URL of a SQLite database leads to.

Links, other spellings of a folder, and case do not matter.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

_URL = re.compile(r"sqlite(?:\+\w+)?:///(?P<database>[^?]*)(?:\?(?P<query>.*))?", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/))?")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether both paths lead to one file, or would, once it is made.

    Files that exist are the same when the system says so. For others their folders decide and the
    names, compared without case, since some file systems ignore it.
    """
    if _is_there(one) or _is_there(other):
        return _is_there(one) and _is_there(other) and one.samefile(other)
    return _key(resolved(one)) == _key(resolved(other))


def resolved(path: Path) -> Path:
    """The path without links; a link that leads to itself stays as it is."""
    return Path(os.path.realpath(path))


def from_home(text: str) -> Path:
    """The path of a text, with `~` expanded; as it is where there is no such user."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 Path.expanduser raises


def is_path(text: str) -> bool:
    """Whether a text can be a path on this system at all."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def is_read_by(pattern: str, path: Path) -> bool:
    """Whether a file is, or would be once it exists, among those of a path, folder or glob."""
    location = from_home(pattern)
    if os.path.isdir(location):  # noqa: PTH112 a name may be too long
        is_among = resolved(path).is_relative_to(resolved(location))
    elif _is_there(location) or not glob.has_magic(pattern):
        return is_same_file(location, path)
    else:
        is_among = _matches(location, path)
    return is_among or (_is_there(path) and any(map(path.samefile, _files(pattern))))


def lies_in(pattern: str, folder: Path) -> bool:
    """Whether a path, or a file of a folder or glob, is in a folder."""
    there = resolved(folder)
    paths = [from_home(pattern), *_files(pattern)]
    return any(resolved(path).is_relative_to(there) for path in paths)


def _matches(location: Path, path: Path) -> bool:
    """Whether a path matches a glob; its folders up to the first that is a glob may be links."""
    fixed = next(i for i, part in enumerate(location.parts) if glob.has_magic(part))
    pattern = str(resolved(Path(*location.parts[:fixed])).joinpath(*location.parts[fixed:]))
    spellings = {path.absolute(), resolved(path), resolved(path.parent) / path.name}
    if "**" in pattern:
        pattern = pattern.replace("**/", "*")
        return any(fnmatch.fnmatch(str(spelling), pattern) for spelling in spellings)
    return any(spelling.match(pattern) for spelling in spellings)


def _files(pattern: str) -> Iterator[Path]:
    """The files that are there."""
    location = from_home(pattern)
    if os.path.isdir(location):  # noqa: PTH112 a name may be too long
        yield from (path for path in location.rglob("*") if path.is_file())
    elif _is_there(location):
        yield location
    else:
        names = glob.iglob(str(location), recursive=True)  # noqa: PTH207 Path.glob: relative only
        yield from (path for path in map(Path, names) if path.is_file())


def _is_there(path: Path) -> bool:
    """Whether there is such a file; where its name is too long, there is none."""
    return os.path.exists(path)  # noqa: PTH110 Path.exists raises an error for such a name


def _key(path: Path) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()


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

    Environment variables are filled in; one that is not set stays as it is.
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

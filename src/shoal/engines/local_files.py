"""Files and folders of this machine, whatever engine reads or writes them.

- Whether two paths are one file: links, other spellings of a folder, and case do not matter. A
  database of SQLite or DuckDB is the file that its URL leads to.
- Temporary files are named by process ID, start time of the process, and host, so that later runs
  delete orphans. A file is an orphan when its process has ended. Files of other hosts stay: whether
  their processes still run cannot be found out here.
- A small text file is written in one step: the old one or the new one is there.
- So is a folder replaced. Linux exchanges two names in one step. Elsewhere there are two renames:
  the old folder gets a hidden backup name, then the new one gets its name. A process that is killed
  between the two leaves no folder of that name, and `restore_folder` puts the old one back.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fnmatch
import glob
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from shoal.errors import BadOutput

_URL = re.compile(
    r"(?:sqlite(?:\+\w+)?|duckdb):///(?P<database>[^?]*)(?:\?(?P<query>.*))?", re.DOTALL
)
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
    found = _URL.fullmatch(_filled(url))
    if found is None:
        return None
    return sqlite_file(unquote(found["database"]), dict(parse_qsl(found["query"] or "")))


def is_duckdb(url: str) -> bool:
    """Whether a URL is that of a DuckDB file."""
    return _filled(url).startswith("duckdb:")


def _filled(url: str) -> str:
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), url)


def files_beside(file: Path) -> tuple[Path, ...]:
    """The file of a database and those that SQLite or DuckDB keep beside it during a change."""
    endings = ("", "-journal", "-wal", "-shm", ".wal")
    return tuple(file.with_name(f"{file.name}{ending}") for ending in endings)


HIDDEN = ".shoal-"
"""Prefix of staged files beside an output."""
FOLDER = "shoal-"
"""Prefix of folders in the system's temporary folder, or in the spill folder."""


def owned(prefix: str) -> str:
    """A prefix with the process and the host that the file belongs to."""
    process = os.getpid()
    return f"{prefix}{process}t{_began(process)}-{_host()}-"


USUAL_TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp", os.curdir)  # noqa: S108


def temporary_folder() -> Path | None:
    """The system's temporary folder; None where it has none that can be written.

    The choice of `tempfile`, without the file of a random name by which it tries a folder.
    """
    if tempfile.tempdir is None and os.name == "posix":
        named = filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP")))
        for folder in map(Path, (*named, *USUAL_TEMPORARY)):
            if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
                return folder.absolute()
        return None
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def sweep(folder: Path) -> None:
    """Delete orphans in the folder of an output, and in the system's temporary folder.

    Both may hold records, so what a killed process left is deleted by the next run.
    """
    for path in left_in(folder, HIDDEN):
        remove(path)
    if (temporary := temporary_folder()) is not None:
        sweep_folders(temporary)


def sweep_folders(folder: Path) -> None:
    """Delete orphans in a folder that processes spill to."""
    for path in left_in(folder, FOLDER):
        remove(path)


def sweep_own(folder: Path, spill_folder: Path | None = None) -> None:
    """Delete the files of this process itself: for a process that ends after one run."""
    spilled = spill_folder or temporary_folder()
    for where, prefix in ((folder, HIDDEN), (spilled, FOLDER)):
        for path in () if where is None else where.glob(f"{owned(prefix)}*"):
            remove(path)


def left_in(folder: Path, prefix: str, *, every_host: bool = False) -> list[Path]:
    """The orphans of this host in a folder; with `every_host`, all files of other hosts too."""
    named = re.compile(rf"{re.escape(prefix)}[0-9]+t[0-9]*-(?!{_host()}-)[0-9a-f]{{8}}-")
    return [
        folder / name
        for name in _names_with(prefix, folder)
        if is_left(name, prefix) or (every_host and named.match(name))
    ]


def _names_with(prefix: str, folder: Path) -> list[str]:
    """The names in a folder that begin so, in order; none where the folder cannot be read.

    Every run asks this of the system's temporary folder, which may hold thousands of files.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.name.startswith(prefix))
    except OSError:
        return []


def remove(path: Path) -> bool:
    """Remove a file, or a folder with all that is in it; whether it is gone."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return not path.exists()


def is_left(name: str, prefix: str) -> bool:
    """Whether a name with this prefix belongs to a process of this host that runs no more."""
    match = re.match(rf"{re.escape(prefix)}([0-9]+)t([0-9]*)[-_]{_host()}[-_]", name)
    return match is not None and not _alive(int(match[1]), match[2])


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _began(process: int) -> str:
    """When a process started, in ticks since the machine did; empty where only Linux would say.

    The system gives the number of an ended process to a new one, but then it started later.
    """
    try:
        said = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return said.rpartition(")")[2].split()[19]


def _alive(process: int, began: str) -> bool:
    """Whether the process of this number that started then still runs.

    On Windows, where signal 0 is Ctrl-C, it is taken to run.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return began in ("", _began(process))


def check_writable(path: Path) -> None:
    """Refuse, before any long work, a file that could not be written in the end."""
    if path.is_dir():
        raise _refusal(path, "it is a folder")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=owned(HIDDEN)):
            pass
    except OSError as error:
        raise _refusal(path, error.strerror) from None


def write_whole(text: str, path: Path) -> None:
    """Write a text file in one step, readable as the user's umask says."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=owned(HIDDEN), suffix=path.suffix)
        staged = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            staged.chmod(0o666 & ~umask())
            staged.replace(path)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _refusal(path, error.strerror) from None


def _refusal(path: Path, why: str | None) -> BadOutput:
    return BadOutput(
        f"cannot write {path}: {why}",
        code="cannot-write",
        hint="give a path in a folder that exists and is writable",
    )


def umask() -> int:
    """The permissions that new files lack; the only way to read it is to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_BACKUP = ".shoal-before"


def check_replaceable(path: Path) -> None:
    """Refuse to replace anything but an earlier release: a folder of nothing but Parquet files."""
    if not path.exists():
        return
    strangers = [path] if not path.is_dir() else _strangers(path)
    if strangers:
        raise BadOutput(
            f"the output {path} is there already, and {strangers[0].name} is no Parquet file",
            code="output-not-replaceable",
            hint="only a folder of Parquet files is replaced; choose another, or empty it yourself",
        )


def _strangers(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted(path for path in files if path.suffix != ".parquet" or path.is_symlink())


def restore_folder(path: Path) -> None:
    """Put back the backup that a killed process left, or delete it where the folder is there."""
    backup = _backup(path)
    if backup.exists():
        if path.exists():
            shutil.rmtree(backup)
        else:
            backup.rename(path)


def folders_with_backup(folder: Path) -> list[Path]:
    """The paths in a folder of which a killed process left a backup."""
    found = folder.glob(f".*{_BACKUP}")
    return sorted(folder / path.name[1:].removesuffix(_BACKUP) for path in found)


def replace_folder(new: Path, path: Path) -> None:
    """Rename a folder to a path, in place of the folder that is there."""
    if not path.exists():
        new.rename(path)
        return
    if not _exchange(new, path):
        backup = _backup(path)
        path.rename(backup)
        new.rename(path)
        backup.rename(new)
    shutil.rmtree(new)


def _backup(path: Path) -> Path:
    return path.with_name(f".{path.name}{_BACKUP}")


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    if sys.platform == "win32":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))

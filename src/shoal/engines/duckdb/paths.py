"""The files that a path or a glob names; where there are none, what is there instead."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from shoal.engines.formats.parquet import parquet_below
from shoal.engines.local_files import from_home
from shoal.engines.options import without_password
from shoal.errors import BadData, did_you_mean


def matching(pattern: str) -> list[Path]:
    """The files of a path or glob, sorted; errors that say what is there instead."""
    exact = from_home(pattern)
    if os.path.isdir(exact):  # noqa: PTH112 a name may be too long
        found = parquet_below(exact)
        if not found:
            raise BadData(
                f"{pattern} is a folder without Parquet files",
                code="source-is-a-folder",
                hint=f"name a file in it, or several by a glob such as {Path(pattern) / '*.csv'}",
            )
    elif os.path.exists(exact):  # noqa: PTH110
        found = [exact]
    else:
        names = glob.iglob(str(exact), recursive=True)  # noqa: PTH207 Path.glob: relative only
        found = sorted(path for path in map(Path, names) if path.is_file())
    if not found:
        raise _nothing_there(pattern, exact)
    for path in found:
        _check_readable(path)
    return found


def _nothing_there(pattern: str, exact: Path) -> BadData:
    if url := re.match(r"([A-Za-z][\w+.-]+):/+(.+)", pattern):
        return BadData(
            f"{without_password(f'{url[1]}://{url[2]}')} is a URL, not a file",
            code="bad-url",
            hint="a definition can read a database: source: {url: postgresql://host/db, table: t};"
            " fetch what is on the web first",
        )
    if glob.has_magic(pattern):
        return BadData(
            f"no file matches {pattern}",
            code="no-files",
            hint="check that the folder and the ending are right; ** looks in folders below too",
        )
    if not exact.parent.is_dir():
        return BadData(
            f"no folder {exact.parent} (for {exact.name})",
            code="no-file",
            hint="check that the path is right; in a definition it is relative to that file",
        )
    try:
        neighbours = [path.name for path in exact.parent.iterdir() if path.is_file()]
    except OSError as error:
        return BadData(
            f"the folder {exact.parent} cannot be read ({error.strerror})",
            code="file-not-readable",
            hint="change its permissions, or choose another file",
        )
    return BadData(
        f"no file {pattern}{did_you_mean(exact.name, neighbours)}",
        code="no-file",
        hint="check that the path is right; in a definition it is relative to that file",
    )


def _check_readable(path: Path) -> None:
    if not path.is_file():
        raise BadData(
            f"{path} is not a file that can be read twice",
            code="file-not-readable",
            hint="write what a pipe or a device gives to a file first",
        )
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise BadData(
            f"{path} cannot be read ({error.strerror})",
            code="file-not-readable",
            hint="change its permissions, or choose another file",
        ) from None
    if empty:
        raise BadData(f"{path} is empty", code="empty-file", hint="check that it is the right file")

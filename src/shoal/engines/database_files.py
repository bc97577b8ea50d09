"""Files that are databases: a path does not say which of their tables is meant, a URL does."""

from __future__ import annotations

import shlex
from pathlib import Path

_MARKS = ((0, b"SQLite format 3\x00", "sqlite"), (8, b"DUCK", "duckdb"))
"""Where such a file has its mark, the mark, and how its URL begins."""


def options_for(path: Path) -> str | None:
    """How the file is named on a command line; None for a file that is no database."""
    try:
        with path.open("rb") as file:
            begin = file.read(16)
    except OSError:
        return None
    for place, mark, kind in _MARKS:
        if begin[place:].startswith(mark):
            return f"{shlex.quote(f'{kind}:///{path}')} --table NAME"
    return None

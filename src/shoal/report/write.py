"""Small files written whole: the old one or the new one is there, nothing between."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from shoal.engines.leftovers import HIDDEN, owned
from shoal.errors import BadOutput


def check_place(path: Path) -> None:
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
            staged.chmod(0o666 & ~_umask())
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


def _umask() -> int:
    """The umask; the only way to read it is to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

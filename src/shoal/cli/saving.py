"""Write a text file that a command was asked for: never over another one by accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import BadOutput

if TYPE_CHECKING:
    from pathlib import Path


def save(path: Path, text: str, *, force: bool) -> None:
    """Write the text as UTF-8; a file that is there already is replaced only by force."""
    if path.exists() and not force:
        raise BadOutput(
            f"{path} exists already",
            code="file-exists",
            hint="give another name, or --force to overwrite it",
        )
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadOutput(
            f"{path} cannot be written ({error.strerror})",
            code="cannot-write",
            hint="give a folder that exists and may be written to",
        ) from None

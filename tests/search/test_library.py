"""The library of the compiled search: how it is built, and what is said where there is none."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.search.compiled import build, library
from shoal.search.compiled.build import BuildFailed
from shoal.search.compiled.library import NoCompiledSearch

PACKAGE = Path(shoal.__file__).parent
PEOPLE = "age,zip\n" + "".join(f"{20 + i % 7},{40000 + i % 11}\n" for i in range(200))
DEFINITION = """
source: people.csv
output: release.csv
k: 4
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: [2, 4, 8]}}
  zip: {role: quasi-identifier, hierarchy: {mask: 5}}
search: {strategy: box}
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the C sources, which build.py takes for its own."""
    folder = tmp_path / "compiled"
    folder.mkdir()
    for file in build.sources():
        shutil.copy(file, folder)
    monkeypatch.setattr(build, "__file__", str(folder / "build.py"))
    return folder


@pytest.fixture
def small_sources(sources: Path) -> Path:
    """The same, but with next to nothing to compile: only the checksum."""
    for file in sources.glob("*.c"):
        file.write_text("typedef int nothing;\n")
    checksum = "const char *shoal_sources(void) { return SHOAL_SOURCES; }\n"
    (sources / "search.c").write_text(checksum)
    return sources


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any C compiler."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)


def test_the_library_is_built_beside_its_sources_and_nothing_else_is_left(
    small_sources: Path,
) -> None:
    before = set(small_sources.iterdir())
    built = build.build()
    assert set(small_sources.iterdir()) - before == {built}
    assert library._open(built).shoal_sources().decode() == build.checksum()


def test_a_library_that_is_older_than_its_sources_is_refused(small_sources: Path) -> None:
    built = build.build()
    with (small_sources / "state.h").open("a") as file:
        file.write("/* changed */\n")
    with pytest.raises(NoCompiledSearch, match="is older than its sources; run `python -m"):
        library._open(built)
    assert library._open(build.build(small_sources / f"again{build.SUFFIX}"))


def test_line_ends_do_not_change_the_checksum(sources: Path) -> None:
    before = build.checksum()
    source = sources / "search.c"
    source.write_bytes(source.read_bytes().replace(b"\n", b"\r\n"))
    assert build.checksum() == before


def test_an_error_of_the_compiler_is_reported_with_its_words(small_sources: Path) -> None:
    (small_sources / "search.c").write_text("int f(void) { return nothing_of_this_name; }\n")
    with pytest.raises(BuildFailed, match="nothing_of_this_name"):
        build.build()
    assert not build.library_path().exists()


def test_a_folder_that_cannot_be_written_is_named(sources: Path) -> None:
    with pytest.raises(BuildFailed, match=r"cannot write to .*nowhere"):
        build.build(sources / "nowhere" / "library.so")


def test_without_a_compiler_it_says_what_to_install(sources: Path, no_compiler: None) -> None:
    with pytest.raises(BuildFailed, match=r"no C compiler .* `pip install ziglang`"):
        build.build()


def test_the_compiler_named_by_cc_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "my-cc -m64")
    found = build.find_compiler()
    assert found is not None
    assert found.command == ("my-cc", "-m64")
    monkeypatch.setenv("SHOAL_NO_COMPILER", "1")
    assert build.find_compiler() is None


def test_zig_builds_for_every_processor_and_an_old_c_library(
    no_compiler: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: "/bin/zig" if name == "zig" else None)
    found = build.find_compiler()
    assert found is not None
    assert found.is_zig
    assert found.command[:3] == ("/bin/zig", "cc", "-target")
    assert found.command[-1] == "-mcpu=baseline"


@pytest.mark.parametrize("content", [None, b"no library"])
def test_a_library_that_is_not_there_or_no_library_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    file = tmp_path / "library.so"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SHOAL_LIBRARY", str(file))
    why = library.missing()
    assert why is not None
    assert str(file) in why
    assert "python -m shoal.search.compiled.build" in why


@pytest.mark.slow
def test_the_doctor_and_the_first_run_say_that_there_is_no_compiled_search(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "definition.yaml").write_text(DEFINITION)
    environment = {**os.environ, "SHOAL_LIBRARY": str(tmp_path / "none.so")}
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "run", "definition.yaml"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Safe" in done.stdout
    said = re.findall(r"^warning: (.*)$", done.stderr, re.MULTILINE)
    assert len(said) == 1
    assert said[0].startswith("searching with NumPy, which takes longer: there is no compiled")
    found = CliRunner().invoke(app, ["doctor", "--json"], env=environment)
    search = next(part for part in json.loads(found.stdout) if part["name"] == "compiled search")
    assert search["version"] is None
    assert "pip install ziglang" in search["remedy"]


def test_with_a_compiled_search_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert library.is_compiled()

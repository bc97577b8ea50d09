"""Where nothing can be written but the output: no package, no home, no temporary files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from commands import TIME_LIMIT
from shoal.engines import local_files

WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Even the administrator may write only what the permissions allow."""


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Path]:
    """A folder with the package, a home and a place for temporary files, none of it writable."""
    folder = tmp_path / "installed"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(shoal.__file__).parent, folder / "shoal", ignore=unwanted)
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    inside = [folder, *folder.rglob("*")]
    for path in inside:
        path.chmod(path.stat().st_mode & ~0o222)
    yield folder
    for path in inside:
        path.chmod(path.stat().st_mode | 0o200)


def python(installed: Path, *arguments: str | Path) -> str:
    """What Python says with the package as it is installed there."""
    privileges = WITHOUT_PRIVILEGES if os.getuid() == 0 else ()
    done = subprocess.run(
        [*privileges, sys.executable, *map(str, arguments)],
        cwd=installed.parent,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(installed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(installed / "home"),
            "TMPDIR": str(installed / "tmp"),
        },
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_command_works_where_nothing_can_be_written(installed: Path) -> None:
    assert "Usage" in python(installed, "-m", "shoal", "--help")
    assert "Safe" in python(installed, "-m", "shoal", "demo", "demo", "--records", "500")
    run = ("-m", "shoal", "run", "demo/patients.yaml", "--output", "again.csv")
    assert "Safe" in python(installed, *run)
    assert (installed.parent / "again.csv").read_bytes() == (
        installed.parent / "demo" / "release.csv"
    ).read_bytes()


@pytest.mark.slow
def test_the_search_is_compiled_where_nothing_can_be_written(installed: Path) -> None:
    parts = json.loads(python(installed, "-m", "shoal", "doctor", "--json"))
    found = next(part for part in parts if part["name"] == "compiled search")
    assert found["version"] == "built"
    before = sorted(installed.rglob("*"))
    compiled = (
        "from shoal.search.compiled.library import load; print(load().shoal_state_size() > 0)"
    )
    assert python(installed, "-c", compiled) == "True\n"
    assert sorted(installed.rglob("*")) == before


def test_without_a_folder_for_temporary_files_all_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nonexistent"])
    monkeypatch.setattr(local_files, "USUAL_TEMPORARY", ("/nonexistent",))
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    source = tmp_path / "in.csv"
    source.write_text("zip\n" + "47677\n47678\n" * 3)
    definition = {
        "source": str(source),
        "output": str(tmp_path / "out.csv"),
        "k": 6,
        "attributes": {"zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}}},
    }
    assert shoal.run(definition).smallest_class == 6
    assert (tmp_path / "out.csv").read_text() == "zip\n" + "4767*\n" * 6
    with pytest.raises(shoal.BadOutput, match="no folder for temporary files"):
        shoal.run(definition | {"source": {"path": str(source), "encoding": "latin-1"}})

"""The folder for temporary files is that of `tempfile`, and no file is written to try it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from shoal.engines.local_files import temporary_folder


@pytest.fixture(autouse=True)
def not_chosen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the start of a process, whose environment names no folder."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP", ""])
def test_the_folder_is_that_of_tempfile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name:
        monkeypatch.setenv(name, str(tmp_path))
    found = temporary_folder()
    assert found == Path(tempfile.gettempdir())


def test_a_folder_that_is_missing_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    monkeypatch.setenv("TMP", str(tmp_path))
    assert temporary_folder() == tmp_path


def test_a_folder_that_a_program_chose_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert temporary_folder() == tmp_path


@pytest.mark.skipif(os.name != "posix", reason="elsewhere tempfile chooses")
def test_no_file_is_written_to_try_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = tmp_path.stat().st_mtime_ns
    temporary_folder()
    assert tmp_path.stat().st_mtime_ns == before

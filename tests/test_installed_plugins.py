"""Installed parts are found at once, and looked for only when a distribution changed."""

from __future__ import annotations

import shutil
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import Mock

import pytest

from shoal import plugins


@pytest.fixture
def scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Counts the scans of all distributions, with a new folder on the import path."""
    monkeypatch.syspath_prepend(tmp_path)
    counted = Mock(wraps=entry_points)
    monkeypatch.setattr(plugins, "entry_points", counted)
    plugins.names("loss")
    counted.reset_mock()
    return counted


def test_a_file_written_beside_a_script_starts_no_scan(tmp_path: Path, scans: Mock) -> None:
    (tmp_path / "release.csv").write_text("zip\n1*\n", encoding="utf-8")
    assert "iyengar" in plugins.names("loss")
    assert scans.call_count == 0


def test_a_part_that_is_installed_while_a_program_runs_is_found(
    tmp_path: Path, scans: Mock
) -> None:
    folder = tmp_path / "late-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: late\nVersion: 1.0\n", encoding="utf-8")
    points = "[shoal.loss]\nlate = late:Loss\n"
    (folder / "entry_points.txt").write_text(points, encoding="utf-8")
    assert "late" in plugins.names("loss")
    assert scans.call_count == 1
    shutil.rmtree(folder)
    assert "late" not in plugins.names("loss")

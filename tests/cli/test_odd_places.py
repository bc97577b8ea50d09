"""Paths and streams that no command can use: refused at once, in our words."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import SHOAL
from shoal.cli.app import app
from shoal.errors import ShoalError


def refusals(place: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> set[str]:
    """The codes with which each command refuses a place for data."""
    monkeypatch.chdir(folder)
    source = {"path": place, "format": "csv"}
    asked = {"source": source, "output": "out.csv", "k": 2, "attributes": {"a": "quasi-identifier"}}
    Path("it.json").write_text(json.dumps(asked))
    codes = set()
    for command in (
        ("check", place, "--qi", "a"),
        ("init", place, "-o", "o.yaml"),
        ("run", "it.json"),
    ):
        error = CliRunner().invoke(app, command).exception
        assert isinstance(error, ShoalError), (command, error)
        codes.add(error.code)
    return codes


def test_a_pipe_without_an_end_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusals("pipe.csv", monkeypatch, tmp_path) == {"file-not-readable"}


def test_a_device_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusals("/dev/zero", monkeypatch, tmp_path) == {"file-not-readable"}


@pytest.mark.parametrize("place", ["x" * 300 + ".csv", "~nobody-of-this-name/in.csv"])
def test_a_name_that_no_file_can_have_is_no_file(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusals(place, monkeypatch, tmp_path) <= {"no-file", "bad-definition"}


def test_a_full_standard_output_is_told_without_a_word_on_the_release(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n1\n1\n")
    (tmp_path / "it.yaml").write_text(
        "source: in.csv\noutput: out.csv\nk: 2\n"
        "attributes: {a: {role: quasi-identifier, hierarchy: suppress}}\n"
    )
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SHOAL, "run", "it.yaml"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert "standard output cannot be written: the disk is full [disk-full]" in done.stderr
    assert "nothing was released" not in done.stderr
    assert (tmp_path / "out.csv").read_text() == "a\n1\n1\n"


def test_a_reader_that_leaves_early_is_no_error_to_talk_about(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n1\n1\n")
    process = subprocess.Popen(
        [*SHOAL, "check", "in.csv", "--qi", "a", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() in (0, 1)

"""Paths and streams that no command can use: refused at once, in our words."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from commands import SHOAL
from shoal.cli.app import app
from shoal.cli.main import main
from shoal.errors import ShoalError

WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Even the administrator may read only what the permissions allow."""


def refusals(place: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> set[str]:
    """The codes with which each command refuses a path for data."""
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


@pytest.mark.slow
def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    privileges = WITHOUT_PRIVILEGES if os.getuid() == 0 else ()
    command = [*privileges, *SHOAL, "check", "closed/in.csv", "--qi", "a"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "the folder closed cannot be read (Permission denied) [file-not-readable]" in done.stderr


def test_a_copy_that_the_disk_cannot_hold_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a\n" + "é" * 100_000 + "\n", encoding="latin-1")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limit[1]))
    try:
        with pytest.raises(ShoalError) as refused:
            shoal.run(
                {
                    "source": {"path": str(path), "encoding": "latin-1"},
                    "output": str(tmp_path / "out.csv"),
                    "k": 2,
                    "attributes": {"a": "quasi-identifier"},
                }
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert refused.value.code == "disk-full"


@pytest.mark.parametrize("kept", ["--report", "--json"])
def test_where_only_the_report_cannot_be_written_the_release_is_said_to_be_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a\n1\n1\n")
    Path("it.yaml").write_text(
        "source: in.csv\noutput: out.csv\nk: 2\nattributes: {a: quasi-identifier}\n"
    )
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limit[1]))
    try:
        done = CliRunner().invoke(app, ["run", "it.yaml", "--quiet", kept, "kept.html"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert isinstance(done.exception, ShoalError)
    assert done.exception.code == "cannot-write"
    assert done.exception.exit_code == 2
    assert done.exception.what.endswith("\nthe release itself was published: out.csv")
    assert "kept.html" in done.exception.what
    assert Path("out.csv").read_text() == "a\n1\n1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "it.yaml", "out.csv"]


def test_a_mistake_of_ours_after_publishing_claims_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a\n1\n1\n")
    Path("it.yaml").write_text(
        "source: in.csv\noutput: out.csv\nk: 2\nattributes: {a: quasi-identifier}\n"
    )
    monkeypatch.setattr("shoal.report.run.write_report", lambda *_, **__: [][1])
    monkeypatch.setattr("sys.argv", ["shoal", "run", "it.yaml", "--quiet", "--report", "r.html"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "internal error (IndexError); the release itself was published: out.csv" in said
    assert "nothing was released" not in said


@pytest.mark.slow
def test_a_full_standard_output_is_an_error_that_claims_nothing_of_the_release(
    tmp_path: Path,
) -> None:
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


@pytest.mark.slow
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

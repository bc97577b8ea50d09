"""Staged outputs: unseen until published, gone when not, and refused before any long work."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from commands import TIME_LIMIT
from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import Session
from shoal.engines.duckdb.staged import StagedFile, check_file
from shoal.engines.frames.source import open_frame
from shoal.engines.local_files import owned
from shoal.engines.opening import recode_into
from shoal.engines.options import FileOptions, FileTarget
from shoal.errors import BadOutput


def staged_at(path: Path) -> StagedFile:
    table = pa.table({"A": ["x"]})
    with open_frame(table) as source:
        recoding = Recoding(("A",), {"A": Generalization((), ())}, table, ())
        staged = recode_into(source, recoding, FileTarget(path))
    assert isinstance(staged, StagedFile)
    return staged


def test_a_staged_file_is_private_and_the_old_output_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with staged_at(path) as staged:
        assert path.read_text() == "old"
        assert stat.S_IMODE(staged.path.stat().st_mode) == 0o600
        assert staged.path.parent == tmp_path
        assert staged.path.name.startswith(owned(".shoal-"))
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_publishing_replaces_the_output_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    with staged_at(path) as staged:
        assert staged.publish() == str(path)
    assert path.read_text() == "A\nx\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_a_new_output_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    staged_at(tmp_path / "out.csv").publish()
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_output_behind_a_link_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real.csv").write_text("old")
    (tmp_path / "out.csv").symlink_to(tmp_path / "far" / "real.csv")
    staged_at(tmp_path / "out.csv").publish()
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "far" / "real.csv").read_text() == "A\nx\n"


def refused(target: FileTarget) -> str:
    with pytest.raises(BadOutput) as caught:
        check_file(target)
    assert caught.value.hint
    return caught.value.code


def test_targets_that_cannot_be_written_are_refused_early(tmp_path: Path) -> None:
    assert refused(FileTarget(tmp_path / "no" / "out.csv")) == "no-output-folder"
    assert refused(FileTarget(tmp_path)) == "unknown-output-format"
    (tmp_path / "dir.csv").mkdir()
    assert refused(FileTarget(tmp_path / "dir.csv")) == "output-not-a-file"
    assert refused(FileTarget(tmp_path / "out.doc")) == "unknown-output-format"
    assert refused(FileTarget(tmp_path / "out.csv", delimiter="::")) == "bad-delimiter"
    check_file(FileTarget(tmp_path / "out.csv"))
    assert [file.name for file in tmp_path.iterdir()] == ["dir.csv"]


def test_a_folder_that_is_not_writable_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", denied)
    assert refused(FileTarget(tmp_path / "out.csv")) == "output-folder-not-writable"


def test_files_of_a_killed_process_are_deleted_and_those_of_a_running_one_stay(
    tmp_path: Path,
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with staged_at(tmp_path / "out.csv") as staged:
        own = staged.path.name
        left = own.replace(str(os.getpid()), str(dead.pid), 1)
        (tmp_path / left).touch()
        (tmp_path / f".shoal-{dead.pid}-anotherhost.csv").touch()
        check_file(FileTarget(tmp_path / "out.csv"))
        names = {file.name for file in tmp_path.iterdir()}
    assert names == {own, f".shoal-{dead.pid}-anotherhost.csv"}


def test_a_file_of_a_killed_process_is_deleted_though_another_has_its_number_now(
    tmp_path: Path,
) -> None:
    mine = owned(".shoal-")
    earlier = mine.replace(f"{os.getpid()}t", f"{os.getpid()}t1", 1)
    (tmp_path / f"{mine}a.csv").touch()
    (tmp_path / f"{earlier}b.csv").touch()
    check_file(FileTarget(tmp_path / "out.csv"))
    assert [file.name for file in tmp_path.iterdir()] == [f"{mine}a.csv"]


def test_a_full_disk_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    def full(*_: object) -> int:
        raise duckdb.IOException("Could not write file: No space left on device")

    monkeypatch.setattr(Session, "copy", full)
    with pytest.raises(BadOutput) as caught:
        staged_at(tmp_path / "out.csv")
    assert caught.value.code == "disk-full"
    assert "the output" in caught.value.what
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_ends_a_query_at_once_and_leaves_no_files(tmp_path: Path) -> None:
    session = Session()
    began = time.monotonic()
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        session.table("SELECT sum(a.range * b.range % 7) FROM range(1000000) a, range(1000000) b")
    assert time.monotonic() - began < TIME_LIMIT
    assert session.table("SELECT 1 AS x").to_pydict() == {"x": [1]}
    session.close()
    assert not session.folder.exists()


def test_an_interrupt_during_a_release_leaves_no_staged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        staged_at(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_closing_removes_the_private_folder(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes("a,b\nx,é\n".encode("latin-1"))
    source = open_files(FileOptions(str(tmp_path / "in.csv"), encoding="latin-1"))
    folder = source._session.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.glob("tidy*")] == [0o600]
    source.close()
    source.close()
    assert not folder.exists()

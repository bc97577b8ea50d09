"""What DuckDB may use: memory, a folder to spill to, and how far a long query is."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import leftovers, shoal
from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb import session as duck
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import Session, explained
from shoal.engines.opening import recode_into
from shoal.engines.options import FileOptions, FileTarget, Resources
from shoal.engines.process import half_of_memory, of_control_groups
from shoal.errors import BadOutput

RECORDS = 1_000_000


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose records are all different, and long."""
    path = tmp_path_factory.mktemp("wide") / "wide.parquet"
    session = Session()
    session.copy(
        f"COPY (SELECT printf('%060d', i * 7919 % {RECORDS}) AS a, i % 7 AS b"
        f" FROM range({RECORDS}) t(i)) TO '{path}' (FORMAT parquet)"
    )
    session.close()
    return path


class Watched:
    """The most bytes that lay in a folder while the context lasted."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._done, self.most = folder, threading.Event(), 0
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            found = 0
            for path in self._folder.rglob("*"):
                try:
                    found += path.stat().st_size if path.is_file() else 0
                except OSError:
                    continue
            self.most = max(self.most, found)


@pytest.mark.slow
def test_what_does_not_fit_in_memory_is_spilled_and_comes_out_the_same(
    wide: Path, tmp_path: Path
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    small = Resources(memory_limit=120_000_000, spill_folder=spill, threads=2)
    written = {}
    for name, resources in (("small", small), ("large", Resources())):
        with (
            Watched(spill) as watched,
            open_files(FileOptions(str(wide)), resources=resources) as source,
        ):
            listed = pa.table({"b": [str(b) for b in range(7)]})
            recoding = Recoding(("a", "b"), {"b": Generalization((), ())}, listed, ())
            target = FileTarget(tmp_path / f"{name}.parquet")
            recode_into(source, recoding, target).publish()
        written[name] = pq.read_table(target.path)
        assert (watched.most > 10_000_000) is (name == "small")
    assert written["small"].num_rows == RECORDS
    assert written["small"] == written["large"]
    assert list(spill.iterdir()) == []


def test_a_spill_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(BadOutput) as caught:
            Session(Resources(spill_folder=folder))
        assert caught.value.code == "bad-spill-folder"
        assert str(folder) in caught.value.what


@pytest.mark.slow
def test_a_full_spill_folder_is_reported(tmp_path: Path, wide: Path) -> None:
    import duckdb

    session = Session(Resources(memory_limit=60_000_000, spill_folder=tmp_path, threads=1))
    session.execute("SET max_temp_directory_size = '1MB'")
    with pytest.raises(duckdb.Error) as caught:
        session.copy(f"COPY (FROM '{wide}' ORDER BY a) TO '{tmp_path / 'x.csv'}'")
    session.close()
    error = explained(caught.value, "wide.parquet")
    assert error.code == "disk-full"
    assert "spill folder" in error.what
    assert "memory limit" in error.hint


@pytest.mark.slow
def test_a_long_query_reports_its_progress(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "LONG", 0.0)
    shares: list[float] = []
    session = Session(Resources(threads=1, on_progress=shares.append))
    session.table(f"SELECT max(md5(md5(md5(md5(a))))) FROM '{wide}', range(3) r")
    session.close()
    assert shares
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.slow
def test_a_stream_can_be_left_before_its_end(wide: Path) -> None:
    with open_files(FileOptions(str(wide))) as source:
        listed = pa.table({"b": ["1"]})
        recoding = Recoding(("a",), {"b": Generalization((), ())}, listed, ())
        with source.recoded(recoding) as rows:
            assert next(rows).num_rows > 0
        assert source.count_by([]).to_pydict() == {"#records": [RECORDS]}


def test_moments_with_a_zone_are_spelled_in_utc_whatever_the_zone_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        with closing(Session()) as session:
            found = session.table("SELECT CAST(TIMESTAMPTZ '2026-07-01 12:00:00+02' AS VARCHAR) t")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found.to_pydict() == {"t": ["2026-07-01 10:00:00+00"]}


def test_memory_is_that_of_the_strictest_control_group(tmp_path: Path) -> None:
    (tmp_path / "self").write_text("4:memory,cpu:/a\n0::/b/c\n1:name=x:/\n")
    for name, text in {
        "memory/a/memory.limit_in_bytes": "4000",
        "memory/memory.limit_in_bytes": "9000",
        "b/c/memory.max": "max",
        "b/memory.max": "3000",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert sorted(of_control_groups(tmp_path / "self", tmp_path)) == [3000, 4000, 9000]
    assert list(of_control_groups(tmp_path / "none", tmp_path)) == []
    assert (half_of_memory() or 0) > 0


DEFINITION = """
source: data.csv
output: out.csv
k: 2
engine: {memory limit: 200 MB, spill folder: spill, threads: 1}
attributes: {a: {role: quasi-identifier, hierarchy: suppress}}
"""


@pytest.mark.slow
def test_a_definition_and_the_command_say_what_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\nx\nx\n")
    (tmp_path / "it.yaml").write_text(DEFINITION)
    missing = shoal("run", "it.yaml", folder=tmp_path)
    assert missing.returncode == 2
    assert "bad-spill-folder" in missing.stderr
    (tmp_path / "other").mkdir()
    options = ("--spill-folder", "other", "--memory-limit", "1GB")
    done = shoal("run", "it.yaml", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert leftovers(tmp_path) == []
    assert list((tmp_path / "other").iterdir()) == []
    wrong = shoal("run", "it.yaml", "--memory-limit", "much", folder=tmp_path)
    assert "memory limit" in wrong.stderr

"""A full disk and a killed run: the old output stays or the new one is whole, nothing is stray."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapters import rows_of
from commands import TIME_LIMIT, leftovers, shoal
from servers import load
from shoal.engines.database import leftover_tables
from shoal.engines.duckdb.files import open_files
from shoal.engines.opening import open_source
from shoal.engines.options import DatabaseOptions, FileOptions

DEFINITION = """
source: in.parquet
output: {output}
k: 2
suppression: 10%
search: {{strategy: exhaustive}}
attributes:
  year: {{role: quasi-identifier, hierarchy: suppress}}
  code: keep
"""

RUN = """
import shoal, sys
from shoal.errors import ShoalError
try:
    shoal.run("it.yaml")
except ShoalError as error:
    sys.exit(error.code)
"""

OUTPUTS = {
    "file": "out.csv",
    "packed": "out.csv.gz",
    "parquet": "out.parquet",
    "folder": "{path: out, format: parquet, partition by: [year]}",
}


def write(folder: Path, output: str, records: int) -> None:
    chance = random.Random(1)
    table = pa.table(
        {
            "year": [str(2000 + i % 20) for i in range(records)],
            "code": [f"{chance.random():.17f}" for _ in range(records)],
        }
    )
    pq.write_table(table, folder / "in.parquet")
    (folder / "it.yaml").write_text(DEFINITION.format(output=output))


def run_limited(folder: Path) -> subprocess.CompletedProcess[str]:
    """A run that can write only 15 kB into a file."""

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, 15_000))

    return subprocess.run(
        [sys.executable, "-B", "-c", RUN],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=TIME_LIMIT,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_disk_without_space_is_an_error_and_nothing_stays(tmp_path: Path, kind: str) -> None:
    """A limit on the size of files is met like the end of a disk, and needs no special disk."""
    write(tmp_path, OUTPUTS[kind], 60_000)
    done = run_limited(tmp_path)
    assert done.stderr.strip() in ("disk-full", "output-not-written"), done.stderr
    assert not {path.name for path in tmp_path.iterdir()} - {"in.parquet", "it.yaml", ".cache"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_without_space_keeps_its_table_and_nothing_else(
    tmp_path: Path, kind: str
) -> None:
    url = f"{kind}:///{tmp_path / 'out.db'}"
    if kind == "sqlite":
        load(url, "killed", pa.table({"x": ["old"]}))
    else:
        with duckdb.connect(tmp_path / "out.db") as connection:
            connection.execute("CREATE TABLE killed AS SELECT 'old' AS x")
    size = (tmp_path / "out.db").stat().st_size
    write(tmp_path, f"{{url: '{url}', table: killed, replace: true}}", 60_000)
    done = run_limited(tmp_path)
    assert done.stderr.strip() in ("disk-full", "database-error"), done.stderr
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert not sizes.pop("out.db.wal", 0)
    assert not sizes.keys() - {"in.parquet", "it.yaml", ".cache", "out.db"}
    assert sizes["out.db"] == size
    assert table_rows(url) == Counter({("old",): 1})


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_one_whole_folder_or_the_other(tmp_path: Path) -> None:
    write(tmp_path, OUTPUTS["folder"], 20_000)
    shoal("--version", folder=tmp_path)
    began = time.monotonic()
    assert shoal("run", "it.yaml", folder=tmp_path).returncode == 0
    usual = time.monotonic() - began
    whole = rows_of(open_files(FileOptions(str(tmp_path / "out"))))
    chance, kills = random.Random(7), 0
    for _ in range(10):
        moment = chance.uniform(0.1, 1.1) * usual
        ended = shoal("run", "it.yaml", "--k", "3", folder=tmp_path, kill_after=moment)
        kills += ended.returncode < 0
        assert rows_of(open_files(FileOptions(str(tmp_path / "out")))) == whole
    assert kills > 0
    shoal("clean", ".", folder=tmp_path)
    assert leftovers(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["postgres", "mariadb", "sqlite", "duckdb"])
def test_a_run_that_is_killed_leaves_one_whole_table_or_the_other(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Killed at ten moments between the start and a little after the usual end of a run."""
    of_file = kind == "duckdb"
    url = f"duckdb:///{tmp_path}/it.db" if of_file else request.getfixturevalue(f"{kind}_url")
    place = f"{{url: '{url}', table: killed, replace: true}}"
    write(tmp_path, place, 20_000)
    shoal("--version", folder=tmp_path)
    began = time.monotonic()
    assert shoal("run", "it.yaml", folder=tmp_path).returncode == 0
    usual, old = time.monotonic() - began, table_rows(url)
    assert shoal("run", "it.yaml", "--k", "1500", folder=tmp_path).returncode == 0
    new, chance, kills = table_rows(url), random.Random(11), 0
    assert new != old
    for moment in range(10):
        k, seconds = "2" if moment % 2 else "1500", chance.uniform(0.1, 1.1) * usual
        ended = shoal("run", "it.yaml", "--k", k, folder=tmp_path, kill_after=seconds)
        kills += ended.returncode < 0
        assert table_rows(url) in (old, new)
    assert kills > 0
    assert shoal("clean", "it.yaml", folder=tmp_path).returncode == 0
    assert of_file or leftover_tables(url) == []
    assert leftovers(tmp_path) == []


def table_rows(url: str) -> Counter[tuple[str | None, ...]]:
    return rows_of(open_source(DatabaseOptions(url, table="killed")))

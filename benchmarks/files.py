"""How much does a run on a file cost beyond what DuckDB itself needs to group and copy it?

Writes a seeded table of records x 9 quasi-identifiers as CSV, then measures, in one run and each
in a process of its own: DuckDB's bare GROUP BY and COPY, and the steps of `shoal run`. Prints the
ratio of reading, release and verify to GROUP BY and COPY, and the peak memory of both.

    python benchmarks/files.py --records 1000000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

DOMAINS = {
    "sex": 2,
    "age": 74,
    "race": 5,
    "marital": 7,
    "education": 16,
    "country": 41,
    "workclass": 8,
    "occupation": 14,
    "salary": 2,
}


def write_table(path: Path, records: int) -> None:
    """Skewed draws: value i of a column is about 1/(i+1) as frequent as its first."""
    generator = np.random.Generator(np.random.PCG64(5))
    columns = {}
    for name, size in DOMAINS.items():
        shares = 1 / np.arange(1, size + 1)
        codes = np.searchsorted(np.cumsum(shares / shares.sum()), generator.random(records))
        texts = [str(17 + i) if name == "age" else f"{name} {i}" for i in range(size)]
        columns[name] = pa.array(texts).take(pa.array(np.minimum(codes, size - 1)))
    pyarrow.csv.write_csv(pa.table(columns), path)


def definition(folder: Path) -> dict[str, Any]:
    hierarchies: dict[str, Any] = dict.fromkeys(DOMAINS, "suppress")
    hierarchies["age"] = {"intervals": [5, 10, 20, 40]}
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": 5,
        "suppression": "5%",
        "search": {"time limit": "20 s"},
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": hierarchy}
            for name, hierarchy in hierarchies.items()
        },
    }


def bare(folder: Path) -> dict[str, Any]:
    """DuckDB alone."""
    session = duckdb.connect()
    session.execute("SET enable_progress_bar = false")
    table = f"read_csv('{folder / 'data.csv'}', all_varchar = true)"
    columns = ", ".join(DOMAINS)
    started = time.perf_counter()
    query = f"SELECT {columns}, count(*) FROM {table} GROUP BY {columns}"
    tuples = len(session.sql(query).to_arrow_table())
    grouped = time.perf_counter()
    session.execute(f"COPY (FROM {table}) TO '{folder / 'copy.csv'}' (HEADER)")
    copied = time.perf_counter()
    return {"group": grouped - started, "copy": copied - grouped, "tuples": tuples}


def ours(folder: Path) -> dict[str, Any]:
    """The whole road."""
    import shoal

    result = shoal.run(definition(folder))
    return {**result.seconds, "tuples": result.tuples, "levels": list(result.levels.values())}


def measured(work: Callable[[Path], dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What a piece of work returns, with the peak memory of a process that does nothing else."""
    parent, child = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_tell, args=(work, folder, child))
    process.start()
    found: dict[str, Any] = parent.recv()
    process.join()
    return found


def _tell(work: Callable[[Path], dict[str, Any]], folder: Path, to: Any) -> None:
    found = work(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    to.send({**found, "peak MiB": round(peak)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "data.csv", arguments.records)
        size = (folder / "data.csv").stat().st_size / 2**20
        print(f"{platform.processor() or platform.machine()}, {multiprocessing.cpu_count()} cores")
        print(f"{arguments.records:,} records, {size:.0f} MiB of CSV")
        for _ in range(arguments.rounds):
            alone, run = measured(bare, folder), measured(ours, folder)
            print("duckdb", json.dumps(alone))
            print("shoal ", json.dumps(run))
            work = run["read"] + run["release"] + run["verify"]
            print(f"ratio {work / (alone['group'] + alone['copy']):.2f}")


if __name__ == "__main__":
    main()

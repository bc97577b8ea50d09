"""What does a request to a data mart cost beyond the bare join of its sources?

Three seeded sources of as many records each: patients in PostgreSQL, findings in Parquet (several
of one patient), gene expression profiles in CSV. Measured in one run, each in a process of its own:
DuckDB's join of the same records in files, written as Parquet, and `shoal.mart.request` for all
records and for those of one place, written as Parquet too. Prints the seconds of every step, the
ratio of the whole request to the bare join, and the peak memory of the process.

    python -m benchmarks.mart --quick
    python -m benchmarks.mart --records 1e6 --output benchmarks/results/mart.txt
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from benchmarks.engines import CHUNK, _connected, _rounded, _server, measured

PLACES = ("Mamma", "Colon", "Lung", "Prostate", "Skin", "Stomach", "Liver", "Bladder")
STAGES = {
    "PT": ("1mic", "1a", "1b", "1c", "2", "3", "4a", "4b"),
    "PN": ("0", "X", "1mi", "1a", "1b", "2", "3"),
    "PM": ("0", "X", "1"),
    "G": ("1", "2", "3"),
    "R": ("0", "X", "1", "2"),
}
REGIONS, GENES, TABLE = 16, 8, "patient"


@dataclass(frozen=True)
class Case:
    """One size: where the sources are, and the records of the request."""

    folder: Path
    records: int
    url: str
    place: str | None = None

    @property
    def patients(self) -> Path:
        """The patients in a file, for the bare join."""
        return self.folder / "patients.parquet"

    @property
    def findings(self) -> Path:
        """The findings."""
        return self.folder / "findings.parquet"

    @property
    def genes(self) -> Path:
        """The profiles."""
        return self.folder / "genes.csv"


def write_sources(case: Case) -> None:
    """All three sources chunk by chunk, and the patients in the database."""
    with contextlib.ExitStack() as stack:
        patients = stack.enter_context(pq.ParquetWriter(case.patients, _patients(0, 0, 1).schema))
        sample = _findings(0, 0, 1, case.records)
        findings = stack.enter_context(pq.ParquetWriter(case.findings, sample.schema))
        genes = stack.enter_context(pyarrow.csv.CSVWriter(case.genes, _genes(0, 0, 1).schema))
        for chunk, start in enumerate(range(0, case.records, CHUNK)):
            size = min(CHUNK, case.records - start)
            patients.write_table(_patients(chunk, start, size))
            findings.write_table(_findings(chunk, start, size, case.records))
            genes.write_table(_genes(chunk, start, size))
    load_patients(case)


def _patients(chunk: int, start: int, size: int) -> pa.Table:
    draw = np.random.Generator(np.random.PCG64([16, 0, chunk]))
    return pa.table(
        {
            "pat_id": np.arange(start, start + size),
            "sex": pa.array(["f", "m"]).take(pa.array(draw.integers(0, 2, size))),
            "age": 20 + draw.binomial(75, 0.55, size),
            "region": pa.array([f"region {i}" for i in range(REGIONS)]).take(
                pa.array(np.minimum(draw.geometric(0.25, size) - 1, REGIONS - 1))
            ),
        }
    )


def _findings(chunk: int, start: int, size: int, patients: int) -> pa.Table:
    draw = np.random.Generator(np.random.PCG64([16, 1, chunk]))
    columns: dict[str, Any] = {
        "prep_id": np.arange(start, start + size),
        "pat_id": draw.integers(0, patients, size),
        "place": _skewed(draw, PLACES, size),
    }
    columns |= {name: _skewed(draw, values, size) for name, values in STAGES.items()}
    return pa.table(columns)


def _genes(chunk: int, start: int, size: int) -> pa.Table:
    draw = np.random.Generator(np.random.PCG64([16, 2, chunk]))
    profile = {f"e{i}": draw.normal(size=size).round(4) for i in range(1, GENES + 1)}
    return pa.table({"prep_id": np.arange(start, start + size), **profile})


def _skewed(draw: np.random.Generator, values: tuple[str, ...], size: int) -> pa.Array:
    """Value i is about 1/(i+1) as frequent as the first."""
    shares = 1 / np.arange(1, len(values) + 1)
    codes = np.searchsorted(np.cumsum(shares / shares.sum()), draw.random(size))
    return pa.array(values).take(pa.array(np.minimum(codes, len(values) - 1)))


def load_patients(case: Case) -> None:
    """The patients as a table of PostgreSQL."""
    columns = "pat_id bigint, sex text, age int, region text"
    with _connected(case.url) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        connection.execute(f"CREATE TABLE {TABLE} ({columns})")
        with connection.cursor().copy(f"COPY {TABLE} FROM STDIN (FORMAT csv)") as copy:
            for batch in pq.ParquetFile(case.patients).iter_batches(CHUNK // 4):
                sink = pa.BufferOutputStream()
                plain = pyarrow.csv.WriteOptions(include_header=False)
                pyarrow.csv.write_csv(batch, sink, plain)
                copy.write(sink.getvalue().to_pybytes())
        connection.execute(f"ANALYZE {TABLE}")


def catalog(case: Case) -> dict[str, Any]:
    """Patients and findings have quasi-identifiers; profiles are released as they are."""
    identifying = {"role": "quasi-identifier", "hierarchy": "suppress"}
    part = {"1": ["1mic", "1a", "1b", "1c"], "2": ["2"], "3": ["3"], "4": ["4a", "4b"]}
    nodes = {"X": ["X"], "0": ["0"], "1": ["1mi", "1a", "1b"], "2": ["2"], "3": ["3"]}
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20, 100]}}
    why = "a profile is measured once, and nobody else has it"
    profile = dict.fromkeys((f"e{i}" for i in range(1, GENES + 1)), "keep")
    stages: dict[str, Any] = dict.fromkeys(["place", *STAGES], identifying)
    stages["PT"] = {"role": "quasi-identifier", "hierarchy": {"tree": part}}
    stages["PN"] = {"role": "quasi-identifier", "hierarchy": {"tree": nodes}}
    return {
        "mart": "benchmark",
        "log": str(case.folder / "log.jsonl"),
        "person": {"source": "patients", "columns": ["pat_id"]},
        "sources": {
            "patients": {
                "source": {"url": case.url, "table": TABLE},
                "columns": {"sex": identifying, "age": age, "region": identifying},
            },
            "findings": {"source": str(case.findings), "columns": stages},
            "genes": {"source": str(case.genes), "untransformed": why, "columns": profile},
        },
        "links": [
            {"between": {"findings": "pat_id", "patients": "pat_id"}, "kind": "many-to-one"},
            {"between": {"genes": "prep_id", "findings": "prep_id"}, "kind": "one-to-one"},
        ],
        "policy": {"k": 5, "suppression": "2%", "overlap": "report"},
    }


def bare_join(case: Case) -> dict[str, Any]:
    """DuckDB alone: the same records in files, joined and written in the order that comes."""
    import duckdb

    session = duckdb.connect(config={"temp_directory": str(case.folder / "bare")})
    session.execute("SET enable_progress_bar = false")
    where = "" if case.place is None else f"WHERE place = '{case.place}'"
    query = (
        f"SELECT * EXCLUDE (pat_id, prep_id) FROM read_csv('{case.genes}') g"
        f" JOIN read_parquet('{case.findings}') f USING (prep_id)"
        f" JOIN read_parquet('{case.patients}') p USING (pat_id) {where}"
    )
    began = time.perf_counter()
    session.execute(f"COPY ({query}) TO '{case.folder / 'bare.parquet'}' (COMPRESSION zstd)")
    return {"join and copy": time.perf_counter() - began, **_peak()}


def request(case: Case) -> dict[str, Any]:
    """The whole request, each source k-anonymous, written and verified."""
    from shoal import mart

    began = time.perf_counter()
    result = mart.request(
        mart.catalog_from_mapping(catalog(case), case.folder),
        mart.request_from_mapping(
            {
                "asker": "benchmark",
                "project": ["sex", "age", "region", *STAGES, "genes.*"],
                "select": [] if case.place is None else [f"place = {case.place}"],
                "k": 5,
                "suppression": "2%",
                "search": {"time limit": "60 s"},
                "output": str(case.folder / "release.parquet"),
            },
            case.folder,
        ),
    )
    seconds = time.perf_counter() - began
    return {**result.seconds, "whole": seconds, "rows": result.rows_released, **_peak()}


def _peak() -> dict[str, int]:
    """The most memory that this process had at once, files in memory included, in MiB."""
    return {"max rss MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="1e6", help="of each source")
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
    records = int(float("1e5" if arguments.quick else arguments.records))
    with (
        tempfile.TemporaryDirectory(dir=arguments.folder) as name,
        _server(arguments.url, Path(name)) as url,
    ):
        write_sources(Case(Path(name), records, url))
        say(f"\n{records:,} records in each of PostgreSQL, Parquet and CSV")
        for place in (None, PLACES[1]):
            compare(Case(Path(name), records, url, place), say)
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(case: Case, say: Callable[[str], None]) -> None:
    """The bare join and the request, next to each other."""
    say(f"\nselected: {'all' if case.place is None else case.place}")
    alone, whole = measured(bare_join, case), measured(request, case)
    say(f"DuckDB alone {_rounded(alone)}")
    say(f"shoal {_rounded(whole)}")
    say(f"ratio {whole['whole'] / alone['join and copy']:.2f}")


if __name__ == "__main__":
    main()

"""How soon is the optimum proved where attributes have very many values?

A seeded table of people with 22,000 dates of birth, 5,000 postal codes and five narrower columns.
Prints how long the compiled search takes, and the search in NumPy on the same problem in the same
run, with the node that both of them find.

    python benchmarks/wide.py --records 1e5
    python benchmarks/wide.py --records 5e4,2e5,1e6 --output benchmarks/results/wide.txt
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.engines.frames.source import open_frame
from shoal.events import Proved
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from shoal.search.problem import Problem

NARROW = {"sex": 2, "nation": 50, "marital": 6, "education": 16, "job": 14}
DAYS, CODES = 22_000, 5_000


def people(records: int) -> pa.Table:
    """Birthdays are drawn evenly, all else is skewed."""
    generator = np.random.Generator(np.random.PCG64(5))
    first = datetime.date(1940, 1, 1)
    days = [f"{first + datetime.timedelta(day)}" for day in range(DAYS)]
    columns = {
        "birth": pa.array(days).take(pa.array(generator.integers(0, DAYS, records))),
        "zip": _drawn(generator, [f"{10_000 + 17 * i}" for i in range(CODES)], records),
    }
    for name, size in NARROW.items():
        columns[name] = _drawn(generator, [f"{i:02}" for i in range(size)], records)
    return pa.table(columns)


def _drawn(generator: np.random.Generator, texts: list[str], size: int) -> pa.Array:
    shares = np.arange(1, len(texts) + 1) ** -0.7
    return pa.array(texts).take(
        pa.array(generator.choice(len(texts), size, p=shares / shares.sum()))
    )


def problem(records: int) -> Problem:
    """k = 5, at most 5 % suppressed, Iyengar's loss."""
    hierarchies: dict[str, object] = {
        "birth": {"date": ["month", "year", "decade"]},
        "zip": {"mask": 5},
        **{name: {"mask": 2} for name in NARROW},
    }
    definition = from_mapping(
        {
            "source": "people.csv",
            "output": "release.csv",
            "k": 5,
            "suppression": "5%",
            "attributes": {
                name: {"role": "quasi-identifier", "hierarchy": hierarchy}
                for name, hierarchy in hierarchies.items()
            },
        }
    )
    counted = open_frame(people(records)).count_by(definition.quasi_identifiers, ())
    table = encode(definition, counted)
    return problem_of(definition, table, models_of(definition), loss_of(definition))


def timed(strategy: BoxSearch, found: Problem) -> tuple[float, Proved]:
    """Seconds to the proof, and the proof."""
    started = time.perf_counter()
    *_, last = strategy.search(found, Limits(threads=2))
    assert isinstance(last, Proved)
    return time.perf_counter() - started, last


def line(records: int) -> str:
    """Both searches of one size."""
    compiled, in_numpy = BoxSearch(), BoxSearch(in_numpy=True)
    found = problem(records)
    timed(compiled, found)
    fast, proved = timed(compiled, found)
    slow, same = timed(in_numpy, found)
    assert proved.best == same.best
    assert proved.best is not None
    return (
        f"{records:>9,} records, {found.table.tuples:>9,} tuples, {found.lattice.nodes:,} nodes: "
        f"compiled {fast:.2f} s, in NumPy {slow:.1f} s, {slow / fast:.0f} times as long; "
        f"loss {proved.best.loss:.6f}, {proved.best.suppressed:,} suppressed"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="5e4,2e5")
    parser.add_argument("--output", type=Path, help="save what is printed here")
    options = parser.parse_args()
    lines = [f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}"]
    print(lines[0], flush=True)
    for records in options.records.split(","):
        lines.append(line(int(float(records))))
        print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

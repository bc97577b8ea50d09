"""How soon is the optimum proved on a lattice of 5 * 10^13 nodes?

A seeded table with 24 quasi-identifiers: 18 of four levels and 6 of three. Each record is of one of
a few kinds, and a column has the usual value of the kind or another one. Prints the boxes that the
search opens and the seconds of processor that it takes, with one thread.

    python benchmarks/many.py --records 3000
    python benchmarks/many.py --records 3000,10000 --output benchmarks/results/many.txt
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
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

COLUMNS, OF_FOUR_LEVELS, KINDS = 24, 18, 12
VALUES = {3: 4, 4: 8}
"""How many values a column of so many levels has: each level has half as many groups."""


def levels_of(column: int) -> int:
    return 4 if column < OF_FOUR_LEVELS else 3


def table(records: int) -> pa.Table:
    """A column has the value of the kind, or one near it, less often the farther away."""
    generator = np.random.Generator(np.random.PCG64(5))
    kinds = generator.integers(0, KINDS, records)
    columns = {}
    for column in range(COLUMNS):
        values = VALUES[levels_of(column)]
        usual = generator.integers(0, values, KINDS)
        away = generator.geometric(generator.uniform(0.6, 0.95), records) - 1
        columns[f"c{column:02}"] = pa.array((usual[kinds] + away) % values)
    return pa.table(columns)


def problem(records: int) -> Problem:
    """k = 5, at most 5 % suppressed, Iyengar's loss."""
    intervals = {3: [2], 4: [2, 4]}
    definition = from_mapping(
        {
            "source": "table.csv",
            "output": "release.csv",
            "k": 5,
            "suppression": "5%",
            "attributes": {
                f"c{column:02}": {
                    "role": "quasi-identifier",
                    "hierarchy": {"intervals": intervals[levels_of(column)]},
                }
                for column in range(COLUMNS)
            },
        }
    )
    counted = open_frame(table(records)).count_by(definition.quasi_identifiers, ())
    encoded = encode(definition, counted)
    return problem_of(definition, encoded, models_of(definition), loss_of(definition))


def line(records: int, limit: float | None) -> str:
    """One search: what it opened and found, and how long it took."""
    found = problem(records)
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    *_, last = BoxSearch().search(found, Limits(threads=1, seconds=limit))
    wall = time.perf_counter() - started
    processor = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime
    assert last.best is not None
    word = "proved" if isinstance(last, Proved) else f"gap {last.gap:.2%}"
    return (
        f"{records:,} records, {found.table.tuples:,} tuples, {found.lattice.nodes:,} nodes: "
        f"{word}, {last.boxes:,} boxes, {processor:.1f} s of processor, {wall:.1f} s in all; "
        f"loss {last.best.loss:.9f}, {last.best.suppressed:,} suppressed"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="3000")
    parser.add_argument("--limit", type=float, help="seconds for each search")
    parser.add_argument("--output", type=Path, help="save what is printed here")
    options = parser.parse_args()
    lines = [f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}"]
    print(lines[0], flush=True)
    for records in options.records.split(","):
        lines.append(line(int(float(records)), options.limit))
        print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

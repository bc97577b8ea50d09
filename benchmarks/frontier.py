"""How long does a frontier take, against separate runs and against separate searches?

Adult from the folder SHOAL_DATA with its first columns as quasi-identifiers, a grid of k and
suppression limits. In one process, one after the other: the frontier, which reads once; a search
for each point on a table that was read once; a whole run for each point. The losses are compared.
The search library is loaded before. Seconds of the processor are given too: on a busy machine they
are the ones to compare.

    python benchmarks/frontier.py
    python benchmarks/frontier.py --data mach2019 --columns 10 --no-runs
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import shoal
from shoal.analysis.nodes import ignore, prepare_problem
from shoal.definition.read import from_mapping
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.incumbent import Limits
from shoal.search.strategies.box import BoxSearch

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


def definition_of(data: str, columns: int, output: Path) -> dict[str, Any]:
    """The first columns of a table as quasi-identifiers."""
    folder = DATA / data
    with (folder / "data.csv").open(encoding="utf-8") as file:
        names = file.readline().strip().split(";")[:columns]
    hierarchies = {name: str(folder / "hierarchies" / f"{name}.csv") for name in names}
    return {
        "source": {"path": str(folder / "data.csv"), "delimiter": ";"},
        "output": str(output),
        "k": 5,
        "others": "drop",
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": path}
            for name, path in hierarchies.items()
        },
    }


def main() -> None:
    """Print the times and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", default="adult")
    parser.add_argument("--columns", type=int, default=9)
    parser.add_argument("--k", default="2:11")
    parser.add_argument("--suppression", default="0,1,5,10%")
    parser.add_argument("--no-runs", action="store_true", help="leave out the separate runs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mapping = definition_of(given.data, given.columns, Path(folder) / "out.csv")
        measure(mapping, given)


class Watch:
    """Seconds on the clock and of the processor."""

    def __init__(self) -> None:
        self.clock, self.processor = time.perf_counter(), time.process_time()

    def stop(self) -> tuple[float, float]:
        """What it took since the watch was made."""
        return time.perf_counter() - self.clock, time.process_time() - self.processor


def measure(mapping: dict[str, Any], given: argparse.Namespace) -> None:
    """Time the three ways on the same grid."""
    shoal.frontier(mapping, [5], "5%")
    watch = Watch()
    found = shoal.frontier(mapping, given.k, given.suppression)
    whole = watch.stop()
    easiest = {"k": found.points[0].k, "suppression": f"{found.points[-1].suppression:%}"}
    watch = Watch()
    problem = prepare_problem(from_mapping({**mapping, **easiest}), ignore, "it").problem
    read = watch.stop()
    watch = Watch()
    for point in found.points:
        one = replace(problem, models=(KAnonymity(point.k),), limit=point.limit)
        *_, last = BoxSearch().search(one, Limits())
        assert (None if last.best is None else last.best.loss) == point.loss
    searches = watch.stop()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"{given.data}, {given.columns} columns, {len(found.points)} points")
    print(f"{'':24}{'clock':>10}{'processor':>12}")
    print_line("reading", read)
    print_line(f"frontier, {found.searches} searches", whole)
    print_line("reading and searches", (read[0] + searches[0], read[1] + searches[1]), whole)
    print_line("searches", searches, (whole[0] - read[0], whole[1] - read[1]))
    if not given.no_runs:
        print_line("runs", time_of_runs(mapping, found), whole)


def time_of_runs(mapping: dict[str, Any], found: shoal.Frontier) -> tuple[float, float]:
    """What a whole run for each point takes."""
    watch = Watch()
    for point in found.points:
        demand = {"k": point.k, "suppression": f"{point.suppression:%}"}
        if point.loss is None:
            continue
        assert shoal.run({**mapping, **demand}).loss == point.loss
    return watch.stop()


def print_line(
    name: str, seconds: tuple[float, float], frontier: tuple[float, float] | None = None
) -> None:
    """A line of the table, with the share of it that the frontier takes."""
    line = f"{name:24}{seconds[0]:8.2f} s{seconds[1]:10.2f} s"
    if frontier is not None:
        shares = [part / all_of_it for part, all_of_it in zip(frontier, seconds, strict=True)]
        line += f"   the frontier takes {shares[0]:.0%} and {shares[1]:.0%}"
    print(line)


if __name__ == "__main__":
    main()

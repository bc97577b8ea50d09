"""How much does local recoding lose, how far can it be from the best, and how soon is that known?

Adult and mach2019 from the folder SHOAL_DATA, with their first columns as quasi-identifiers and
Iyengar's loss, without suppression. Every event that lowers the loss or raises the bound is a line:
CPU seconds, wall seconds, loss, bound, gap. Then the loss that ARX's local transformation reached,
with its CPU seconds, and the full-domain optimum with 5 % suppressed. `--growth` recodes random
tables of ten attributes with 10^4, 10^5 and more tuples, and prints time and memory.

    python -m benchmarks.local --quick
    python -m benchmarks.local --growth 6 --output benchmarks/results/local.txt
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np
from benchmarks.box import Case

from shoal.encode.hierarchy import Hierarchy
from shoal.encode.table import Attribute, Table, groups_with_missing, number_alike
from shoal.events import Improved, Stopped
from shoal.loss.builtin import Iyengar
from shoal.privacy.k_anonymity import KAnonymity
from shoal.recoding.local.run import LocalSearch
from shoal.search.incumbent import Limits
from shoal.search.objective import objective_of
from shoal.search.problem import Problem

if TYPE_CHECKING:
    from shoal.recoding.local.run import Effort

ARX = {("adult", 9, 5): (0.0589, 40), ("mach2019", 8, 5): (0.0570, 60)}
"""Loss and CPU seconds of ARX's local transformation, measured in November 2026."""

FULL_DOMAIN = {("adult", 9): 0.2696, ("mach2019", 8): 0.1799, ("mach2019", 16): 0.5809}
"""The optimum of full-domain recoding for k = 5 with 5 % of the records suppressed."""

TARGETS = {
    ("adult", 9, 5): (0.0505, 3),
    ("mach2019", 8, 5): (0.0457, 7),
    ("mach2019", 16, 5): (0.275, 15),
}
"""The loss to reach, and the CPU seconds in which the prototype reached it."""


STEP = 1.5
"""A line is printed when the bound has risen by this factor, or the loss has fallen."""


def cases(*, quick: bool) -> Iterator[Case]:
    """Every table for every k; the small tables for k = 5 with `quick`."""
    for data, size in FULL_DOMAIN:
        if quick and size > 9:
            continue
        for k in (5,) if quick else (2, 5, 20):
            yield Case(data, size, k=k, suppression=0, recoding="local")


def recode(problem: Problem, effort: Effort, threads: int | None, out: TextIO) -> float | None:
    """Print the events that change something; the last loss."""
    cpu = time.process_time()
    seen: tuple[float | None, float] = (None, 0.0)
    event = None
    for event in LocalSearch(effort).search(problem, Limits(threads=threads)):
        loss = None if event.best is None else event.best.loss
        little = loss == seen[0] and event.bound < seen[1] * STEP
        if little and not isinstance(event, Improved | Stopped):
            continue
        seen = (loss, event.bound)
        shown = "-" if loss is None else f"{loss:.5f}"
        spent = time.process_time() - cpu
        out.write(
            f"  {spent:8.2f} {event.seconds:8.2f} {shown:>8} {event.bound:8.5f} {event.gap:6.1%}\n"
        )
        out.flush()
    return None if event is None or event.best is None else event.best.loss


def compare(effort: Effort, threads: int | None, out: TextIO, *, quick: bool) -> None:
    """Recode all tables, with the numbers of others beside."""
    for case in cases(quick=quick):
        problem = case.problem()
        out.write(
            f"{case.data} {case.size}, k={case.k}: {problem.table.records:,} records, "
            f"{problem.table.tuples:,} tuples, {problem.nodes:,} nodes\n"
            f"  {'CPU s':>8} {'wall s':>8} {'loss':>8} {'bound':>8} {'gap':>6}\n"
        )
        recode(problem, effort, threads, out)
        key = (case.data, case.size, case.k)
        if key in ARX:
            out.write("  ARX local: {:.4f} in {} CPU s\n".format(*ARX[key]))
        if key in TARGETS:
            out.write("  target: {:.4f} in {} CPU s\n".format(*TARGETS[key]))
        if case.k == 5:
            out.write(f"  full-domain optimum: {FULL_DOMAIN[case.data, case.size]:.4f}\n")


def random_table(tuples: int) -> Problem:
    """A problem of ten attributes of 100 values, in fives, in twenties, and all."""
    random = np.random.default_rng(1)
    rows = [(f"{i}", f"{i // 5}-", f"{i // 20}--", "*") for i in range(100)]
    attributes, codes = [], []
    for j in range(10):
        hierarchy = Hierarchy.from_rows(f"q{j}", rows, str)
        groups = groups_with_missing(hierarchy)
        attributes.append(Attribute(f"q{j}", hierarchy, 3, 1.0, None, groups))
        codes.append((random.beta(1 + j % 3, 4, tuples) * 100).astype(np.int64))
    order = np.argsort(number_alike(attributes, codes)[0])
    codes = [column[order] for column in codes]
    table = Table(tuple(attributes), tuple(codes), np.ones(tuples, np.int64), {}, 0)
    return Problem(table, (KAnonymity(5),), objective_of(table, Iyengar(), "mean"), 0)


def growth(most: int, threads: int | None, out: TextIO) -> None:
    """Time and memory for ten times as many tuples, again and again."""
    for power in range(4, most + 1):
        problem = random_table(10**power)
        out.write(f"10^{power} tuples of 10 attributes\n")
        recode(problem, "low", threads, out)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        out.write(f"  {memory:,.0f} MiB\n")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the small tables for k = 5")
    parser.add_argument("--effort", choices=("low", "normal", "high"), default="normal")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--growth", type=int, default=0, help="up to this power of ten of tuples")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    out = options.output.open("w", encoding="utf-8") if options.output else sys.stdout
    with out:
        compare(options.effort, options.threads, out, quick=options.quick)
        growth(options.growth, options.threads, out)


if __name__ == "__main__":
    main()

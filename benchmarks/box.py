"""How soon does the box search find a good node, how soon the optimum, how soon its proof?

Adult and mach2019 from the folder SHOAL_DATA, with their first columns as quasi-identifiers, k = 5,
5 % suppression and Iyengar's loss; then other k, other limits, other losses and models of a
sensitive column. Every search is run with each number of threads, in a process of its own,
after smaller ones that load everything, and the search alone is timed. The losses are
compared with what ARX found (arx_reference.csv), the times with what the search is meant to reach.

    python benchmarks/box.py --quick
    python benchmarks/box.py --output benchmarks/results/box.txt
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.engines.opening import open_source
from shoal.events import Progress, Proved
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from shoal.search.problem import Problem

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
SENSITIVE = {"adult": "occupation", "mach2019": "Q10A"}
DEMANDS: dict[str, dict[str, object]] = {
    "distinct 3-diversity": {"diversity": {"distinct": 3}},
    "distinct 5-diversity": {"diversity": {"distinct": 5}},
    "entropy 3-diversity": {"diversity": {"entropy": 3}},
    "recursive (4-3)-diversity": {"diversity": {"recursive": {"c": 4, "l": 3}}},
    "t-closeness 0.2 equal": {"closeness": 0.2},
}
"""Demands on a sensitive column, in the words of arx_reference.csv and of a definition."""

MOMENTS = (0.1, 1.0, 10.0)
ROUNDS = 3
Found = TypeVar("Found")


@dataclass(frozen=True)
class Case:
    """A table, how many of its first columns are quasi-identifiers, and what is demanded.

    A `demand` on the values of the sensitive column makes it no quasi-identifier.
    """

    data: str
    size: int
    k: int = 5
    suppression: int = 5
    demand: str = ""
    loss: str = "iyengar"
    recoding: str = "full-domain"

    @property
    def privacy(self) -> str:
        """The demand, in the words of arx_reference.csv."""
        more = f" + {self.demand}" if self.demand else ""
        return f"k={self.k} suppression={self.suppression}%{more}"

    def problem(self) -> Problem:
        """Read and encode the table."""
        folder, sensitive = DATA / self.data, SENSITIVE[self.data] if self.demand else None
        with (folder / "data.csv").open(encoding="utf-8") as file:
            columns = [name for name in file.readline().strip().split(";") if name != sensitive]
        attributes: dict[str, object] = {
            name: {
                "role": "quasi-identifier",
                "hierarchy": str(folder / "hierarchies" / f"{name}.csv"),
            }
            for name in columns[: self.size]
        }
        if sensitive:
            attributes[sensitive] = {"role": "sensitive", **DEMANDS[self.demand]}
        definition = from_mapping(
            {
                "source": str(folder / "data.csv"),
                "output": "release.csv",
                "k": self.k,
                "suppression": f"{self.suppression}%",
                "loss": self.loss,
                "recoding": self.recoding,
                "others": "drop",
                "attributes": attributes,
            }
        )
        source = open_source(definition.source.options())
        counted = source.count_by(definition.quasi_identifiers + definition.sensitive, ())
        table = encode(definition, counted)
        return problem_of(definition, table, models_of(definition), loss_of(definition))


BASE = (Case("adult", 9), *(Case("mach2019", size) for size in (4, 6, 8, 10, 12, 14, 16)))
QUICK = (
    Case("adult", 9),
    Case("mach2019", 8),
    Case("mach2019", 10),
    Case("adult", 9, k=10),
    Case("adult", 9, suppression=1),
    Case("adult", 9, loss="weighted"),
    Case("adult", 8, demand="distinct 5-diversity"),
    Case("adult", 8, demand="entropy 3-diversity"),
)
PROOF_TARGETS = {
    Case("adult", 9): 0.03,
    Case("mach2019", 10): 0.4,
    Case("mach2019", 12): 2.5,
    Case("mach2019", 14): 10.0,
    Case("mach2019", 16): 45.0,
}
"""Seconds to the proof with two threads."""

LOSS_TARGETS = {(Case("mach2019", 16), 1.0): 0.5815, (Case("mach2019", 16), 10.0): 0.5809}
"""The loss known after so many seconds with two threads, to four decimals: the optimum of the last
is 0.58091."""

LARGEST_OF_VALUES = 10
"""Columns of the largest tables that are searched with every demand on a sensitive column, and for
the fewest classes."""


def variants(case: Case) -> Iterator[Case]:
    """The same table with one thing different at a time."""
    yield from (replace(case, k=k) for k in (2, 10, 100))
    yield from (replace(case, suppression=share) for share in (0, 1, 20))
    yield from (replace(case, loss=loss) for loss in ("weighted", "discernibility"))
    if case.size <= LARGEST_OF_VALUES:
        yield replace(case, loss="class-size")
    columns = {"adult": 9, "mach2019": 16}[case.data]
    size = min(case.size, columns - 1)
    demands = list(DEMANDS)[:1] if case.size > LARGEST_OF_VALUES else list(DEMANDS)
    yield from (replace(case, size=size, demand=demand) for demand in demands)


@dataclass(frozen=True)
class Run:
    """What one search showed; `known` are the losses known at the moments, None before a solution.

    `gap` is None when the optimum is proved. `peak` is the most memory of the process during the
    search in MiB, and `grown` how much of it was not there before. `processor` are the seconds that
    all threads computed, which other work on the machine changes less.
    """

    nodes: int
    tuples: int
    first: float | None
    known: tuple[float | None, ...]
    seconds: float
    processor: float
    gap: float | None
    answer: tuple[float, tuple[int, ...], int] | None
    boxes: int
    checked: int
    peak: int
    grown: int


def run(case: Case, threads: int, limit: float) -> Run:
    """Search warm; the run with the median time of three when they are short."""
    warm_up()
    problem = case.problem()
    runs = [_timed(problem, threads, limit)]
    while runs[0].seconds < 1 and len(runs) < ROUNDS:
        runs.append(_timed(problem, threads, limit))
    return sorted(runs, key=lambda each: each.seconds)[len(runs) // 2]


def warm_up() -> float:
    """Search problems of every kind; how long that took."""
    problems = (
        Case("mach2019", 7, demand="entropy 3-diversity").problem(),
        Case("adult", 9, loss="discernibility").problem(),
        Case("adult", 9).problem(),
    )
    started = time.perf_counter()
    for problem in problems:
        for _ in BoxSearch().search(problem, Limits(threads=1)):
            pass
    return time.perf_counter() - started


def _timed(problem: Problem, threads: int, limit: float) -> Run:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # VmHWM counts from here
    before = _memory("VmRSS")
    seen: list[tuple[float, Progress]] = []
    started, computed = time.perf_counter(), time.process_time()
    for event in BoxSearch().search(problem, Limits(seconds=limit, threads=threads)):
        seen.append((time.perf_counter() - started, event))
    processor = time.process_time() - computed
    seconds, last = seen[-1]
    solved = [(at, event.best) for at, event in seen if event.best is not None]
    proved = isinstance(last, Proved)
    return Run(
        nodes=problem.lattice.nodes,
        tuples=problem.table.tuples,
        first=solved[0][0] if solved else None,
        known=tuple(
            next((best.loss for at, best in reversed(solved) if at <= moment), None)
            if proved or moment <= seconds
            else None
            for moment in MOMENTS
        ),
        seconds=seconds,
        processor=processor,
        gap=None if proved else last.gap,
        answer=(last.best.loss, last.best.node, last.best.suppressed) if last.best else None,
        boxes=last.boxes,
        checked=last.checked,
        peak=_memory("VmHWM"),
        grown=_memory("VmHWM") - before,
    )


def _memory(of: str) -> int:
    """MiB of this process, as Linux counts them: `VmRSS` now, `VmHWM` at most."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(each.split()[1]) for each in lines if each.startswith(of)) // 1024


def alone(work: Callable[..., Found], *arguments: object) -> Found:
    """What a piece of work returns in a process that does nothing else."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def reference(case: Case) -> Iterator[dict[str, str]]:
    """What ARX found for this case."""
    sensitive = SENSITIVE[case.data] if case.demand else ""
    wanted = (case.data, str(case.size), case.privacy, sensitive, "mean")
    keys = ("dataset", "quasi_identifiers", "privacy", "sensitive", "aggregate")
    with (DATA / "arx_reference.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if case.loss == "iyengar" and tuple(row[key] for key in keys) == wanted:
                yield row


HEAD = (
    "  threads   first s   at 0.1 s     at 1 s    at 10 s     proof s   processor s       boxes"
    "   checked   peak MiB   of it search"
)


def line(threads: int, run: Run) -> str:
    known = "".join(f"{_number(loss, '.6f'):>11}" for loss in run.known)
    proof = f"{run.seconds:.3f}" if run.gap is None else "-"
    text = (
        f"  {threads:7d}{_number(run.first, '.3f'):>10}{known}{proof:>12}"
        f"{run.processor:14.3f}{run.boxes:12,}{run.checked:10,}{run.peak:11,}{run.grown:15,}"
    )
    if run.gap is not None:
        text += f"   not proved in {run.seconds:.1f} s: gap {run.gap:.2%}"
    return text


def _number(number: float | None, form: str) -> str:
    return "-" if number is None else format(number, form)


def summary(case: Case, runs: Sequence[Run]) -> Iterator[str]:
    """The answer, whether all threads gave the same, and how it compares with ARX."""
    proved = {each.answer for each in runs if each.gap is None}
    if len(proved) > 1:
        yield f"  THE ANSWER DEPENDS ON THE THREADS: {proved}"
    if proved == {None}:
        yield "  no node is safe, proved"
    known = proved or {each.answer for each in runs}
    answer = min((each for each in known if each is not None), default=None)
    if answer is None:
        return
    loss, levels, suppressed = answer
    word = "optimum" if proved else "best known"
    shown = " ".join(map(str, levels))
    yield f"  {word} {loss:.12f}, levels {shown}, {suppressed:,} records suppressed"
    for row in reference(case):
        theirs, took = float(row["loss"]), float(row["warm_or_cold_ms"]) / 1000
        same = (list(levels), suppressed) == (json.loads(row["levels"]), int(row["suppressed"]))
        if abs(theirs - loss) < 1e-9:
            verdict = "equal" if same else "equal loss, ANOTHER NODE"
        elif row["algorithm"] == "optimal" and proved:
            verdict = "NOT EQUAL"
        else:
            verdict = f"ours is {'less' if loss < theirs else 'MORE'} by {abs(theirs - loss):.6f}"
        yield f"  ARX {row['algorithm']}: {row['loss']} ({took:.2f} s): {verdict}"


def targets(results: dict[tuple[Case, int], Run]) -> Iterator[str]:
    """What the search is meant to reach with two threads, for the cases that were run."""
    for case, seconds in PROOF_TARGETS.items():
        if (run := results.get((case, 2))) is not None:
            took = f"{run.seconds:.3f} s" if run.gap is None else "not proved"
            verdict = "reached" if run.gap is None and run.seconds < seconds else "MISSED"
            yield f"  {case.data} {case.size:2d}: proof under {seconds} s: {took}, {verdict}"
    for (case, moment), most in LOSS_TARGETS.items():
        if (run := results.get((case, 2))) is not None:
            loss = run.known[MOMENTS.index(moment)]
            verdict = "reached" if loss is not None and round(loss, 4) <= most else "MISSED"
            reached = f"{_number(loss, '.6f')}, {verdict}"
            yield f"  {case.data} {case.size:2d}: loss at {moment:.0f} s at most {most}: {reached}"


def report(cases: Sequence[Case], threads: Sequence[int], limit: float) -> Iterator[str]:
    """The lines of the whole benchmark, as they come."""
    yield machine()
    yield f"search time alone, at most {limit:g} s each"
    yield f"where the first search takes less than a second: the median of {ROUNDS}"
    yield f"first searches of a process: {alone(warm_up):.2f} s"
    results: dict[tuple[Case, int], Run] = {}
    for case in cases:
        yield ""
        yield f"{case.data}, {case.size} quasi-identifiers, {case.privacy}, {case.loss} loss"
        for number in threads:
            found = results[case, number] = alone(run, case, number, limit)
            if number == threads[0]:
                yield f"  {found.nodes:,} nodes, {found.tuples:,} tuples"
                yield HEAD
            yield line(number, found)
        yield from summary(case, [results[case, number] for number in threads])
    yield ""
    yield "targets, with two threads"
    yield from targets(results)


def machine() -> str:
    """The processor, if the machine names it, what runs on it, and how busy it is."""
    cpuinfo = Path("/proc/cpuinfo")
    names = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    found = (each.partition(":")[2].strip() for each in names if each.startswith("model name"))
    processor = next(found, platform.processor() or platform.machine())
    numpy = f"numpy {version('numpy')}"
    python = f"Python {platform.python_version()}"
    load = f"load {os.getloadavg()[0]:.1f} before the start"
    return ", ".join([processor, f"{os.cpu_count()} cores", python, numpy, load])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--quick", action="store_true", help="a few cases, about a minute")
    much.add_argument("--all", action="store_true", help="the variants with 14 and 16 columns too")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each search")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--output", type=Path, help="write the lines to this file as well")
    options = parser.parse_args()
    cases = list(QUICK if options.quick else BASE)
    if not options.quick:
        sizes = (10, 12, 14, 16) if options.all else (10, 12)
        for table in (Case("adult", 9), *(Case("mach2019", size) for size in sizes)):
            cases += variants(table)
    lines = []
    for each in report(cases, options.threads, options.limit):
        print(each, flush=True)
        lines.append(each)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

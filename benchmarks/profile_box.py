"""Where does the time of the box search go: how much of it is inside the C code?

Profiles one search of mach2019 with its first 12 columns as quasi-identifiers, k = 5 and 5 %
suppression, in a single thread. The profiler slows down the Python around the C code, not the C
code, so its share is also stated of the time without it; each is the fastest of three searches.
All times are those of the processor, which other work on the machine changes less.

    python -m benchmarks.profile_box
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from unittest.mock import patch

from benchmarks.box import Case, machine, warm_up

from shoal.search.incumbent import Limits
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from shoal.events import Progress
    from shoal.search.problem import Problem

RESULTS = Path(__file__).parent / "results" / "box_profile.txt"
ROUNDS = 3
TOP = 20
LEAST_SHARE = 0.001
RUNS_C = ("_run", "explorer.py")
"""The function that calls the C code: ctypes shows no function of its own."""
Found = TypeVar("Found")


class InThisThread(ThreadPoolExecutor):
    """Does the work at once, where the profiler sees it."""

    def submit(  # type: ignore[override]
        self, work: Callable[..., Found], /, *arguments: object
    ) -> Future[Found]:
        future: Future[Found] = Future()
        future.set_result(work(*arguments))
        return future


class Spent(NamedTuple):
    """Time spent in one function itself, not in those it calls."""

    seconds: float
    calls: int
    file: str
    line: int
    name: str
    compiled: bool

    @property
    def place(self) -> str:
        """The file, from its package on."""
        for before in ("/site-packages/", "/src/"):
            if before in self.file:
                return self.file.partition(before)[2]
        return "Python" if "/" in self.file else "built-in"

    @property
    def kind(self) -> str:
        """What to count it as."""
        if self.compiled:
            return "C code"
        return self.place if self.place.startswith("shoal/") else "NumPy, Python and built-ins"


def search(problem: Problem) -> Progress:
    """Search to the end, everything in this thread; the last event."""
    with patch("shoal.search.strategies.box.ThreadPoolExecutor", InThisThread):
        *_, last = BoxSearch().search(problem, Limits(threads=1))
    return last


def profile(problem: Problem) -> list[Spent]:
    """What the functions of one search took, the dearest first."""
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(search, problem)
    return sorted(
        (
            Spent(own, calls, file, line, name, (name, Path(file).name) == RUNS_C)
            for (file, line, name), (_, calls, own, *_) in pstats.Stats(profiler).stats.items()  # type: ignore[attr-defined]
        ),
        reverse=True,
    )


def report(case: Case) -> Iterator[str]:
    """The lines of the profile."""
    yield machine()
    yield f"{case.data}, {case.size} quasi-identifiers, {case.privacy}, {case.loss} loss, 1 thread"
    warm_up()
    problem = case.problem()
    took, last = min((_timed(problem) for _ in range(ROUNDS)), key=lambda timed: timed[0])
    spent = min((profile(problem) for _ in range(ROUNDS)), key=_total)
    total = _total(spent)
    compiled = sum(each.seconds for each in spent if each.compiled)
    yield f"{type(last).__name__.lower()} after {last.boxes:,} boxes, {last.checked:,} exact checks"
    yield f"without the profiler {took:.2f} s, with it {total:.2f} s, in C {compiled:.2f} s:"
    yield f"{compiled / took:.1%} of the time without, {compiled / total:.1%} of the time with it"
    yield ""
    for kind, seconds in _by_kind(spent):
        if seconds / total >= LEAST_SHARE:
            yield f"  {seconds / total:6.1%}  {kind}"
    yield ""
    yield "   share   seconds       calls  function itself, without those it calls"
    for each in spent[:TOP]:
        mark = " (in C)" if each.compiled else ""
        yield (
            f"  {each.seconds / total:6.1%}{each.seconds:10.3f}{each.calls:12,}"
            f"  {each.place}: {each.name}{mark}"
        )


def _timed(problem: Problem) -> tuple[float, Progress]:
    started = time.process_time()
    last = search(problem)
    return time.process_time() - started, last


def _total(spent: list[Spent]) -> float:
    return sum(each.seconds for each in spent)


def _by_kind(spent: list[Spent]) -> list[tuple[str, float]]:
    kinds: dict[str, float] = {}
    for each in spent:
        kinds[each.kind] = kinds.get(each.kind, 0.0) + each.seconds
    return sorted(kinds.items(), key=lambda kind: -kind[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=12, help="quasi-identifiers")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = []
    for each in report(Case("mach2019", options.size)):
        print(each, flush=True)
        lines.append(each)
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""A search in a process of its own, so that its time and memory can be measured.

The child reads a problem, the options of a search and perhaps its strategy from its standard input,
and writes the events of the search and finally its memory to its standard output.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import re
import resource
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from shoal.events import Progress
from shoal.search.incumbent import Limits
from shoal.search.run import strategy_of

if TYPE_CHECKING:
    from shoal.definition.model import Search
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy


@dataclass(frozen=True)
class Memory:
    """The most memory that the search took, in bytes, beside what the problem itself takes."""

    peak: int


def attempt(
    problem: Problem, options: Search, strategy: Strategy | None = None
) -> Generator[Progress | Memory]:
    """The events of a search in another process, then its memory.

    A `strategy` is used in place of the one that the options name.

    When the caller closes the generator, the child is killed; when the child dies, the events end.
    """
    command = [sys.executable, "-c", "from shoal.search.trial import main; main()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    assert process.stdin is not None  # piped  # noqa: S101
    assert process.stdout is not None  # piped  # noqa: S101
    try:
        with process.stdin as request:
            pickle.dump((problem, options, strategy), request)
        yield from _answers(process.stdout)
    except (EOFError, BrokenPipeError):
        return
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _answers(stream: IO[bytes]) -> Iterator[Progress | Memory]:
    while True:
        answer: Progress | Memory = pickle.load(stream)  # noqa: S301 our own child
        yield answer
        if isinstance(answer, Memory):
            return


def main() -> None:
    """The child: search, and send the events."""
    problem, options, strategy = pickle.load(sys.stdin.buffer)  # noqa: S301 our own parent
    gc.collect()
    before = _reset_peak()
    limits = Limits(options.time_limit, options.gap, options.threads)
    sent = time.monotonic()
    for event in (strategy or strategy_of(options)).search(problem, limits):
        if type(event) is not Progress or time.monotonic() - sent > 0.1:
            sent = time.monotonic()
            _send(event)
    _send(Memory(max(_peak() - before, 0)))


def _send(answer: Progress | Memory) -> None:
    pickle.dump(answer, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _reset_peak() -> int:
    """The memory in use now; where the system can, the peak is counted from here on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The most memory that this process had in use."""
    try:
        found = re.search(r"VmHWM:\s+([0-9]+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

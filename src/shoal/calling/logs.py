"""What Shoal logs, through the standard library: the logger `shoal` and its children.

Nothing is printed unless the program that uses Shoal says where records go:
`logging.basicConfig(level=logging.INFO)`. A record says which step began, what was counted, what
was decided, how long it took, and the code of an error. It never has a value of the data: messages
of errors are left out, since they may quote a definition, and a definition has values in its trees.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal.errors import ShoalError
from shoal.events import Improved, Phase, Proved, Released, Stopped
from shoal.report.progress import standing
from shoal.report.sections import counted

if TYPE_CHECKING:
    from shoal.calling.argument_types import Observer, Watch
    from shoal.events import Event
    from shoal.values import Result

LOGGER = logging.getLogger("shoal")
LOGGER.addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger of a function or of a command: `shoal.run`."""
    return LOGGER.getChild(name)


def logged_events(observe: Observer | None, name: str) -> Observer:
    """An observer that also logs the events of a run."""
    log = logger(name)

    def observed(event: Event) -> None:
        _log(log, event)
        if observe is not None:
            observe(event)

    return observed


def logged_lines(watch: Watch | None, name: str) -> Watch:
    """The same for lines about a long work."""
    log = logger(name)

    def watched(line: str) -> None:
        log.debug("%s", line)
        if watch is not None:
            watch(line)

    return watched


def _log(log: logging.Logger, event: Event) -> None:
    if isinstance(event, Phase):
        log.info("%s", " ".join(filter(None, (event.name, event.detail))))
    elif isinstance(event, Improved):
        log.debug("better: %s", standing(event))
    elif isinstance(event, Proved):
        log.info("proved: %s", standing(event))
    elif isinstance(event, Stopped):
        log.info("not proved: %s", standing(event))
    elif isinstance(event, Released):
        log.info("chosen: %s", _chosen(event.result))
        log.info("released and verified: %s", counted(event.result))


def _chosen(result: Result) -> str:
    """What was decided: loss, suppressed records, and the levels of each column."""
    levels = ", ".join(
        f"{name}={level if isinstance(level, int) else dict(level)}"
        for name, level in result.levels.items()
    )
    suppressed = f"{result.suppressed:,} of {result.records:,} records suppressed"
    return f"{result.status}, loss {result.loss:.6f}, {suppressed}, levels {levels}"


@contextmanager
def logged(name: str) -> Iterator[None]:
    """Logs that some work begins and ends, with its seconds, or with the code of its error."""
    log, began = logger(name), time.perf_counter()
    log.info("begins")
    try:
        yield
    except BaseException as error:
        level = logging.ERROR if isinstance(error, Exception) else logging.WARNING
        log.log(level, "failed after %.1f s: %s", time.perf_counter() - began, code_of(error))
        raise
    log.info("ends after %.1f s", time.perf_counter() - began)


def code_of(error: BaseException) -> str:
    """What a record says of an error: its class, and its code where it has one."""
    code = f" [{error.code}]" if isinstance(error, ShoalError) else ""
    return f"{type(error).__name__}{code}"

"""What a trial is: one seeded attack in a folder of its own, which Shoal withstands or not."""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, TypeVar

import shoal

T = TypeVar("T")

SECONDS = 240
"""Seconds of processor time after which a trial counts as hanging, in whatever it calls."""

NAME_COLUMNS = ("bad-definition", "unknown-column")
"""Errors that name columns. Where the row with the names is broken, a record is taken for it."""

CANARY = "canary"
"""A text that every value of some tables has, so that one in a message is found."""


@dataclass(frozen=True)
class Services:
    """The URLs of databases and the Spark session that trials may use; None where there is none."""

    postgres: str | None = None
    mariadb: str | None = None
    spark: Any = None


@dataclass(frozen=True)
class Trial:
    """What an attack gets: a random generator of its own, an empty folder, and the services.

    It counts in `seen` what the trial tried, such as releases that were judged, or kills.
    """

    rng: Random
    folder: Path
    services: Services
    seen: Counter[str] = field(default_factory=Counter)


Attack: TypeAlias = Callable[[Trial], None]
"""Returns where Shoal did its work and the judge agrees; else raises `Declined` or `Failed`."""


@dataclass(frozen=True)
class Kind:
    """One kind of attack, and what people read of it.

    `tries` says what a trial is, `fails` when it fails, and `limits` what it cannot show. Of the
    time, it gets `share` times as much as a kind with a share of one. `needs` are the services
    without which it is left out, `uses` those that it takes where they are.
    """

    attack: Attack
    tries: str
    fails: str
    limits: str
    share: float = 1
    needs: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()


class Failed(Exception):
    """Shoal did what it must never do."""


class Declined(Exception):
    """Shoal gave a clear error in place of a release: no failure, and no success to judge."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: the code of the error that declined it, what failed, or neither."""

    declined: str = ""
    failure: str = ""
    seen: Mapping[str, int] = field(default_factory=dict)


def attempt(kind: str, attack: Attack, seed: int, services: Services) -> Outcome:
    """Run the one trial that the kind and the seed name."""
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="shoal-prove-") as folder:
        try:
            with _limited(SECONDS):
                attack(Trial(Random(f"{kind} {seed}"), Path(folder), services, seen))
        except Declined as code:
            return Outcome(declined=str(code), seen=seen)
        except Failed as failure:
            return Outcome(failure=str(failure), seen=seen)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a panic of a library is no Exception
            return Outcome(failure=traceback.format_exc(), seen=seen)
    return Outcome(seen=seen)


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Fail after so many seconds of processor time of this process: a busy machine is no hang."""

    def end(*_: object) -> None:
        raise Failed(f"it hangs: {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_or_decline(call: Callable[[], T]) -> T:
    """The answer of a call of Shoal.

    A mistake of the user (exit code 2) and a demand that nothing meets (3) decline the trial. A
    refusal by the verifier, a bug and an exception that is not ours are failures. So is a value of
    a canary table in what the error says, or in the log.
    """
    with _logged() as log:
        try:
            answer = call()
        except shoal.ShoalError as error:
            if CANARY in f"{error} {error.hint}" and error.code not in NAME_COLUMNS:
                raise Failed(f"a value of the data in the error {error.code}: {error}") from error
            if CANARY in log.getvalue():
                raise Failed("a value of the data in the log") from error
            if error.exit_code in (2, 3):
                raise Declined(error.code) from error
            raise Failed(f"{type(error).__name__}: {error}") from error
        except (Declined, Failed):
            raise
        except Exception as error:
            raise Failed(f"not an error of ours: {traceback.format_exc()}") from error
        if CANARY in log.getvalue():
            raise Failed("a value of the data in the log")
    return answer


@contextlib.contextmanager
def _logged() -> Iterator[io.StringIO]:
    """All that is logged meanwhile, of any library."""
    text = io.StringIO()
    handler, root = logging.StreamHandler(text), logging.getLogger()
    root.addHandler(handler)
    try:
        yield text
    finally:
        root.removeHandler(handler)

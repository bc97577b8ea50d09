"""What a trial is: one seeded attack in a folder of its own, which Shoal withstands or not."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, TypeVar

import shoal

T = TypeVar("T")


@dataclass(frozen=True)
class Services:
    """The URLs of databases and the Spark session that trials may use; None where there is none."""

    postgres: str | None = None
    mariadb: str | None = None
    spark: Any = None


@dataclass(frozen=True)
class Trial:
    """What an attack gets: a random generator of its own, an empty folder, and the services."""

    rng: Random
    folder: Path
    services: Services


Attack: TypeAlias = Callable[[Trial], None]
"""Returns where Shoal did its work and the judge agrees; else raises `Declined` or `Failed`."""


class Failed(Exception):
    """Shoal did what it must never do."""


class Declined(Exception):
    """Shoal gave a clear error in place of a release: no failure, and no success to judge."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: the code of the error that declined it, what failed, or neither."""

    declined: str = ""
    failure: str = ""


def attempt(kind: str, attack: Attack, seed: int, services: Services) -> Outcome:
    """Run the one trial that the kind and the seed name."""
    with tempfile.TemporaryDirectory(prefix="shoal-prove-") as folder:
        try:
            attack(Trial(Random(f"{kind} {seed}"), Path(folder), services))
        except Declined as code:
            return Outcome(declined=str(code))
        except Failed as failure:
            return Outcome(failure=str(failure))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a panic of a library is no Exception
            return Outcome(failure=traceback.format_exc())
    return Outcome()


def run_or_decline(call: Callable[[], T]) -> T:
    """The answer of a call of Shoal.

    A mistake of the user (exit code 2) and a demand that nothing meets (3) decline the trial. A
    refusal by the verifier, a bug and an exception that is not ours are failures.
    """
    try:
        return call()
    except shoal.ShoalError as error:
        if error.exit_code in (2, 3):
            raise Declined(error.code) from error
        raise Failed(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        raise Failed(f"not an error of ours: {traceback.format_exc()}") from error

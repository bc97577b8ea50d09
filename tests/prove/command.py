"""Runs trials of every kind until the time is used up, and prints what came of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from random import SystemRandom
from typing import TextIO

import cluster
import servers
from prove import broken, kills, optimality, overwriting, safety, tampering
from prove.trial import Attack, Outcome, Services, attempt

KINDS: dict[str, Attack] = {
    "safety": safety.attack,
    "spark": safety.attack_spark,
    "optimality": optimality.attack,
    "tampering": tampering.attack,
    "kills": kills.attack,
    "overwriting": overwriting.attack,
    "broken": broken.attack,
}


@dataclass
class Tally:
    """What came of the trials of one kind so far."""

    kind: str
    next_seed: int
    seconds: float = 0.0
    trials: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        self.trials += 1
        if outcome.failure:
            self.failures.append((seed, outcome.failure))
        elif outcome.declined:
            self.declined[outcome.declined] += 1

    @property
    def note(self) -> str:
        if self.failures:
            seed, failure = self.failures[0]
            return f"seed {seed}: {failure.strip().splitlines()[-1][:120]}"
        return ", ".join(f"{count} {code}" for code, count in self.declined.most_common(3))


def prove(
    kinds: Sequence[str],
    seed: int,
    going_on: Callable[[Tally], bool],
    services: Services,
    progress: TextIO,
) -> list[Tally]:
    """Run trials of the kind that had least time so far, as long as its tally says to go on.

    The first trial of each kind has the seed given, the next one the next number. A failure is
    written to `progress` as it is found.
    """
    tallies = [Tally(kind, seed) for kind in kinds]
    while waiting := [tally for tally in tallies if going_on(tally)]:
        tally = min(waiting, key=lambda each: each.seconds)
        number, began = tally.next_seed, time.perf_counter()
        outcome = attempt(tally.kind, KINDS[tally.kind], number, services)
        tally.seconds += time.perf_counter() - began
        tally.next_seed += 1
        tally.add(number, outcome)
        if outcome.failure:
            progress.write(f"\nFAILED {tally.kind}, seed {number}: {outcome.failure}\n")
        progress.write(f"\r{_line(tallies)}")
        progress.flush()
    progress.write("\n")
    return tallies


def _line(tallies: Sequence[Tally]) -> str:
    trials = ", ".join(f"{each.kind} {each.trials}" for each in tallies)
    return f"{sum(len(each.failures) for each in tallies)} failures in trials: {trials}"


def table(tallies: Sequence[Tally]) -> str:
    """The tallies, a line for each kind."""
    lines = [f"{'kind':<12} {'trials':>7} {'failures':>9} {'declined':>9} {'seconds':>8}  note"]
    for each in tallies:
        numbers = f"{each.trials:>7} {len(each.failures):>9} {each.declined.total():>9}"
        lines.append(f"{each.kind:<12} {numbers} {each.seconds:>8.0f}  {each.note}".rstrip())
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where a trial failed."""
    parser = argparse.ArgumentParser("scripts/prove", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="time budget, 5 by default")
    parser.add_argument("--seed", type=int, help="seed of the first trial of each kind")
    parser.add_argument("--trials", type=int, help="trials of each kind at most")
    parser.add_argument("--only", default=",".join(KINDS), help=f"kinds: {','.join(KINDS)}")
    options = parser.parse_args(arguments)
    kinds = options.only.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    seed = options.seed if options.seed is not None else SystemRandom().randrange(10**9)
    with _services(kinds) as services:
        if services.spark is None:
            kinds = [kind for kind in kinds if kind != "spark"]
        end = time.monotonic() + 60 * options.minutes
        print(f"seeds from {seed}, with {_names(services) or 'files alone'}")

        def going_on(tally: Tally) -> bool:
            enough = options.trials is not None and tally.trials >= options.trials
            return not enough and time.monotonic() < end

        tallies = prove(kinds, seed, going_on, services, sys.stderr)
    print(table(tallies))
    failed = [each for each in tallies if each.failures]
    for each in failed:
        again = f"--only {each.kind} --seed {each.failures[0][0]} --trials 1"
        print(f"to repeat the first failure of {each.kind}: scripts/prove {again}")
    return 1 if failed else 0


def _names(services: Services) -> str:
    found = {
        "PostgreSQL": services.postgres,
        "MariaDB": services.mariadb,
        "Spark": services.spark,
    }
    return ", ".join(name for name, service in found.items() if service is not None)


@contextmanager
def _services(kinds: Sequence[str]) -> Iterator[Services]:
    """What the kinds can use of what is installed: servers of their own, one Spark session."""
    with ExitStack() as running:
        postgres = mariadb = spark = None
        if {"safety", "spark", "overwriting"} & set(kinds):
            if (programs := servers.postgres_programs()) is not None:
                postgres = running.enter_context(servers.postgres(programs))
            if (mariadb_programs := servers.mariadb_programs()) is not None:
                mariadb = running.enter_context(servers.mariadb(*mariadb_programs))
        if "spark" in kinds and find_spec("pyspark") is not None:
            spark = running.enter_context(cluster.local_session())
        yield Services(postgres, mariadb, spark)

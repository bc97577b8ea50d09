"""Runs trials of every kind until the time is used up, and prints what came of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from typing import TextIO

import cluster
import servers
from prove import (
    changing_source,
    clock,
    data,
    definitions,
    determinism,
    expressions,
    full_disk,
    hierarchies,
    kills,
    little_memory,
    lost_connections,
    optimality,
    overwriting,
    read_only,
    releases,
    report,
    rest,
    safety,
    tampering,
    together,
)
from prove.tally import Tally, table
from prove.trial import Kind, Services, attempt

KINDS: dict[str, Kind] = {
    "releases": releases.KIND,
    "safety": safety.SAFETY,
    "spark": safety.SPARK,
    "optimality": optimality.KIND,
    "tampering": tampering.KIND,
    "determinism": determinism.KIND,
    "kills": kills.KIND,
    "full-disk": full_disk.KIND,
    "connections": lost_connections.KIND,
    "memory": little_memory.KIND,
    "clock": clock.KIND,
    "together": together.KIND,
    "changing": changing_source.KIND,
    "read-only": read_only.KIND,
    "overwriting": overwriting.KIND,
    "definitions": definitions.KIND,
    "data": data.KIND,
    "hierarchies": hierarchies.KIND,
    "expressions": expressions.KIND,
    "rest": rest.KIND,
}


def prove(
    kinds: Sequence[str],
    seed: int,
    going_on: Callable[[Tally], bool],
    services: Services,
    progress: TextIO,
) -> list[Tally]:
    """Run trials of the kind that had least of its share of time, while its tally says to go on.

    The first trial of each kind has the seed given, the next one the next number. A failure is
    written to `progress` as it is found. Ctrl-C ends the trials, and what was found is kept.
    """
    tallies = [Tally(kind, seed) for kind in kinds]
    while waiting := [tally for tally in tallies if going_on(tally)]:
        tally = min(waiting, key=lambda each: each.seconds / KINDS[each.kind].share)
        number, began = tally.next_seed, time.perf_counter()
        try:
            outcome = attempt(tally.kind, KINDS[tally.kind].attack, number, services)
        except KeyboardInterrupt:
            break
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


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where a trial failed."""
    parser = argparse.ArgumentParser("scripts/prove", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="time budget, 5 by default")
    parser.add_argument("--seed", type=int, help="seed of the first trial of each kind")
    parser.add_argument("--trials", type=int, help="trials of each kind at most")
    parser.add_argument("--only", default=",".join(KINDS), help=f"kinds: {','.join(KINDS)}")
    parser.add_argument("--report", type=Path, help="add what was tried to this page")
    options = parser.parse_args(arguments)
    kinds = options.only.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    seed = options.seed if options.seed is not None else SystemRandom().randrange(10**9)
    with _services(kinds) as services:
        there = {name for name, service in vars(services).items() if service is not None}
        kinds = [kind for kind in kinds if KINDS[kind].needs <= there]
        end = time.monotonic() + 60 * options.minutes
        print(f"seeds from {seed}, with {_names(services) or 'files alone'}")

        def going_on(tally: Tally) -> bool:
            enough = options.trials is not None and tally.trials >= options.trials
            return not enough and time.monotonic() < end

        tallies = prove(kinds, seed, going_on, services, sys.stderr)
        names = _names(services)
    print(table(tallies))
    if options.report is not None:
        report.keep(options.report, tallies, seed, names)
        report.write(options.report, KINDS)
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
    wanted = {name for kind in kinds for name in KINDS[kind].needs | KINDS[kind].uses}
    with ExitStack() as running:
        postgres = mariadb = spark = None
        if "postgres" in wanted and (programs := servers.postgres_programs()) is not None:
            postgres = running.enter_context(servers.postgres(programs))
        if "mariadb" in wanted and (server := servers.mariadb_programs()) is not None:
            mariadb = running.enter_context(servers.mariadb(*server))
        if "spark" in wanted and find_spec("pyspark") is not None:
            spark = running.enter_context(cluster.local_session())
        yield Services(postgres, mariadb, spark)

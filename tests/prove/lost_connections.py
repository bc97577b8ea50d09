"""A database ends the connections of a run in its middle: the old table is there or the new."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg

from prove.databases import mariadb_table, open_mariadb, postgres_table
from prove.replacing import replacing
from prove.tables import Store
from prove.trial import Failed, Kind, Trial

RECORDS, RUNS = 600, 6
STAGED = ("shoal_staged_", "shoal_replaced_")
"""How the tables are named that a run makes beside the output."""


@dataclass(frozen=True)
class Server:
    """A database, and what its administrator does: see connections, end them, list tables."""

    name: str
    table: Callable[[], Store]
    ask: Callable[[str], list[tuple[Any, ...]]]
    others: str
    end: str
    tables: str

    def end_all(self) -> int:
        """End all connections but the one that asks; how many these were."""
        found = self.ask(self.others)
        for (number,) in found:
            self.ask(self.end.format(number))
        return len(found)


def attack(trial: Trial) -> None:
    """Release from a file into a table, again and again, and end the connections at random."""
    rng = trial.rng
    server = rng.choice(_servers(trial))
    made = replacing(rng, trial.folder, RECORDS, output=server.table())
    for _ in range(RUNS):
        moment = rng.uniform(0.2, 1.0) * made.seconds
        ended: list[int] = []
        timer = threading.Timer(moment, lambda found=ended: found.append(server.end_all()))
        timer.start()
        made.accident(f"{server.name} ended connections after {moment:.3f} s", made.command)
        timer.cancel()
        timer.join()
        trial.seen[f"connections to {server.name} ended"] += sum(ended)
        trial.seen["runs that failed"] += made.ended != 0
        made.settle(made.other, after="a lost connection")
        if strays := [name for (name,) in server.ask(server.tables) if name.startswith(STAGED)]:
            raise Failed(f"the next run leaves the tables {strays}")


def _servers(trial: Trial) -> list[Server]:
    found, (postgres, mariadb) = [], (trial.services.postgres, trial.services.mariadb)
    if postgres is not None:
        found.append(
            Server(
                "PostgreSQL",
                lambda: postgres_table(postgres),
                lambda query: _ask_postgres(postgres, query),
                "SELECT pid FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
                "SELECT pg_terminate_backend({})",
                "SELECT tablename FROM pg_tables",
            )
        )
    if mariadb is not None:
        found.append(
            Server(
                "MariaDB",
                lambda: mariadb_table(mariadb),
                lambda query: _ask_mariadb(mariadb, query),
                "SELECT id FROM information_schema.processlist "
                "WHERE id <> connection_id() AND user = 'shoal'",
                "KILL {}",
                "SELECT table_name FROM information_schema.tables",
            )
        )
    return found


def _ask_postgres(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


def _ask_mariadb(url: str, query: str) -> list[tuple[Any, ...]]:
    with open_mariadb(url) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


KIND = Kind(
    attack,
    tries=f"{RUNS} runs release into a table of PostgreSQL or MariaDB whose administrator ends "
    "their connections at a random moment",
    fails="the table is neither the old nor the new one, the run ends with a traceback, or the "
    "next whole run leaves a stray table or file",
    limits="connections are ended by the server at once; a network that only goes silent is not "
    "tried",
    needs=frozenset({"postgres"}),
    uses=frozenset({"postgres", "mariadb"}),
)

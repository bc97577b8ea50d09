"""The mass: random small tables released in memory or between CSV files, each one judged."""

from __future__ import annotations

from prove.files import csv_file
from prove.safety import FAILS, judge, problem, release_frame, release_table
from prove.trial import Kind, Trial


def attack(trial: Trial) -> None:
    """Release a frame, or now and then a CSV file, and judge what comes back.

    Local recoding looks for its groups quickly here: to judge them it does not matter how little
    they lose. One thread serves tables of this size as fast as two.
    """
    rng = trial.rng
    made, demands, keys = problem(rng)
    keys["engine"] = {"threads": 1}
    keys["search"] = {"threads": 1, "effort": "low"} if demands.local else {"threads": 1}
    if rng.random() < 0.85:
        source, release = release_frame(rng, made, keys)
    else:
        stores = [csv_file(trial.folder / f"{name}.csv") for name in ("in", "out")]
        source, release = release_table(trial, made, keys, stores[0], stores[1])
    judge(trial, demands, source, release)


KIND = Kind(
    attack,
    tries="a random typed table with random demands, as in safety, released with one thread as a "
    "frame in memory or from CSV to CSV: many more of them in the same time",
    fails=FAILS,
    limits="no other stores than frames and CSV; tables of at most 40 records",
    share=8,
)

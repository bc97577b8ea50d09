"""Runs are killed at random moments: the old output is there or the new one, whole."""

from __future__ import annotations

from random import Random

from prove.replacing import Replacing, replacing
from prove.trial import Kind, Trial

RECORDS = 2_000
KILLS = 12
"""Kills of one trial, which share a source and its two complete releases."""

KILLED = -9


def attack(trial: Trial) -> None:
    """Kill runs that replace the output, one after the other; now and then let one end.

    That one sweeps up what all those before it left.
    """
    rng = trial.rng
    made = replacing(rng, trial.folder, RECORDS)
    for number in range(1, KILLS + 1):
        _kill(trial, made, _moment(rng) * made.seconds)
        if number % 3 == 0:
            made.settle(made.other, after="kills")


def _moment(rng: Random) -> float:
    """When to kill, as a share of the time of a whole run: anywhere, or where it is published."""
    return rng.uniform(0.0, 1.0) if rng.random() < 0.5 else rng.uniform(0.8, 1.1)


def _kill(trial: Trial, made: Replacing, seconds: float) -> None:
    wanted = made.other
    made.accident(
        f"killed after {seconds:.3f} s",
        lambda name: made.command(name, kill_after=max(seconds, 0.001)),
    )
    if made.ended != KILLED:
        trial.seen["ended before its kill"] += 1
        return
    trial.seen["kills"] += 1
    trial.seen["of them after publishing"] += made.holds == wanted


KIND = Kind(
    attack,
    tries=f"{KILLS} runs of `shoal run` are killed with SIGKILL, each at a random moment: half of "
    "them anywhere, half near the end, where the output is published",
    fails="the output is neither the old nor the new one, or the next whole run leaves a stray "
    "file",
    limits="the process is killed, not the machine: what a disk loses with the power is not "
    "tried. Outputs are files and SQLite",
    share=3,
)

"""Two runs onto the same output at the same time: one after the other, or one is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from subprocess import CompletedProcess
from time import sleep

from prove.replacing import CLEAN, KS, replacing
from prove.trial import Failed, Kind, Trial

RECORDS, ROUNDS = 1_000, 3


def attack(trial: Trial) -> None:
    """Start both definitions with a random delay, and judge what lies there in the end."""
    rng = trial.rng
    made = replacing(rng, trial.folder, RECORDS)
    for _ in range(ROUNDS):
        later, delay = rng.choice(list(KS)), rng.uniform(0, 1) * made.seconds

        def start(name: str, later: str = later, delay: float = delay) -> CompletedProcess[str]:
            sleep(delay if name == later else 0)
            return made.command(name, result=f"{name}.json")

        with ThreadPoolExecutor(len(KS)) as threads:
            ended = dict(zip(KS, threads.map(start, KS), strict=True))
        bad = [done.stderr for done in ended.values() if done.returncode not in CLEAN]
        if bad or any("Traceback" in done.stderr for done in ended.values()):
            raise Failed(f"two runs at once: {bad}")
        released = [name for name, done in ended.items() if done.returncode == 0]
        trial.seen["pairs of runs"] += 1
        trial.seen["runs refused"] += len(KS) - len(released)
        if made.wholes.get(made.content()) not in (released or [made.holds]):
            raise Failed(
                f"two runs at once: {released} released, but the output is of none of them"
            )
        made.settle(rng.choice(list(KS)), after="two runs at once")


KIND = Kind(
    attack,
    tries=f"{ROUNDS} times two definitions release to the same output at the same time, one of "
    "them a little later",
    fails="the output in the end is of neither run, a run that was refused has written, one ends "
    "with a traceback, or the next whole run leaves a stray file",
    limits="two runs on one machine; folders that several machines share are not tried",
)

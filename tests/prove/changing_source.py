"""The source changes while a run reads it: a release of one state of it, or a refusal."""

from __future__ import annotations

import threading
from pathlib import Path

from prove.replacing import FILLER, SOURCE, replacing, write_source
from prove.trial import Kind, Trial

RECORDS, RUNS = 1_500, 5


def attack(trial: Trial) -> None:
    """Change the source at a random moment of a run, by a rename or in place."""
    rng, source = trial.rng, trial.folder / SOURCE
    made = replacing(rng, trial.folder, RECORDS)
    states = [source.read_bytes()]
    write_source(rng, source, RECORDS)
    states.append(source.read_bytes())
    made.learn()
    for _ in range(RUNS):
        before, after = rng.sample(states, 2)
        source.write_bytes(before)
        moment, in_place = rng.uniform(0, 1) * made.seconds, rng.random() < 0.5
        timer = threading.Timer(moment, _change, [source, after, in_place])
        timer.start()
        made.accident(f"the source changed after {moment:.3f} s", made.command)
        timer.join()
        trial.seen["changes of a source"] += 1
        trial.seen["runs refused"] += made.ended != 0
        made.settle(made.other, after="a change of the source")


def _change(source: Path, content: bytes, in_place: bool) -> None:
    if in_place:
        source.write_bytes(content)
        return
    fresh = source.parent / FILLER
    fresh.write_bytes(content)
    fresh.replace(source)


KIND = Kind(
    attack,
    tries=f"{RUNS} runs replace an output while their source, a CSV file, becomes another one at a "
    "random moment, by a rename or in place",
    fails="the output is of neither state of the source, the run ends with a traceback, or the "
    "next whole run leaves a stray file",
    limits="one change of one file in a run; both states have the same size and columns",
)

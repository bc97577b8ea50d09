"""The page that says what was tried, how often, and what it cannot show.

Beside the page is a file of the same name that ends with `.jsonl`: a line for each run. The page
adds them up, so that a week of short runs counts as much as a long one.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import shoal
from prove.tally import Tally
from prove.trial import Kind

INTRODUCTION = """# Reliability

`scripts/prove` attacks Shoal with random trials and counts what comes of them;
[Attacks on Shoal](internals/prove.md) says how. This page is written by
`scripts/prove --report docs/reliability.md`, which adds the numbers of each run to those before,
whatever they are. A trial is *declined* where Shoal gave a clear error in place of a release.
"""


def keep(page: Path, tallies: Sequence[Tally], seed: int, services: str) -> None:
    """Add a run to the file beside the page."""
    run = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "shoal": shoal.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "services": services,
        "seed": seed,
        "kinds": {
            each.kind: {
                "trials": each.trials,
                "failures": len(each.failures),
                "declined": each.declined.total(),
                "seconds": round(each.seconds),
                "seen": dict(sorted(each.seen.items())),
            }
            for each in tallies
        },
    }
    with page.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(run)}\n")


def write(page: Path, kinds: Mapping[str, Kind]) -> None:
    """Write the page, from all runs in the file beside it."""
    lines = page.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    parts = [INTRODUCTION, _totals(runs, kinds), _runs(runs)]
    page.write_text(
        "\n".join([*parts, *(_about(name, kind) for name, kind in kinds.items())]),
        encoding="utf-8",
    )


def _totals(runs: Sequence[Mapping[str, Any]], kinds: Mapping[str, Kind]) -> str:
    lines = [
        f"## Counted until {runs[-1]['date']}",
        "",
        "| kind | trials | failures | declined | counted in the trials |",
        "|---|---:|---:|---:|---|",
    ]
    for name in kinds:
        found = [run["kinds"][name] for run in runs if name in run["kinds"]]
        numbers = [
            f"{sum(each[n] for each in found):,}" for n in ("trials", "failures", "declined")
        ]
        seen: Counter[str] = sum((Counter(each["seen"]) for each in found), Counter())
        counted = ", ".join(f"{count:,} {what}" for what, count in seen.most_common())
        lines.append(f"| [{name}](#{name}) | {' | '.join(numbers)} | {counted} |")
    return "\n".join([*lines, ""])


def _runs(runs: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "## The runs",
        "",
        "| date | Shoal | Python | with | seeds from | minutes | trials | failures |",
        "|---|---|---|---|---:|---:|---:|---:|",
    ]
    for run in runs:
        kinds = run["kinds"].values()
        trials, failures = (sum(each[what] for each in kinds) for what in ("trials", "failures"))
        minutes = sum(each["seconds"] for each in kinds) / 60
        cells = [
            *(run["date"], run["shoal"], f"{run['python']}, {run['system']}"),
            *(run["services"] or "files alone", str(run["seed"])),
            *(f"{minutes:.0f}", f"{trials:,}", f"{failures:,}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _about(name: str, kind: Kind) -> str:
    said = {"A trial": kind.tries, "It fails where": kind.fails, "Limits": kind.limits}
    return "\n".join(
        [f"## {name}", "", *(f"- **{what}:** {text}." for what, text in said.items()), ""]
    )

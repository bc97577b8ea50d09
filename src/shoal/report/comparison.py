"""The report of a comparison: a table of strategies and the loss over time; text, JSON, HTML."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.engines.local_files import write_whole
from shoal.report.drawing import NOTHING, Line, chart, plain_chart
from shoal.report.render import html_page, plain_section
from shoal.report.result import finite
from shoal.report.sections import Section

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.values import Comparison, Trial

HEADING = ("strategy", "loss", "proved", "gap", "suppressed", "nodes checked", "time", "memory")


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write it in one step, in the form that the ending of the path says."""
    form = {".txt": text, ".json": document}.get(path.suffix.lower(), page)
    write_whole(form(comparison), path)


def table(comparison: Comparison) -> Section:
    """A row for each strategy, the best first."""
    return Section(
        "",
        heading=HEADING,
        rows=tuple(_row(trial) for trial in comparison.trials),
        numbers=(1, 3, 4, 5, 6, 7),
    )


def text(comparison: Comparison) -> str:
    """Plain text: what was searched, the table, the chart."""
    return "\n".join(
        (
            f"{_title(comparison)}\n{_about(comparison)}\n",
            *plain_section(table(comparison)),
            "\nLoss over time",
            *plain_chart(_lines(comparison)),
            "",
        )
    )


def document(comparison: Comparison) -> str:
    """JSON: every trial with its curve, infinity as null."""
    return json.dumps(finite(dataclasses.asdict(comparison)), indent=2, ensure_ascii=False) + "\n"


def page(comparison: Comparison) -> str:
    """One HTML page that needs no other file."""
    lines = _lines(comparison)
    over_time = Section("Loss over time", (f"{NOTHING.capitalize()}.",))
    if lines:
        drawn = chart(lines, "Best loss of each strategy", "A line falls at each better solution.")
        said = "Each line falls when its strategy finds a better solution."
        over_time = Section("Loss over time", (said,), pictures=(drawn,))
    about = Section("What was compared", (_about(comparison),))
    return html_page(
        _title(comparison), (about, replace(table(comparison), title="Results"), over_time)
    )


def _title(comparison: Comparison) -> str:
    return f"Strategies compared on {comparison.source}"


def _about(comparison: Comparison) -> str:
    limit = "" if comparison.time_limit is None else f", at most {comparison.time_limit:g} s each"
    return (
        f"{comparison.records:,} records, {comparison.tuples:,} distinct tuples, "
        f"{comparison.lattice:,} nodes; {comparison.loss_model} loss{limit}."
    )


def _row(trial: Trial) -> tuple[str, ...]:
    found = trial.loss is not None
    return (
        trial.strategy,
        f"{trial.loss:.6f}" if trial.loss is not None else trial.ended,
        "yes" if trial.proved else "no",
        f"{trial.gap:.2%}" if found else "",
        f"{trial.suppressed:,}" if found else "",
        f"{trial.checked:,}",
        f"{trial.seconds:.2f} s",
        "" if trial.memory is None else f"{trial.memory / 2**20:.0f} MiB",
    )


def _lines(comparison: Comparison) -> list[Line]:
    return [
        Line(trial.strategy, trial.curve, trial.seconds)
        for trial in comparison.trials
        if trial.curve
    ]

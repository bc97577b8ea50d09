"""Strategies side by side: one table, and the loss over time, as text, JSON and HTML."""

from __future__ import annotations

import dataclasses
import json
from html import escape
from typing import TYPE_CHECKING

from shoal.report.answers import Section
from shoal.report.chart import Line, plain_chart, svg_chart
from shoal.report.html import STYLE, sections
from shoal.report.plain import plain
from shoal.report.result import finite
from shoal.report.write import write_whole

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
            *plain(table(comparison)),
            "\nLoss over time",
            *plain_chart(_lines(comparison)),
            "",
        )
    )


def document(comparison: Comparison) -> str:
    """JSON: every trial with its curve, infinity as null."""
    return json.dumps(finite(dataclasses.asdict(comparison)), indent=2, ensure_ascii=False) + "\n"


def page(comparison: Comparison) -> str:
    """One HTML page without anything from outside."""
    name = escape(_title(comparison))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title>"
        f"<style>body{{margin:2rem auto;padding:0 1.5rem;max-width:60rem}}{STYLE}"
        ".shoal{max-width:60rem}.shoal td,.shoal th{white-space:nowrap}</style></head>"
        f'<body><div class="shoal"><h1>{name}</h1><p>{escape(_about(comparison))}</p>'
        f"{sections([table(comparison)])}<h2>Loss over time</h2>"
        f"{svg_chart(_lines(comparison))}</div></body></html>\n"
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

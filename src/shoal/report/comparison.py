"""The report of a comparison: a table of strategies and the loss over time; text, JSON, HTML."""

from __future__ import annotations

import dataclasses
import json
from html import escape
from typing import TYPE_CHECKING

from shoal.report.chart import Line, plain_chart, svg_chart
from shoal.report.render import html_page, html_sections, plain_section
from shoal.report.result import finite
from shoal.report.sections import Section
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
    body = (
        f"<p>{escape(_about(comparison))}</p>{html_sections([table(comparison)])}"
        f"<h2>Loss over time</h2>{svg_chart(_lines(comparison))}"
    )
    style = ".shoal{max-width:60rem}.shoal td,.shoal th{white-space:nowrap}"
    return html_page(_title(comparison), body, width=60, style=style)


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

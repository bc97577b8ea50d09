"""The summary at the end of a run: is it safe, what was lost, what was done, where is the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.report.text import lost, safety, warnings, where

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.values import Result


def show(result: Result, *, json: str | None = None, report: Path | None = None) -> None:
    """Print the summary on standard output; names and labels are text, never markup."""
    console = Console(highlight=False)
    style = "bold green" if result.verified else "bold red"
    whole_lines = not console.is_terminal
    console.print()
    console.print(Text(safety(result), style=style), soft_wrap=whole_lines)
    for line in warnings(result):
        console.print(Text(f"Warning: {line}", style="yellow"), soft_wrap=whole_lines)
    for line in lost(result):
        console.print(Text(line), soft_wrap=whole_lines)
    console.print()
    console.print(_treatments(result))
    console.print()
    console.print(Text.assemble("Release: ", (where(result), "bold")), soft_wrap=True)
    if json is not None:
        console.print(Text(f"Result:  {json}"), soft_wrap=True)
    if report is not None:
        console.print(Text(f"Report:  {report}"), soft_wrap=True)


def _treatments(result: Result) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("attribute", overflow="fold")
    table.add_column("level", justify="right", no_wrap=True)
    table.add_column("values look like", overflow="fold")
    table.add_column("loss", justify="right", no_wrap=True)
    for name, treatment in result.treatments.items():
        example = Text(treatment.example)
        if treatment.proposed:
            example.append(" (proposed hierarchy)", style="dim")
        level = f"{treatment.level} of {treatment.height}"
        table.add_row(Text(name), level, example, f"{treatment.loss:.1%}")
    return table

"""What every experiment shares: its command line, its result files and its charts."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib as mpl
from benchmarks.box import DATA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
STYLE: Mapping[Any, Any] = {
    "svg.hashsalt": "shoal",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


Value: TypeAlias = "int | float | str | list[str]"
"""A number or a word that the page docs/seeds.md quotes."""


@dataclass(frozen=True)
class Outcome:
    """What an experiment shows: tables, charts of the same numbers, and why they differ if so.

    `values` are the numbers that statements.py and the page quote, by name.
    """

    lines: Sequence[str]
    figures: Mapping[str, Figure]
    note: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Experiment:
    """A question to a paper's claim; `run(quick)` answers it.

    One that `needs_data` reads tables that are not part of the repository. `charts` are the names
    of its charts.
    """

    name: str
    question: str
    run: Callable[[bool], Outcome]
    charts: tuple[str, ...]
    needs_data: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """What a run saves: the tables as text, the values for the page, the charts."""
        return (f"{self.name}.txt", f"{self.name}.json", *(f"{each}.svg" for each in self.charts))

    def report(self, *, quick: bool, output: Path | None) -> tuple[str, ...]:
        """Run, save the result files and the charts where `output` says, and return the lines."""
        with mpl.rc_context(dict(STYLE)):
            outcome = self.run(quick)
            note = textwrap.wrap(" ".join(outcome.note.split()), 100, break_on_hyphens=False)
            lines = (self.question, "", *outcome.lines, "", *note, machine())
            if output is not None:
                output.mkdir(parents=True, exist_ok=True)
                text = "\n".join(lines) + "\n"
                (output / f"{self.name}.txt").write_text(text, encoding="utf-8")
                saved = json.dumps(dict(outcome.values), indent=1, ensure_ascii=False)
                (output / f"{self.name}.json").write_text(saved + "\n", encoding="utf-8")
                for name in self.charts:
                    outcome.figures[name].savefig(
                        output / f"{name}.svg",
                        format="svg",
                        bbox_inches="tight",
                        metadata={"Date": None},
                    )
        return lines

    def lacks(self) -> str | None:
        """What is not there to run it, None where it can run."""
        if not self.needs_data or DATA.is_dir():
            return None
        return f"{self.name}: left out, no tables in {DATA}; SHOAL_DATA names their folder"

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """The command line of one experiment."""
        options = command_line(self.question).parse_args(arguments)
        if (absent := self.lacks()) is not None:
            raise SystemExit(absent)
        for line in self.report(quick=options.quick, output=folder_of(options)):
            print(line)


def machine() -> str:
    """What the numbers were measured on, and how busy it was."""
    load = os.getloadavg()[0]
    return f"(Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f})"


def command_line(question: str) -> argparse.ArgumentParser:
    """The options that every experiment has."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--quick", action="store_true", help="small cases only, nothing saved")
    parser.add_argument("--output", type=Path, help="where to save (benchmarks/seeds/results)")
    return parser


def folder_of(options: argparse.Namespace) -> Path | None:
    """Where to save: what was asked for; else the results, which a quick run leaves alone."""
    chosen: Path | None = options.output
    return chosen or (None if options.quick else RESULTS)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    cells = [[*head], *([cell(each) for each in row] for row in rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
    return [
        "  ".join(
            text.ljust(width) if j == 0 else text.rjust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def cell(value: object) -> str:
    """A value of a table: numbers with separators, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return str(value)


@dataclass
class ProgressBar:
    """A bar on standard error that says how much of an experiment is done."""

    title: str
    total: int
    done: int = 0

    def step(self, count: int = 1) -> None:
        """So much more is done."""
        self.done += count
        filled = 30 * self.done // max(self.total, 1)
        bar = "#" * filled + "." * (30 - filled)
        end = "\n" if self.done >= self.total else ""
        print(f"\r{self.title} [{bar}] {self.done:,}/{self.total:,}", end=end, file=sys.stderr)

"""`shoal plugins`: which parts are installed that definitions can name, and who brought them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

EXAMPLES = """
\b
Examples:
  shoal plugins
  shoal plugins --json

A part that cannot be used is listed with the reason. `attributes.<name>.privacy` of a definition
takes the name of a privacy model, `loss` that of a loss, `search.strategy` that of a strategy,
`attributes.<name>.hierarchy` that of a builder, `source.format` and `output.format` those of a
reader and a writer.
"""


@dataclass(frozen=True)
class Row:
    """A line of the list: a part, what it says it is, and what keeps it from being used."""

    kind: str
    name: str
    summary: str
    distribution: str
    version: str
    reference: str
    problem: str | None


def plugins(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON on standard output.")
    ] = False,
) -> None:
    """List the parts that definitions can name: models, losses, strategies, builders, formats."""
    rows = found()
    if as_json:
        _print_json(rows)
    else:
        _print_table(rows)


plugins.__doc__ = f"{plugins.__doc__}\n{EXAMPLES}"


def found() -> list[Row]:
    """Every installed part; one that is broken, or whose name is taken twice, has a problem."""
    from shoal.errors import MissingExtra
    from shoal.plugins import GROUPS, installed, summary

    rows = []
    for kind in GROUPS:
        parts = installed(kind)
        names = [part.name for part in parts]
        for part in parts:
            said, problem = "", None
            try:
                said = summary(part)
            except MissingExtra as error:
                problem = error.what
            if problem is None and names.count(part.name) > 1:
                problem = f"{names.count(part.name)} distributions bring a part of this name"
            brought = (part.distribution, part.version, part.reference)
            rows.append(Row(kind, part.name, said, *brought, problem))
    return rows


def _print_json(rows: list[Row]) -> None:
    import dataclasses

    from shoal.cli.terminal import print_json

    print_json([dataclasses.asdict(row) for row in rows])


def _print_table(rows: list[Row]) -> None:
    """A table for each distribution that brought some."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for origin in dict.fromkeys(map(_origin, rows)):
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, width=8)
        table.add_column(no_wrap=True, min_width=max(len(row.name) for row in rows))
        table.add_column()
        for row in rows:
            if _origin(row) == origin:
                what = Text(row.problem, style="red") if row.problem else Text(row.summary)
                table.add_row(Text(row.kind), Text(row.name), what)
        console.print(Text(f"From {origin}", style="bold"))
        console.print(table)
        console.print()


def _origin(row: Row) -> str:
    return f"{row.distribution} {row.version}".rstrip()

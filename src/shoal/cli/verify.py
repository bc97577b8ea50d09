"""`shoal verify`: is a release safe? Judged from the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.values import Verdict

EXAMPLES = """
\b
Examples:
  shoal verify release.csv --definition patients.yaml
  shoal verify release.csv --definition patients.yaml --result result.json
  shoal verify release.csv --definition patients.yaml --records 20000 --json

Exit codes: 0 safe; 2 the definition or a file is wrong; 4 not safe.
"""


def verify(
    release: Annotated[Path, typer.Argument(help="The release: CSV, Parquet or JSON.")],
    definition: Annotated[
        Path, typer.Option("--definition", "-d", help="The definition it must meet.")
    ],
    result: Annotated[
        Path | None,
        typer.Option(help="The result of the run: its levels and numbers are checked too."),
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=0, help="Records of the source, where it cannot be read any more."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdict as JSON on standard output.")
    ] = False,
) -> None:
    """Count a release afresh and say whether it is safe: columns, levels, classes, suppression."""
    from shoal.definition.read import read
    from shoal.verify.file import verify_file
    from shoal.verify.stated import read_stated

    stated = None if result is None else read_stated(result)
    verdict = verify_file(read(definition), release, stated=stated, records=records)
    if as_json:
        _print_json(verdict)
    else:
        _print_table(verdict, release)
    if not verdict.safe:
        raise typer.Exit(4)


verify.__doc__ = f"{verify.__doc__}\n{EXAMPLES}"


def _print_json(verdict: Verdict) -> None:
    import dataclasses
    import json

    fields = {"safe": verdict.safe, **dataclasses.asdict(verdict)}
    typer.echo(json.dumps(fields, indent=2, ensure_ascii=False))


def _print_table(verdict: Verdict, release: Path) -> None:
    """The answer, then each finding; labels are printed as text, never as markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if verdict.safe:
        console.print(Text(f"Yes: {release} is safe.", style="bold green"), soft_wrap=True)
    else:
        console.print(Text(f"No: {release} is not safe.", style="bold red"), soft_wrap=True)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("finding", no_wrap=True)
    table.add_column("holds")
    table.add_column("what was seen", overflow="fold")
    for finding in verdict.findings:
        holds = Text("yes", style="green") if finding.holds else Text("no", style="bold red")
        table.add_row(Text(finding.name), holds, Text(finding.saw))
    console.print(table)

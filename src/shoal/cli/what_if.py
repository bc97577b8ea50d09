"""`shoal what-if`: what would a level less change, or a percent more of suppression?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

EXAMPLES = """
\b
Examples:
  shoal what-if patients.yaml
  shoal what-if patients.yaml --node birth=2,sex=0,zip=3 --json what-if.json

Without --node the questions are about the optimum. Each one is a search of its own, and the time
limit holds for each. Nothing is released.
Exit codes: 0 answered; 2 the definition, the data or an option is wrong; 3 no node is safe.
"""


def what_if(
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    node: Annotated[
        list[str] | None,
        typer.Option("--node", help="Levels by name, as in birth=2,zip=3; else the optimum."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop each search after, such as 30s or 5min.")
    ] = None,
    recoding: Recoding = None,
    json: Annotated[
        str | None, typer.Option(help="Write the answers as JSON here; - for standard output.")
    ] = None,
) -> None:
    """Say what each column at one level less would cost, and what more suppression would buy."""
    from shoal.analysis.what_if import what_if as ask
    from shoal.cli.solutions import read_definition
    from shoal.cli.terminal import progress_of, show_answer
    from shoal.steps.choosing import parse_levels

    levels = None if node is None else parse_levels(node)
    loaded = read_definition(definition, {"JSON": json}, time_limit, recoding)
    with progress_of(f"Reading {loaded.source.shown}") as display:
        found = ask(loaded, levels, watch=display.say, file=str(definition))
    show_answer(found, json)


what_if.__doc__ = f"{what_if.__doc__}\n{EXAMPLES}"

"""`shoal frontier`: what does each k cost, and each suppression limit?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

EXAMPLES = """
\b
Examples:
  shoal frontier patients.yaml --k 2:50 --suppression 0,1,5,10%
  shoal frontier patients.yaml --k 2,5,10 --suppression 0,0.01 --json grid.json
  shoal frontier patients.yaml --k 2:30 --svg frontier.svg --time-limit 5min

With a % anywhere, all numbers of --suppression are percent; else they are shares below 1.
A time limit or Ctrl-C ends the work early; what is proved by then is shown and written.
Exit codes: 0 done; 2 the definition, the data or an option is wrong; 130 interrupted.
"""


def frontier(
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    k: Annotated[str, typer.Option(help="Numbers such as 2,5,10 or 2:50.")] = "2,3,5,10,20,50",
    suppression: Annotated[
        str | None,
        typer.Option(help="Such as 0,1,5,10% or 0,0.01; else what the definition allows."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop after, such as 30s or 5min, in all.")
    ] = None,
    recoding: Recoding = None,
    json: Annotated[
        str | None, typer.Option(help="Write the points as JSON here; - for standard output.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a chart here.")] = None,
) -> None:
    """Find the least loss for a grid of k and suppression limits; nothing is released."""
    from shoal.analysis.frontier import frontier as solve
    from shoal.cli.solutions import raise_if_interrupted, read_definition
    from shoal.cli.terminal import progress_of, show_answer

    loaded = read_definition(definition, {"JSON": json, "picture": svg}, time_limit, recoding)
    with progress_of(f"Reading {loaded.source.shown}") as display:
        found = solve(loaded, k, suppression, watch=display.say, file=str(definition))
    if svg is not None:
        found.plot().save(svg)
    show_answer(found, json, [svg])
    raise_if_interrupted(found.ended)


frontier.__doc__ = f"{frontier.__doc__}\n{EXAMPLES}"

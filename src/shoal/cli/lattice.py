"""`shoal lattice`: every node, what it protects and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

EXAMPLES = """
\b
Examples:
  shoal lattice patients.yaml
  shoal lattice patients.yaml --svg lattice.svg --csv lattice.csv
  shoal lattice patients.yaml --near-optimum --json near.json

The k of a node is that of its smallest class with nothing suppressed. The picture shows all nodes
where they fit, else those around the least lossy safe node.
Exit codes: 0 listed; 2 the definition, the data or an option is wrong, or the lattice too large.
"""


def lattice(
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    near_optimum: Annotated[
        bool,
        typer.Option(
            "--near-optimum", help="Count only the nodes around the least lossy safe one."
        ),
    ] = False,
    at_most: Annotated[
        int, typer.Option(min=1, help="Refuse to count a lattice of more nodes than this.")
    ] = 20_000,
    recoding: Recoding = None,
    json: Annotated[
        str | None, typer.Option(help="Write the nodes as JSON here; - for standard output.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the nodes as CSV here.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a picture of the lattice here.")] = None,
) -> None:
    """List every node with its k, suppressed records, precision and loss; nothing is released."""
    from shoal.analysis.lattice import lattice as count_nodes
    from shoal.cli.solutions import read_definition
    from shoal.cli.terminal import progress_of, show_answer
    from shoal.engines.local_files import write_whole

    written = {"JSON": json, "CSV": csv, "picture": svg}
    loaded = read_definition(definition, written, recoding=recoding)
    with progress_of(f"Reading {loaded.source.shown}") as display:
        found = count_nodes(
            loaded,
            near_optimum=near_optimum,
            at_most=at_most,
            watch=display.say,
            file=str(definition),
        )
    if csv is not None:
        write_whole(found.to_csv(), csv)
    if svg is not None:
        found.plot().save(svg)
    show_answer(found, json, [csv, svg])


lattice.__doc__ = f"{lattice.__doc__}\n{EXAMPLES}"

"""`shoal solutions`: which safe nodes are there beside the best one?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import Definition

EXAMPLES = """
\b
Examples:
  shoal solutions patients.yaml
  shoal solutions patients.yaml --best 50 --json best.json
  shoal solutions patients.yaml --minimal --time-limit 60s

The best nodes are proved to be the best. Minimal nodes are all safe nodes with no safe one below.
A time limit or Ctrl-C ends the search early; what is proved by then is shown and written.
Exit codes: 0 listed; 2 the definition, the data or an option is wrong; 3 no node is safe;
130 interrupted.
"""


def solutions(
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    best: Annotated[
        int | None, typer.Option(min=1, help="List so many of the least lossy safe nodes.")
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="List all safe nodes with no safe node below.")
    ] = False,
    at_most: Annotated[
        int, typer.Option(min=1, help="Stop when more minimal nodes than this are found.")
    ] = 1000,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop the search after, such as 30s or 5min.")
    ] = None,
    recoding: Recoding = None,
    json: Annotated[
        str | None, typer.Option(help="Write the nodes as JSON here; - for standard output.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a picture of the nodes here.")] = None,
) -> None:
    """List the least lossy safe nodes, or all minimal ones; nothing is released."""
    from shoal.analysis.solutions import solutions as find
    from shoal.cli.terminal import progress_of, show_answer

    if minimal and best is not None:
        raise typer.BadParameter("give --best or --minimal, not both")
    loaded = read_definition(definition, {"JSON": json, "picture": svg}, time_limit, recoding)
    with progress_of(f"Reading {loaded.source.shown}") as display:
        found = find(
            loaded,
            10 if best is None else best,
            minimal=minimal,
            at_most=at_most,
            watch=display.say,
            file=str(definition),
        )
    if svg is not None:
        found.plot().save(svg)
    show_answer(found, json, [svg])
    raise_if_interrupted(found.ended)


solutions.__doc__ = f"{solutions.__doc__}\n{EXAMPLES}"


def read_definition(
    path: Path,
    written: Mapping[str, str | Path | None],
    time_limit: str | None = None,
    recoding: str | None = None,
) -> Definition:
    """The definition, after it is sure that nothing that is written would overwrite another file.

    `time_limit` and `recoding` replace those of the definition. `written` are the files to write by
    what messages call them; - is standard output.
    """
    from shoal.definition.outputs import check_written
    from shoal.definition.read import override, read
    from shoal.engines.local_files import check_writable

    search = None if time_limit is None else {"time limit": time_limit}
    name = f"{path} with the options of the command"
    definition = override(read(path), {"search": search, "recoding": recoding}, name)
    files = {key: Path(to) for key, to in written.items() if to is not None and to != "-"}
    check_written(definition, str(path), files)
    for file in files.values():
        check_writable(file)
    return definition


def raise_if_interrupted(ended: str | None) -> None:
    """Let the command end as interrupted, after its results are written."""
    from shoal.errors import Interrupted

    if ended == "interrupted":
        raise Interrupted("interrupted; what was found until then is written", code="interrupted")

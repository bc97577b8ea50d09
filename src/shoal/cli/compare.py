"""`shoal compare`: strategies side by side on the user's own data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.events import Progress

EXAMPLES = """
\b
Examples:
  shoal compare patients.yaml
  shoal compare patients.yaml --strategies box,flash,ola --time-limit 30s
  shoal compare patients.yaml --strategies box,local
  shoal compare patients.yaml --json compared.json --report compared.html
"""


def compare(
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    strategies: Annotated[
        str, typer.Option(help="Names separated by commas, or `all`; `local` is local recoding.")
    ] = "all",
    time_limit: Annotated[
        str | None, typer.Option(help="Stop each search after, such as 30s or 5min.")
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write the comparison as JSON here; - for standard output.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report here: .html, .txt or .json.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Search the data of a definition with several strategies; nothing is released."""
    from shoal.cli.terminal import Display, json_file
    from shoal.comparing import compare as compare_strategies
    from shoal.definition.outputs import check_kept
    from shoal.definition.read import override, read
    from shoal.engines.local_files import check_writable
    from shoal.events import Phase
    from shoal.report.comparison import document, text, write_comparison
    from shoal.report.progress import standing

    files = [path for path in (json_file(json), report) if path]
    for path in files:
        check_writable(path)
    names = [] if strategies == "all" else [name.strip() for name in strategies.split(",")]
    search = None if time_limit is None else {"time limit": time_limit}
    file = f"{definition} with the options of the command"
    changed = override(read(definition), {"search": search}, file)
    for path in files:
        check_kept(changed, definition, path)
    with Display(quiet=quiet or json == "-") as display:

        def watch(strategy: str, event: Progress | None) -> None:
            if event is None:
                display.observe(Phase("search", f"by {strategy}"))
            else:
                display.say(f"Searching by {strategy}: {standing(event)}")

        compared = compare_strategies(changed, names, watch=watch)
    for path in files:
        write_comparison(compared, path)
    if json == "-":
        typer.echo(document(compared), nl=False)
    elif not quiet:
        typer.echo(text(compared), nl=False)
        for path in files:
            typer.echo(f"Written: {path}")


compare.__doc__ = f"{compare.__doc__}\n{EXAMPLES}"

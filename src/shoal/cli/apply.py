"""`shoal apply`: recode new records as an earlier release was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shoal.applying.applied import Applied

EXAMPLES = """
\b
Examples:
  shoal run january.yaml --transformation january.json
  shoal apply january.json february.csv -o february-release.csv
  shoal apply january.json february.csv -o new.csv --with release.csv --suppress-new
  shoal apply january.json "{url: postgresql://host/db, table: new}" -o new.parquet

DATA, the output and --with are paths, or in braces what a definition says of a source or an output.

\b
Exit codes:
  0    released and verified
  2    the transformation, the data or an option is wrong: nothing is released
  3    classes of new records do not meet the demands: nothing is released
  4    the verifier refused, or a warning in a strict definition: nothing is released
  130  interrupted: nothing is released
"""


def apply(
    transformation: Annotated[
        Path, typer.Argument(help="The file that `shoal run --transformation` wrote.")
    ],
    data: Annotated[str, typer.Argument(help="The new records: a path or glob, or a location.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Write the release here.")],
    release: Annotated[
        str | None,
        typer.Option("--with", help="An earlier release, in whose classes new records may hide."),
    ] = None,
    suppress_new: Annotated[
        bool,
        typer.Option(
            "--suppress-new",
            help="Suppress unknown values and small classes, as far as the limit allows.",
        ),
    ] = False,
    json: Annotated[
        str | None, typer.Option(help="Write the result as JSON here; - for standard output.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Recode new records with the levels and labels of an earlier release, and verify them."""
    from shoal.applying.apply import apply as run_apply
    from shoal.cli.interrupts import Interrupts
    from shoal.cli.terminal import Display, json_file, print_json, save_json
    from shoal.errors import after_publishing

    quiet = quiet or json == "-"
    result = json_file(json)
    new, target = _location(data), _location(output)
    earlier = None if release is None else _location(release)
    if result is not None:
        _check_result(transformation, new, target, earlier, result)
    with Interrupts() as interrupts, Display(quiet=quiet) as display:
        with interrupts.release(display.observe, lambda: _remove_leftovers(target)) as observe:
            applied = run_apply(
                transformation,
                new,
                target,
                release=earlier,
                suppress_new=suppress_new,
                observe=observe,
            )
        with after_publishing(applied.result.output):
            if result is not None:
                save_json(result, applied.to_dict())
            elif json is not None:
                print_json(applied.to_dict())
    if not quiet:
        _show(applied, json)


apply.__doc__ = f"{apply.__doc__}\n{EXAMPLES}"


def _location(text: str) -> Any:
    """A path, or what a definition says in braces."""
    if not text.startswith("{"):
        return text
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        raise typer.BadParameter(
            "what is in braces cannot be read; write for example "
            '"{url: postgresql://host/db, table: new}"'
        )
    return found


def _check_result(transformation: Path, data: Any, output: Any, release: Any, result: Path) -> None:
    """Refuse, before anything is read, a result that would overwrite what is read or written."""
    from shoal.applying.opening import check_result
    from shoal.engines.local_files import check_writable

    check_writable(result)
    check_result(transformation, data, output, release, result)


def _remove_leftovers(output: Any) -> None:
    """Remove the temporary files of this process beside the output."""
    from shoal.engines.local_files import sweep_own

    path = output.get("path") if isinstance(output, dict) else output
    if isinstance(path, str):
        sweep_own(Path(path).resolve().parent, None)


def _show(applied: Applied[Any], json: str | None) -> None:
    """The summary of the release, and what holds of it beyond a run."""
    from shoal.cli.terminal import show_result

    show_result(applied.result, json=json)
    for line in applied.notes():
        typer.echo(line)

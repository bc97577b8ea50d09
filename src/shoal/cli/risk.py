"""`shoal risk`: how likely are people recognised, before and after a release?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.analysis.before_after import RiskReport
    from shoal.analysis.keys import Identifying

EXAMPLES = """
\b
Examples:
  shoal risk patients.yaml
  shoal risk patients.csv --qi zip,birth,sex --fraction 0.01
  shoal risk patients.yaml --population 83000000 --threshold 0.1 --json risk.json
  shoal risk sample.csv --qi zip,birth,sex --population-file everybody.csv

Without --qi the file is a definition: its source is measured, and its release where that is there.
Exit codes: 0 measured; 2 a file, a column or an option is wrong.
"""

MOST_SETS = 8
"""So many sets of columns are printed; JSON has them all."""


def risk(
    data: Annotated[str, typer.Argument(help="A definition, or with --qi a data file or glob.")],
    qi: Annotated[
        list[str] | None,
        typer.Option("--qi", help="Quasi-identifiers, separated by commas; may be repeated."),
    ] = None,
    missing_value: Annotated[
        list[str] | None,
        typer.Option("--missing-value", help="A text that means missing; may be repeated."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Records with a higher risk than this are at risk.")
    ] = 0.2,
    fraction: Annotated[
        float | None, typer.Option(help="The share of the population that the table is.")
    ] = None,
    population: Annotated[
        int | None, typer.Option(min=1, help="The number of people in the population.")
    ] = None,
    population_file: Annotated[
        Path | None, typer.Option(help="A file with the whole population, for the journalist.")
    ] = None,
    sets: Annotated[
        int, typer.Option(min=1, max=4, help="Measure sets of up to so many columns.")
    ] = 2,
    key_distinction: Annotated[
        float, typer.Option(help="Classes per record from which on a set of columns is a key.")
    ] = 1.0,
    json: Annotated[
        str | None, typer.Option(help="Write the measures as JSON here; - for standard output.")
    ] = None,
) -> None:
    """Measure how likely people are recognised: attackers, uniques, columns that identify."""
    from shoal.analysis.before_after import risk as measure
    from shoal.cli.output import print_json, save_json
    from shoal.cli.progress import progress_of

    if sum(given is not None for given in (fraction, population, population_file)) > 1:
        raise typer.BadParameter("give one of --fraction, --population and --population-file")
    names = [part.strip() for text in qi or () for part in text.split(",") if part.strip()]
    if not names and Path(data).suffix.lower() not in (".yaml", ".yml", ".json", ".xml"):
        raise typer.BadParameter("a data file needs its quasi-identifiers", param_hint="--qi")
    if json is not None and json != "-":
        _check_free(Path(json), data, population_file, is_definition=not names)
    with progress_of(f"Measuring {data}"):
        found = measure(
            data,
            names,
            missing_values=missing_value or (),
            threshold=threshold,
            fraction=fraction,
            population=population if population_file is None else population_file,
            largest_set=sets,
            key_distinction=key_distinction,
        )
    if json == "-":
        print_json(found.to_dict())
        return
    _print(found)
    if json is not None:
        save_json(Path(json), found.to_dict())
        typer.echo(f"\nWritten: {json}")


risk.__doc__ = f"{risk.__doc__}\n{EXAMPLES}"


def _check_free(
    path: Path, data: str, population_file: Path | None, *, is_definition: bool
) -> None:
    """Refuse, before anything is read, a file that cannot be written or would overwrite another."""
    from shoal.definition.overwriting import check_data_kept, check_written
    from shoal.definition.read import read
    from shoal.report.write import check_place

    check_place(path)
    if is_definition:
        check_written(read(data), data, {"result": path})
    else:
        check_data_kept(data, path)
    if population_file is not None:
        check_data_kept(str(population_file), path)


def _print(found: RiskReport) -> None:
    """The measures before and after, then the columns that identify."""
    from rich.console import Console
    from rich.text import Text

    from shoal.cli.output import table_of

    console = Console(highlight=False)
    console.print(Text(f"Risk of {found.before.name}", style="bold"), soft_wrap=True)
    heading = ("", "measured") if found.after is None else ("", "before", "after")
    console.print(table_of(heading, found.rows(), right=range(1, len(heading))))
    for reason in found.reasons():
        console.print(Text(f"Not available by {reason}."), soft_wrap=True)
    console.print()
    shown = found.before.attributes[:MOST_SETS]
    console.print(Text("Columns that tell records apart (of the source)", style="bold"))
    console.print(table_of(("columns", "distinction", "separation"), map(_row, shown), (1, 2)))
    keys = found.before.keys
    if keys.sets:
        console.print()
        what = f"Minimal keys: sets of columns with a distinction of at least {keys.least:.0%}"
        console.print(Text(what if keys.complete else f"{what} (some of them)", style="bold"))
        rows = map(_row, keys.sets[:MOST_SETS])
        console.print(table_of(("columns", "distinction", "separation"), rows, (1, 2)))
    if found.before.identifiers:
        console.print()
        console.print(Text("Columns that look like identifiers of persons", style="bold"))
        named = [(each.column, each.kind, each.why) for each in found.before.identifiers]
        console.print(table_of(("column", "kind", "because of"), named))


def _row(each: Identifying) -> tuple[str, ...]:
    return ", ".join(each.columns), f"{each.distinction:.4%}", f"{each.separation:.4%}"

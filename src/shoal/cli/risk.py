"""`shoal risk`: how likely are people recognised, before and after a release?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
\b
Examples:
  shoal risk patients.yaml
  shoal risk patients.csv --qi zip,birth,sex --fraction 0.01
  shoal risk patients.yaml --population 83000000 --threshold 0.1 --json risk.json
  shoal risk sample.csv --qi zip,birth,sex --population-file everybody.csv
  shoal risk visits.csv --qi zip,birth --person patient --sensitive diagnosis

Without --qi the file is a definition: its source is measured, and its release where that is there.
Exit codes: 0 measured; 2 a file, a column or an option is wrong.
"""


def risk(
    data: Annotated[str, typer.Argument(help="A definition, or with --qi a data file or glob.")],
    qi: Annotated[
        list[str] | None,
        typer.Option("--qi", help="Quasi-identifiers, separated by commas; may be repeated."),
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option("--person", help="Columns that identify a person, separated by commas."),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option("--sensitive", help="Columns nobody may learn, separated by commas."),
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
    """Measure how likely people are recognised: attackers, uniques, what columns disclose."""
    from shoal.analysis.before_after import risk as measure
    from shoal.cli.terminal import json_file, progress_of, show_answer

    if sum(given is not None for given in (fraction, population, population_file)) > 1:
        raise typer.BadParameter("give one of --fraction, --population and --population-file")
    names, persons, learned = _names(qi), _names(person), _names(sensitive)
    if (persons or learned) and not names:
        raise typer.BadParameter("a definition says --person and --sensitive itself")
    if not names and Path(data).suffix.lower() not in (".yaml", ".yml", ".json", ".xml"):
        raise typer.BadParameter("a data file needs its quasi-identifiers", param_hint="--qi")
    if (file := json_file(json)) is not None:
        _check_free(file, data, population_file, is_definition=not names)
    with progress_of(f"Measuring {data}"):
        found = measure(
            data,
            names,
            person=persons,
            sensitive=learned,
            missing_values=missing_value or (),
            threshold=threshold,
            fraction=fraction,
            population=population if population_file is None else population_file,
            largest_set=sets,
            key_distinction=key_distinction,
        )
    show_answer(found, json)


risk.__doc__ = f"{risk.__doc__}\n{EXAMPLES}"


def _names(texts: list[str] | None) -> list[str]:
    """The names in an option that may be repeated, separated by commas."""
    return [part.strip() for text in texts or () for part in text.split(",") if part.strip()]


def _check_free(
    path: Path, data: str, population_file: Path | None, *, is_definition: bool
) -> None:
    """Refuse, before anything is read, a file that cannot be written or would overwrite another."""
    from shoal.definition.outputs import check_data_kept, check_written
    from shoal.definition.read import read
    from shoal.engines.local_files import check_writable

    check_writable(path)
    if is_definition:
        check_written(read(data), data, {"result": path})
    else:
        check_data_kept(data, path)
    if population_file is not None:
        check_data_kept(str(population_file), path)

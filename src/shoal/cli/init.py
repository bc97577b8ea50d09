"""`shoal init`: a commented definition to start from."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.engines.duckdb.source import TableSource
    from shoal.engines.options import FileOptions

EXAMPLES = """
\b
Examples:
  shoal init patients.csv
  shoal init "parts/*.parquet" -o parts.yaml --k 10
  shoal init old.csv --encoding latin-1 --delimiter ";"

Look at every role before you run the definition: names and counts do not show what others know.
"""


def init(
    data: Annotated[
        str, typer.Argument(help="A path or glob of CSV, Parquet, JSON, XML or Excel.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The definition to write; named after the data by default."
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=2, help="The demand to write.")] = 5,
    delimiter: Annotated[str | None, typer.Option(help="What separates cells of a CSV.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="That of a CSV, such as latin-1; UTF-8 by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the definition.")] = False,
) -> None:
    """Write a commented definition with proposed roles and hierarchies to start from."""
    from shoal.cli.terminal import check_free, save
    from shoal.definition.outputs import check_data_kept
    from shoal.engines.options import FileOptions

    path = output or _named_after(data)
    check_data_kept(data, path)
    check_free(path, force=force)
    how = FileOptions(data, delimiter=delimiter, encoding=encoding)
    text = definition_for(how, path.parent, k)
    save(path, text, force=force)
    typer.echo(f"Wrote {path}. Look at every role in it, then: shoal run {path}")


init.__doc__ = f"{init.__doc__}\n{EXAMPLES}"


def definition_for(options: FileOptions, folder: Path, k: int) -> str:
    """The text of a definition, to stand in the folder, that reads the data in the same way."""
    from shoal.cli.terminal import progress_of
    from shoal.definition.draft import Draft, guess_all, missing_tokens, profile, write_draft
    from shoal.definition.draft_persons import repeated_persons, with_likeness
    from shoal.encode.propose import propose
    from shoal.engines.duckdb.files import open_files
    from shoal.engines.options import Resources

    with (
        progress_of(f"Reading {options.path}") as display,
        open_files(options, resources=Resources(on_progress=display.share)) as source,
    ):
        counts = _counts(source)
        tokens = missing_tokens(counts)

        def distinct(columns: Sequence[str], most: int) -> int:
            return source.count_distinct(columns, tokens, at_most=most)

        profiles = [profile(name, counted, tokens) for name, counted in counts.items()]
        profiles = with_likeness(profiles, counts, distinct)
        guesses = guess_all(profiles, propose)
        person = repeated_persons(guesses, distinct)
    release = _release_of(options.path, folder)
    return write_draft(Draft(_source(options, folder), release, k, tokens, person), guesses)


def _source(options: FileOptions, folder: Path) -> str | dict[str, str]:
    """The path from the folder; with what was stated, the long form."""
    path = os.path.relpath(options.path, folder)
    stated = {"delimiter": options.delimiter, "encoding": options.encoding}
    given = {key: value for key, value in stated.items() if value is not None}
    return {"path": path, **given} if given else path


def _counts(source: TableSource) -> dict[str, dict[str | None, int]]:
    """How many records have each value of each column, counted by the engine."""
    found = dict(source.count_each())
    if not any(found.values()):
        raise BadData(
            f"{source.name} has no records",
            code="no-records",
            hint="roles and hierarchies are proposed from the values; give a table with some",
        )
    return found


def _named_after(data: str) -> Path:
    """`patients.yaml` for `data/patients.csv.gz`; `definition.yaml` for a glob."""
    stem = Path(data).name.partition(".")[0]
    return Path(f"{stem}.yaml" if re.fullmatch(r"[\w -]+", stem) else "definition.yaml")


def _release_of(data: str, folder: Path) -> str:
    """A file for the release that the source does not read."""
    from shoal.definition.model import Files

    names = (f"{_named_after(data).stem}-release.csv", "release.parquet", "release.json")
    return next(name for name in names if not Files(path=data).reads(folder / name))

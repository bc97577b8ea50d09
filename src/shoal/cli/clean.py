"""`shoal clean`: remove what killed runs left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.definition.model import Definition

EXAMPLES = """
\b
Examples:
  shoal clean
  shoal clean releases/ --dry-run
  shoal clean patients.yaml

Staged outputs are looked for in the folder, spilled files in the folder for temporary files. A
definition names its output, which may be a table of a database or of Spark's catalog, and its
spill folder. What belongs to a running process stays.
"""


def clean(
    place: Annotated[Path, typer.Argument(help="A folder with outputs, or a definition.")] = Path(),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
    every_host: Annotated[
        bool,
        typer.Option("--all", help="Remove files of other hosts too, though they may be in use."),
    ] = False,
) -> None:
    """Remove staged and temporary files, folders and tables of runs that were killed."""
    if place.is_dir():
        lines = [*_files([place], dry_run, every_host)]
    else:
        from shoal.definition.read import read

        definition = read(place)
        lines = [*_files(_folders(definition), dry_run, every_host), *_tables(definition, dry_run)]
        lines += _objects(definition, dry_run)
    for line in lines:
        typer.echo(line)
    if not lines:
        typer.echo("Nothing is left behind.")


clean.__doc__ = f"{clean.__doc__}\n{EXAMPLES}"


def _folders(definition: Definition) -> list[Path]:
    """Where a run of the definition keeps files: beside its output, and in the spill folder."""
    from shoal.definition.model import OutputFile, OutputSpark, OutputTable
    from shoal.engines.local_files import file_of_url

    output = definition.output
    found = [definition.engine.spill_folder]
    if isinstance(output, OutputFile):
        found.append(output.path.resolve().parent)
    if isinstance(output, OutputTable) and (file := file_of_url(output.url)) is not None:
        found.append(file.parent)
    if isinstance(output, OutputSpark) and "/" in output.spark:
        found.append(Path(output.spark).parent)
    return [folder for folder in found if folder is not None and folder.is_dir()]


def _files(folders: list[Path], dry_run: bool, every_host: bool) -> Iterator[str]:
    """Remove files and folders; yields a line for each."""
    from shoal.engines.local_files import (
        FOLDER,
        HIDDEN,
        folders_with_backup,
        left_in,
        remove,
        restore_folder,
        temporary_folder,
    )

    for folder in folders:
        for path in folders_with_backup(folder):
            if not dry_run:
                restore_folder(path)
            yield f"{'would put back' if dry_run else 'put back'} {path}"
    temporary = temporary_folder()
    for folder in dict.fromkeys(folders if temporary is None else [*folders, temporary]):
        for beginning in (HIDDEN, FOLDER):
            for path in left_in(folder, beginning, every_host=every_host):
                if dry_run:
                    yield f"would remove {path}"
                else:
                    yield f"removed {path}" if remove(path) else f"cannot remove {path}"


def _tables(definition: Definition, dry_run: bool) -> Iterator[str]:
    """Drop staged tables of the database or catalog of the output; yields a line for each.

    A DuckDB file never has any.
    """
    from shoal.definition.model import OutputSpark, OutputTable
    from shoal.engines.local_files import is_duckdb
    from shoal.engines.options import without_password

    said, output = "would remove" if dry_run else "removed", definition.output
    if isinstance(output, OutputTable) and not is_duckdb(output.url):
        from shoal.engines.database import leftover_tables, remove_leftovers

        found = leftover_tables(output.url) if dry_run else remove_leftovers(output.url)
        yield from (f"{said} the table {name} of {without_password(output.url)}" for name in found)
    if isinstance(output, OutputSpark) and "/" not in output.spark:
        from shoal.engines.spark import left_tables

        found = left_tables(output.target(), remove=not dry_run)
        yield from (f"{said} the table {name} of Spark's catalog" for name in found)


def _objects(definition: Definition, dry_run: bool) -> Iterator[str]:
    """Remove hidden objects beside the object of the output; yields a line for each."""
    from shoal.definition.model import OutputObject
    from shoal.engines.object_store.store import orphans

    if isinstance(definition.output, OutputObject):
        for key in orphans(definition.output.path, remove=not dry_run):
            yield f"{'would remove' if dry_run else 'removed'} the object {key}"

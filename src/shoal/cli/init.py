"""`shoal init`: a commented definition to start from."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.addresses import (
    DATA,
    Address,
    Master,
    Query,
    Spark,
    Table,
    address_of,
    refuse_secrets,
)
from shoal.cli.file_options import Decimal, Header, Sheet, decimal_mark, header_row
from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.engines.base import Source
    from shoal.engines.options import FileOptions

EXAMPLES = """
\b
Examples:
  shoal init patients.csv
  shoal init "parts/*.parquet" -o parts.yaml --k 10
  shoal init old.csv --encoding latin-1 --delimiter ";"
  shoal init patienten.xlsx --sheet Daten --header 3 --decimal ","
  shoal init sqlite:///clinic.db --table visits
  shoal init registry.visits --spark

Look at every role before you run the definition: names and counts do not show what others know.
"""


def init(
    data: Annotated[str, typer.Argument(help=DATA)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The definition to write; named after the data by default."
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=2, help="The demand to write.")] = 5,
    table: Table = None,
    query: Query = None,
    spark: Spark = False,
    master: Master = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates cells of a CSV.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="That of a CSV, such as latin-1; UTF-8 by default.")
    ] = None,
    header: Header = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the definition.")] = False,
) -> None:
    """Write a commented definition with proposed roles and hierarchies to start from."""
    from shoal.cli.terminal import check_free, save
    from shoal.definition.outputs import check_data_kept

    address = address_of(
        data,
        table=table,
        query=query,
        spark=spark,
        master=master,
        delimiter=delimiter,
        encoding=encoding,
        header=header_row(header),
        decimal=decimal_mark(decimal),
        options={} if sheet is None else {"sheet": sheet},
    )
    refuse_secrets(address)
    path = output or _named_after(address)
    if address.is_files:
        check_data_kept(data, path)
    check_free(path, force=force)
    found = drafted(address, path.parent, k)
    save(path, found.text, force=force)
    for sentence in found.notes:
        typer.echo(sentence)
    typer.echo(f"Wrote {path}. Look at every role in it, then: shoal run {shlex.quote(str(path))}")


init.__doc__ = f"{init.__doc__}\n{EXAMPLES}"


@dataclass(frozen=True)
class Drafted:
    """The text of a definition, and what its author should know at once."""

    text: str
    notes: tuple[str, ...]


def drafted(address: Address, folder: Path, k: int) -> Drafted:
    """A definition, to stand in the folder; how the data is read is guessed where not stated."""
    from shoal.cli.terminal import progress_of
    from shoal.definition.draft import Draft, guess_all, profile, write_draft
    from shoal.definition.draft_persons import repeated_persons, with_likeness
    from shoal.encode.propose import propose
    from shoal.engines.opening import open_source
    from shoal.engines.options import FileOptions, Resources
    from shoal.spellings import FIRST, missing_spellings

    options = address.location.options()
    stated: str | dict[str, Any] = address.stated
    reading: tuple[str, ...] = ()
    if isinstance(options, FileOptions):
        keys, reading = _reading(options)
        options, stated = replace(options, **keys), _source(options.path, keys, folder)
    with (
        progress_of(f"Reading {address.location.shown}") as display,
        open_source(options, resources=Resources(on_progress=display.share)) as source,
    ):
        counts = _counts(source)
        spellings = missing_spellings(counts)
        tokens = tuple(found.text for found in spellings)

        def distinct(columns: Sequence[str], most: int) -> int:
            return source.count_distinct(columns, tokens, at_most=most)

        profiles = [profile(name, counted, tokens) for name, counted in counts.items()]
        profiles = with_likeness(profiles, counts, distinct)
        guesses = guess_all(profiles, propose)
        person = repeated_persons(guesses, distinct)
    unusual = tuple(f"{s.text!r}: {s.reason}" for s in spellings if s.text not in FIRST)
    draft = Draft(
        stated,
        _release_of(address, folder),
        k,
        tokens,
        person,
        reading,
        unusual,
    )
    obstacles = [
        f"{each.profile.name}: {each.profile.obstacle}"
        for each in guesses
        if each.profile.obstacle and each.attribute.role != "identifier"
    ]
    return Drafted(write_draft(draft, guesses), (*reading, *obstacles))


def _reading(options: FileOptions) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The keys of the source beside its path, and sentences about those that were guessed.

    Of several files the first is looked at. What cannot be read is left to the reader to refuse.
    """
    from shoal.engines.duckdb.paths import matching
    from shoal.engines.formats.guessing import guess_reading

    names = ("delimiter", "quote", "encoding", "header", "decimal")
    stated = {name: getattr(options, name) for name in names}
    stated = {name: value for name, value in stated.items() if value is not None}
    first = matching(options.path)[0]
    found = guess_reading(first, stated={**stated, **options.options})
    keys = found.source() if found.problem is None else {}
    said = {**keys, **keys.get("options", {})}
    guesses = [g for g in found.guesses if g.key in said and not g.stated]
    sentences = [f"Guessed: {each.key} {_shown(each.value)}. {each.reason}" for each in guesses]
    if options.options:
        keys["options"] = dict(options.options)
    return {**keys, **stated}, tuple(sentences)


def _shown(value: object) -> str:
    return {"\t": "tab"}.get(str(value), str(value).lower() if value is False else str(value))


def _source(data: str, keys: Mapping[str, Any], folder: Path) -> str | dict[str, Any]:
    """The path from the folder; with what is stated, the long form."""
    path = os.path.relpath(data, folder)
    return {"path": path, **keys} if keys else path


def _counts(source: Source) -> dict[str, dict[str | None, int]]:
    """How many records have each value of each column, counted by the engine.

    A column that the engine cannot count has none.
    """
    from shoal.engines.duckdb.source import TableSource

    if isinstance(source, TableSource):
        found = dict(source.count_each())
    else:
        found = {each.name: _counted(source, each.name) for each in source.columns()}
    if not any(found.values()):
        raise BadData(
            f"{source.name} has no records",
            code="no-records",
            hint="roles and hierarchies are proposed from the values; give a table with some",
        )
    return found


def _counted(source: Source, name: str) -> dict[str | None, int]:
    try:
        values, numbers = source.count_by([name]).columns
    except BadData:
        return {}
    return dict(zip(values.to_pylist(), numbers.to_pylist(), strict=True))


def _named_after(address: Address) -> Path:
    """`patients.yaml` for `data/patients.csv.gz` or a table; `definition.yaml` for a glob."""
    is_name = re.fullmatch(r"[\w -]+", address.name)
    return Path(f"{address.name}.yaml" if is_name else "definition.yaml")


def _release_of(address: Address, folder: Path) -> str:
    """A file for the release that the source does not read."""
    names = (f"{_named_after(address).stem}-release.csv", "release.parquet", "release.json")
    return next(name for name in names if not address.location.reads(folder / name))

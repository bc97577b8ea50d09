"""`shoal hierarchy`: look at hierarchies, write them to files, check files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.errors import BadDefinition, Mistake, did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.definition.hierarchies.base import Kind
    from shoal.encode.hierarchy import Hierarchy
    from shoal.engines.options import SourceOptions

app = typer.Typer(
    no_args_is_help=True,
    help="Show, make and check hierarchies: what a value becomes at each level.",
)

_EXAMPLES = 4
_LEAVES = 12
_LONGEST = 60

Definition = Annotated[Path, typer.Argument(help="The definition file.", show_default=False)]
AttributeName = Annotated[str, typer.Argument(help="One of its attributes.", show_default=False)]
Data = Annotated[
    str | None, typer.Option("--data", help="A data file (CSV, Parquet, JSON).", show_default=False)
]
ColumnName = Annotated[
    str | None, typer.Option("--column", help="A column of the data.", show_default=False)
]
MissingValue = Annotated[
    list[str] | None,
    typer.Option("--missing-value", help="A text that means missing; may be repeated."),
]


@app.command()
def show(definition: Definition, attribute: AttributeName) -> None:
    """Show the levels of an attribute's hierarchy, built for the data of a definition.

    Example: shoal hierarchy show patients.yaml age
    """
    hierarchy, proposed = _of_definition(definition, attribute, every_level=True)
    if proposed:
        typer.echo(f"The definition gives {attribute!r} no hierarchy; this one is proposed.")
    _print_levels(hierarchy)
    _print_tree(hierarchy)


@app.command()
def make(
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
    definition: Annotated[
        Path | None, typer.Argument(help="The definition file.", show_default=False)
    ] = None,
    attribute: Annotated[
        str | None, typer.Argument(help="One of its attributes.", show_default=False)
    ] = None,
    data: Data = None,
    column: ColumnName = None,
    intervals: Annotated[str, typer.Option(help="Widths, such as 5,10,20.")] = "",
    mask: Annotated[str, typer.Option(help="Characters to hide, such as 5 or 1,3,5.")] = "",
    date: Annotated[str, typer.Option(help="Units, such as month,year,decade.")] = "",
    groups: Annotated[str, typer.Option(help="Numbers of neighbours, such as 2,4.")] = "",
    suppress: Annotated[bool, typer.Option("--suppress", help="The value, then *.")] = False,
    missing_value: MissingValue = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a hierarchy to a CSV file: one row per value, `value;level 1;...;top`, as ARX reads it.

    \b
    From a definition:
      shoal hierarchy make patients.yaml age -o age.csv
    From data; without a builder the proposed hierarchy is written:
      shoal hierarchy make --data patients.csv --column age --intervals 5,10,20 -o age.csv
    """
    from shoal.definition.outputs import check_data_kept, check_kept
    from shoal.definition.read import read
    from shoal.encode.hierarchy import write_hierarchy

    builders = {"intervals": intervals, "mask": mask, "date": date, "groups": groups}
    chosen: dict[str, Any] = {key: _items(text) for key, text in builders.items() if text}
    if suppress:
        chosen["suppress"] = True
    if definition is not None and attribute is not None:
        if data is not None or column is not None or chosen or missing_value:
            raise typer.BadParameter("give a definition and an attribute, or --data, not both")
        check_kept(read(definition), definition, output)
        hierarchy, _ = _of_definition(definition, attribute)
    elif definition is None and data is not None and column is not None:
        check_data_kept(data, output)
        hierarchy = _of_data(data, column, missing_value or [], chosen)
    else:
        raise typer.BadParameter("give DEFINITION and ATTRIBUTE, or --data and --column")
    write_hierarchy(hierarchy, output, overwrite=force)
    typer.echo(f"{output}: {len(hierarchy.labels[0])} values, {hierarchy.height} levels above them")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The hierarchy file.", show_default=False)],
    delimiter: Annotated[str, typer.Option(help="What separates its cells.")] = ";",
    data: Data = None,
    column: ColumnName = None,
    missing_value: MissingValue = None,
) -> None:
    """Check a hierarchy file: is it nested, and does it cover the values of the data?

    Example: shoal hierarchy check age.csv --data patients.csv --column age
    """
    from pydantic import ValidationError

    from shoal.definition.model import Csv
    from shoal.encode.hierarchy import build
    from shoal.engines.options import FileOptions

    if (data is None) != (column is None):
        raise typer.BadParameter("give --data and --column together")
    counts: dict[str, int] = {}
    if data is not None and column is not None:
        counts = _counts(FileOptions(data), column, missing_value or [])
    try:
        spec = Csv(path=file, delimiter=delimiter)
    except ValidationError:
        raise typer.BadParameter(f"the delimiter {delimiter!r} cannot separate cells") from None
    hierarchy = build(column or file.stem, spec, counts)
    _print_levels(hierarchy)
    covers = f" and covers all {len(counts)} values of {column!r}" if column is not None else ""
    typer.echo(f"{file} is nested{covers}.")


def _of_definition(path: Path, name: str, *, every_level: bool = False) -> tuple[Hierarchy, bool]:
    """The attribute's hierarchy for the data of the definition, and whether it is proposed.

    With `every_level` it has the level `*` also where that says no more than the level below.
    """
    from shoal.definition.read import read
    from shoal.encode.hierarchy import build
    from shoal.encode.propose import propose

    definition = read(path)
    if name not in definition.attributes:
        known = list(definition.attributes)
        remedy = f"the attributes are {quoted(known)}{did_you_mean(name, known)}"
        raise BadDefinition(str(path), [Mistake("attributes", f"no attribute {name!r}", remedy)])
    counts = _counts(definition.source.options(), name, definition.missing.values)
    given = definition.attributes[name].hierarchy
    spec = given or propose(list(counts))
    levels = spec.heights if every_level else None
    return build(name, spec, counts, lowest=0 if levels is None else levels[1]), given is None


def _of_data(data: str, column: str, missing: Sequence[str], chosen: dict[str, Any]) -> Hierarchy:
    """The chosen hierarchy, or a proposed one, for a column of a data file."""
    from shoal.encode.hierarchy import build
    from shoal.encode.propose import propose
    from shoal.engines.options import FileOptions

    if len(chosen) > 1:
        raise typer.BadParameter(f"give one of --{', --'.join(chosen)}")
    spec = _spec(chosen) if chosen else None
    counts = _counts(FileOptions(data), column, missing)
    return build(column, spec or propose(sorted(counts)), counts)


def _spec(chosen: dict[str, Any]) -> Kind:
    """The one chosen kind, as a definition would write it."""
    from pydantic import ValidationError

    from shoal.definition.hierarchies.registry import KINDS

    ((key, items),) = chosen.items()
    keys = {} if items is True else {key: items[0] if len(items) == 1 else items}
    try:
        return KINDS[key].model_validate(keys)
    except ValidationError:
        raise typer.BadParameter(f"--{key} {','.join(items)} is not understood") from None


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _counts(options: SourceOptions, column: str, missing: Sequence[str]) -> dict[str, int]:
    """The values of a column that are not missing, with their numbers of records."""
    from contextlib import closing

    from shoal.engines.opening import open_source

    with closing(open_source(options, expect=(column,))) as source:
        table = source.count_by([column], missing=missing)
    values, records = table.column(0).to_pylist(), table.column(1).to_pylist()
    return {value: count for value, count in zip(values, records, strict=True) if value is not None}


def _print_levels(hierarchy: Hierarchy) -> None:
    """A table with a line for each level, from the values up."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"Hierarchy of {hierarchy.attribute}"), title_justify="left")
    table.add_column("level", justify="right")
    table.add_column("labels", justify="right")
    table.add_column("examples")
    for level, labels in enumerate(hierarchy.labels):
        more = ", ..." if len(labels) > _EXAMPLES else ""
        table.add_row(
            str(level), str(len(labels)), Text(", ".join(map(_shown, labels[:_EXAMPLES])) + more)
        )
    Console().print(table)


def _print_tree(hierarchy: Hierarchy) -> None:
    """The first values under the labels they get, the most general one at the root."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    leaves = len(hierarchy.labels[0])
    root = Tree(Text(hierarchy.attribute))
    branches: dict[tuple[str, ...], Tree] = {(): root}
    for row, _ in zip(hierarchy.rows(), range(_LEAVES), strict=False):
        path = tuple(reversed(row))
        for depth in range(1, len(path) + 1):
            if path[:depth] not in branches:
                parent = branches[path[: depth - 1]]
                branches[path[:depth]] = parent.add(Text(_shown(path[depth - 1])))
    if leaves > _LEAVES:
        root.add(Text(f"... {leaves - _LEAVES} more values"))
    Console().print(root)


def _shown(label: str) -> str:
    """The label, with escapes for what would upset a terminal, and cut where it is very long."""
    text = label if label.isprintable() else repr(label)[1:-1]
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."

"""What commands print and save: tables, JSON, the summary of a run, small text files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from shoal.errors import BadOutput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from shoal.report.sections import Section
    from shoal.values import Result


def check_free(path: Path, *, force: bool) -> None:
    """Refuse to overwrite a file without --force."""
    if path.exists() and not force:
        raise BadOutput(
            f"{path} exists already",
            code="file-exists",
            hint="give another name, or --force to overwrite it",
        )


def save(path: Path, text: str, *, force: bool) -> None:
    """Write the text as UTF-8; an existing file is replaced only with --force."""
    check_free(path, force=force)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadOutput(
            f"{path} cannot be written ({error.strerror})",
            code="cannot-write",
            hint="give a folder that exists and may be written to",
        ) from None


def command_line(context: typer.Context, *, without: Sequence[str] = ()) -> str:
    """A command with the options that were given, ready for a shell.

    Options named in `without` are left out.
    """
    import shlex

    words = ["shoal", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in without or source is None or source.name != "COMMANDLINE":
            continue
        option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        value = context.params[name]
        for each in value if isinstance(value, list | tuple) else [value]:
            words += option if isinstance(each, bool) else [*option, str(each)]
    return shlex.join(words)


def print_json(value: Any) -> None:
    """A plain value as JSON on standard output."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def save_json(path: Path, value: Any) -> None:
    """A plain value as a JSON file, replaced in one step."""
    import json

    from shoal.engines.local_files import write_whole

    write_whole(json.dumps(value, indent=2, ensure_ascii=False) + "\n", path)


def table_of(
    heading: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[int] = ()
) -> Table:
    """A table without lines; `right` are the columns of numbers. Cells are text, never markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=bool(heading))
    for index, name in enumerate(heading):
        number = index in right
        table.add_column(
            Text(name),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def show_sections(sections: Iterable[Section]) -> None:
    """Sections on standard output: text as it is, never as markup; the first is the answer."""
    from rich.console import Console

    console = Console(highlight=False)
    for number, section in enumerate(sections):
        if number:
            console.print()
        show_section(console, section)


def show_section(console: Console, section: Section) -> None:
    """A section: its title, its sentences, its table; text as it is, never as markup."""
    from rich.text import Text

    whole_lines = not console.is_terminal
    if section.title:
        console.print(Text(section.title, style="bold"))
    for line in section.lines:
        style = "" if section.title else "bold"
        console.print(Text(line, style=style), soft_wrap=whole_lines)
    if section.rows:
        console.print(table_of(section.heading, section.rows, section.numbers))


def show_result(result: Result, *, json: str | None = None, report: Path | None = None) -> None:
    """The summary of a run: is it safe, what was lost, what was done, where is the file."""
    from rich.console import Console
    from rich.text import Text

    from shoal.report.sections import explained, lost, safety, warnings, where

    console = Console(highlight=False)
    style = "bold green" if result.verified else "bold red"
    whole_lines = not console.is_terminal
    console.print()
    console.print(Text(safety(result), style=style), soft_wrap=whole_lines)
    for line in warnings(result):
        console.print(Text(f"Warning: {line}", style="yellow"), soft_wrap=whole_lines)
    for line in lost(result):
        console.print(Text(line), soft_wrap=whole_lines)
    console.print()
    console.print(_treatments(result))
    for line in explained(result):
        console.print(Text(line, style="dim"), soft_wrap=whole_lines)
    console.print()
    console.print(Text.assemble("Release: ", (where(result), "bold")), soft_wrap=True)
    if json is not None:
        console.print(Text(f"Result:  {json}"), soft_wrap=True)
    if report is not None:
        console.print(Text(f"Report:  {report}"), soft_wrap=True)


def _treatments(result: Result) -> Table:
    """A row for each quasi-identifier."""
    from rich.text import Text

    rows = []
    for name, treatment in result.treatments.items():
        example = Text(treatment.example)
        if treatment.proposed:
            example.append(" (proposed hierarchy)", style="dim")
        level = f"{treatment.level} of {treatment.height}"
        rows.append((name, level, example, f"{treatment.loss:.1%}"))
    return table_of(("attribute", "level", "values look like", "loss"), rows, right=(1, 3))

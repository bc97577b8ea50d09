"""What commands show, ask and save.

- Small files, JSON, tables and sections, and the summary of a run.
- `Display`: the progress of a run on standard error: a changing line in a terminal, plain lines
  elsewhere.
- `ask_person`: the question before a release. It goes to standard error too, so that standard
  output is free for `--json -`, and is shown with `--quiet` too, since nobody can answer what they
  do not see. Anything but yes is no: another word, an empty line, the end of the input.

Commands import this module inside their functions, since Rich takes a while to load.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.engines.local_files import write_whole
from shoal.errors import BadOutput
from shoal.events import Phase, Progress, Working
from shoal.report.progress import DOING, standing
from shoal.report.sections import explained, lost, safety, warnings, where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.status import Status

    from shoal.events import Event
    from shoal.report.proposal import Proposal
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
    """Write the text as UTF-8 in one step; an existing file is replaced only with --force."""
    check_free(path, force=force)
    write_whole(text, path)


def command_line(context: typer.Context, *, without: Sequence[str] = ()) -> str:
    """A command with the options that were given, ready for a shell.

    Options named in `without` are left out.
    """
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
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def save_json(path: Path, value: Any) -> None:
    """A plain value as a JSON file, replaced in one step."""
    write_whole(json.dumps(value, indent=2, ensure_ascii=False) + "\n", path)


class Answer(Protocol):
    """What a command found: sections for people, plain values for scripts."""

    def sections(self) -> Sequence[Section]:
        """Titles, sentences and tables."""

    def to_dict(self) -> Mapping[str, Any]:
        """Plain values for JSON."""


def show_answer(answer: Answer, json: str | None, others: Sequence[Path | None] = ()) -> None:
    """Print what was found, and write it as JSON where that was asked for.

    With `-` the JSON is all that is printed. `others` are files that were written already, and are
    named.
    """
    if json == "-":
        print_json(answer.to_dict())
        return
    file = json_file(json)
    if file is not None:
        save_json(file, answer.to_dict())
    show_sections(answer.sections())
    for path in (file, *others):
        if path is not None:
            typer.echo(f"\nWritten: {path}")


def json_file(json: str | None) -> Path | None:
    """The file that `--json` names; `-` is standard output."""
    return None if json is None or json == "-" else Path(json)


def table_of(
    heading: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[int] = ()
) -> Table:
    """A table without lines; `right` are the columns of numbers. Cells are text, never markup."""
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
    console = Console(highlight=False)
    for number, section in enumerate(sections):
        if number:
            console.print()
        show_section(console, section)


def show_section(console: Console, section: Section) -> None:
    """A section: its title, its sentences, its table; text as it is, never as markup."""
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
    rows = []
    for name, treatment in result.treatments.items():
        example = Text(treatment.example)
        if treatment.proposed:
            example.append(" (proposed hierarchy)", style="dim")
        rows.append((name, treatment.shown_level, example, f"{treatment.loss:.1%}"))
    return table_of(("attribute", "level", "values look like", "loss"), rows, right=(1, 3))


PLAIN_EVERY = 10.0
"""Seconds between two lines of a long search where lines cannot change."""


class Display:
    """Renders the events of a run; each step that ends leaves a line with its seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self._status: Status | None = None
        self._doing = ""
        self._began = self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._finish()

    def observe(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Phase):
            self._finish()
            if event.name in DOING:
                self.begin(" ".join(filter(None, (DOING[event.name], event.detail))))
        elif isinstance(event, Working):
            self.share(event.share)
        elif isinstance(event, Progress):
            self.say(f"{DOING['search']}: {standing(event)}")

    def share(self, share: float) -> None:
        """Show which share of the present step is done."""
        self._update(f"{self._doing}: {share:.0%}")

    def say(self, doing: str) -> None:
        """Change what is said of the present step."""
        self._doing = doing
        self._update(doing)

    def begin(self, doing: str) -> None:
        """Begin a step."""
        self._doing = doing
        self._began = self._last_line = time.monotonic()
        if self._console.is_terminal and not self._console.quiet:
            self._status = self._console.status(Text(doing))
            self._status.start()

    def _update(self, line: str) -> None:
        """Change the line; outside of a terminal print one every PLAIN_EVERY seconds."""
        if self._status is not None:
            self._status.update(Text(line))
        elif time.monotonic() - self._last_line >= PLAIN_EVERY:
            self._line(line)

    def drop(self) -> None:
        """End a step without a line."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        self._doing = ""

    def _finish(self) -> None:
        """Leave a line for the step that ends."""
        ended = self._doing
        self.drop()
        if ended:
            self._line(ended)

    def _line(self, text: str) -> None:
        self._last_line = time.monotonic()
        line = Text(text)
        line.append(f"  {self._last_line - self._began:.1f} s", style="dim")
        self._console.print(line, soft_wrap=True)


@contextmanager
def progress_of(doing: str) -> Iterator[Display]:
    """Show the progress of one step; leaves no line when it ends."""
    display = Display(quiet=False)
    display.begin(doing)
    try:
        yield display
    finally:
        display.drop()


QUESTION = "Release this? [y/N] "
LONGEST = 100
"""No more characters of an answer are read."""


def ask_person(proposal: Proposal) -> bool:
    """Show the proposal and read a line; True for `y` or `yes` in any case."""
    console = Console(stderr=True, highlight=False)
    for section in proposal.sections():
        console.print()
        show_section(console, section)
    sys.stderr.write(QUESTION)
    sys.stderr.flush()
    line = _line()
    if not (line.endswith("\n") and sys.stdin.isatty()):
        sys.stderr.write("\n")
    return line.strip().casefold() in ("y", "yes")


def _line() -> str:
    """The first line of standard input; empty where there is none, or it is no text."""
    try:
        return sys.stdin.readline(LONGEST) if sys.stdin is not None else ""
    except (OSError, ValueError):
        return ""

"""The `shoal` command: its sub-commands and the options before them."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "run": "Release what a definition says, verified.",
    "apply": "Recode new records as a release was.",
    "verify": "Say whether a written release is safe.",
    "check": "Measure any file, without a definition.",
    "risk": "Measure how likely people are recognised.",
    "solutions": "List the best safe nodes, or all minimal ones.",
    "lattice": "List every node, safe or not.",
    "utility": "Measure what a release is still good for.",
    "explain": "Say why records are suppressed.",
    "what-if": "Say what single changes of a node mean.",
    "frontier": "Say what each k and each suppression limit costs.",
    "compare": "Compare search strategies on your data.",
    "init": "Write a definition to start from.",
    "convert": "Write a definition as YAML, JSON or XML.",
    "schema": "Print the schema of definition files.",
    "ui": "Open Shoal in the browser.",
    "serve": "Serve Shoal to a team.",
    "plugins": "List the privacy models and losses.",
    "doctor": "Say which engines can be used here.",
    "clean": "Remove what killed runs left behind.",
    "demo": "Release an invented patient registry.",
    "hierarchy": "Show, make and check hierarchies.",
    "mart": "Release from several linked sources.",
}
"""What `shoal --help` says of each command. A command is the module of its name in this package."""
LOGGED = (
    *("run", "apply", "verify", "check", "risk", "solutions", "lattice", "utility", "explain"),
    *("what-if", "frontier", "compare", "init"),
)
"""The commands that run something: they have the option --log-file."""


class Commands(TyperGroup):
    """The commands, each imported when it is first asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)
        self.commands = names

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 as typer calls it
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 as typer calls it
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = command(cmd_name)
        return self.commands.get(cmd_name)


def command(name: str) -> Any:
    """A command as typer has it: the function of its module, or the sub-commands in its `app`."""
    module = import_module(f"shoal.cli.{name.replace('-', '_')}")
    parent = typer.Typer(rich_markup_mode=None)
    parent.callback()(lambda: None)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name, short_help=COMMANDS[name])
    else:
        function = getattr(module, name.replace("-", "_"))
        if name in LOGGED:
            from shoal.cli.log_file import with_log_file

            function = with_log_file(name)(function)
        parent.command(name, short_help=COMMANDS[name])(function)
    return typer.main.get_group(parent).commands[name]


app = typer.Typer(
    name="shoal",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Release tabular data so that every record hides in a crowd, "
        "with the least loss there is, and prove it.\n\n"
        "\b\nTry it:            shoal demo\nOn your own data:  shoal init patients.csv\n"
        "                   shoal run patients.yaml"
    ),
)


def show_version(version_asked: bool) -> None:
    """Print the version and leave."""
    if version_asked:
        from shoal.version import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", is_eager=True)
    ] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and leave.", is_eager=True, callback=show_version
        ),
    ] = False,
) -> None:
    """Options before the command; `--debug` is read by `main`."""

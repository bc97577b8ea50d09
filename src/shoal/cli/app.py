"""The `shoal` command: its sub-commands and the options before them."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import (
    apply,
    check,
    clean,
    compare,
    convert,
    demo,
    doctor,
    explain,
    frontier,
    hierarchy,
    init,
    lattice,
    mart,
    plugins,
    risk,
    run,
    schema,
    serve,
    solutions,
    ui,
    utility,
    verify,
    what_if,
)

app = typer.Typer(
    name="shoal",
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
app.command("run", short_help="Release what a definition says, verified.")(run.run)
app.command("apply", short_help="Recode new records as a release was.")(apply.apply)
app.command("verify", short_help="Say whether a written release is safe.")(verify.verify)
app.command("check", short_help="Measure any file, without a definition.")(check.check)
app.command("risk", short_help="Measure how likely people are recognised.")(risk.risk)
app.command("solutions", short_help="List the best safe nodes, or all minimal ones.")(
    solutions.solutions
)
app.command("lattice", short_help="List every node, safe or not.")(lattice.lattice)
app.command("utility", short_help="Measure what a release is still good for.")(utility.utility)
app.command("explain", short_help="Say why records are suppressed.")(explain.explain)
app.command("what-if", short_help="Say what single changes of a node mean.")(what_if.what_if)
app.command("frontier", short_help="Say what each k and each suppression limit costs.")(
    frontier.frontier
)
app.command("compare", short_help="Compare search strategies on your data.")(compare.compare)
app.command("init", short_help="Write a definition to start from.")(init.init)
app.command("convert", short_help="Write a definition as YAML, JSON or XML.")(convert.convert)
app.command("schema", short_help="Print the schema of definition files.")(schema.schema)
app.add_typer(hierarchy.app, name="hierarchy", short_help="Show, make and check hierarchies.")
app.add_typer(mart.app, name="mart", short_help="Release from several linked sources.")
app.command("ui", short_help="Open Shoal in the browser.")(ui.ui)
app.command("serve", short_help="Serve Shoal to a team.")(serve.serve)
app.command("plugins", short_help="List the privacy models and losses.")(plugins.plugins)
app.command("doctor", short_help="Say which engines can be used here.")(doctor.doctor)
app.command("clean", short_help="Remove what killed runs left behind.")(clean.clean)
app.command("demo", short_help="Release an invented patient registry.")(demo.demo)


def show_version(version_asked: bool) -> None:
    """Print the version and leave."""
    if version_asked:
        from importlib.metadata import version

        typer.echo(f"shoal {version('shoal')}")
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

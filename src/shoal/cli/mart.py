"""`shoal mart`: releases from several linked sources, by request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.log_file import with_log_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.mart import MartResult

app = typer.Typer(
    no_args_is_help=True,
    help=(
        "Release rows of several linked sources, by request: every released row has k persons in "
        "each source.\n\n"
        "\b\nExamples:\n  shoal mart check catalog.yaml\n  shoal mart describe catalog.yaml\n"
        "  shoal mart request catalog.yaml request.yaml -o release.csv\n"
        "  shoal mart log catalog.yaml --check"
    ),
)

REQUEST_EXAMPLES = """
\b
Examples:
  shoal mart request catalog.yaml request.yaml -o release.csv
  shoal mart request catalog.yaml request.yaml --as oncology --k 5 -o release.parquet
  shoal mart request catalog.yaml request.yaml -o release.csv --json result.json
  shoal mart request catalog.yaml request.yaml -o release.csv --report report.html

\b
Exit codes:
  0    released and verified
  2    the catalog, the request or a source is wrong
  3    no transformation meets the demand: nothing is released
  4    refused by the policy, an overlap with an earlier release, or the verifier
  130  interrupted: nothing is released

Every request leaves an entry in the log of the catalog, whatever its end.
"""

CatalogFile = Annotated[Path, typer.Argument(help="The catalog, YAML, JSON or XML.")]
JsonFile = Annotated[
    str | None, typer.Option("--json", help="Write it as JSON here; - for standard output.")
]


@app.command("request", short_help="Release what a request asks for, verified.")
@with_log_file("mart request")
def request(
    catalog: CatalogFile,
    request: Annotated[Path, typer.Argument(help="The request, YAML, JSON or XML.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the release here.")
    ] = None,
    asker: Annotated[str | None, typer.Option("--as", help="Who asks.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="The fewest persons of a class.")] = None,
    json: JsonFile = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report here: .html, .md, .txt or .json.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Link the sources, generalize each as little as possible, verify and log the release."""
    from shoal.cli.terminal import print_json, save_json, show_sections
    from shoal.errors import after_publishing

    path, quiet = _path(json), quiet or json == "-"
    further = {} if path is None else {"result": path}
    options = {"output": output, "asker": asker, "k": k, "report": report, "further": further}
    result = _answered(catalog, request, options, quiet=quiet)
    with after_publishing(result.output):
        if json == "-":
            print_json(result.to_dict())
        elif path is not None:
            save_json(path, result.to_dict())
    if not quiet:
        show_sections(result.sections())


request.__doc__ = f"{request.__doc__}\n{REQUEST_EXAMPLES}"


def _answered(
    catalog: Path, request: Path, options: Mapping[str, Any], *, quiet: bool
) -> MartResult:
    """The answer to a request, with progress.

    From the moment the release is logged, signals are held until it is published. When the request
    fails, nothing of it stays.
    """
    from shoal.cli.interrupts import Interrupts
    from shoal.cli.terminal import Display
    from shoal.engines.local_files import check_writable, sweep_own
    from shoal.mart import request as answer

    for path in options["further"].values():
        check_writable(path)

    def clean() -> None:
        if options["output"] is not None:
            sweep_own(options["output"].resolve().parent, None)

    with (
        Interrupts() as interrupts,
        Display(quiet=quiet) as display,
        interrupts.release(display.observe, clean) as observe,
    ):
        return answer(catalog, request, observe=observe, **options)


@app.command("check", short_help="Check a catalog and its sources.")
@with_log_file("mart check")
def check(catalog: CatalogFile, json: JsonFile = None) -> None:
    """Open every source of a catalog: columns, keys, links and hierarchies must fit.

    Exit codes: 0 the catalog can be used; 2 something is wrong.
    """
    from shoal.cli.terminal import progress_of
    from shoal.mart import check as check_catalog

    _check_free(catalog, json)
    with progress_of(f"Checking {catalog}"):
        found = check_catalog(catalog)
    _show(found, json)
    if not found.verified:
        raise typer.Exit(2)


@app.command("describe", short_help="Show what a catalog shares, and no records.")
def describe(
    catalog: CatalogFile,
    asker: Annotated[str | None, typer.Option("--as", help="Show what this asker may ask.")] = None,
    json: JsonFile = None,
) -> None:
    """Show the columns, hierarchies, links and the policy of a catalog: no records, no counts.

    Exit codes: 0 shown; 2 the catalog is wrong; 4 the asker may not ask at all.
    """
    from shoal.mart import describe as described

    _check_free(catalog, json)
    _show(described(catalog, asker), json)


@app.command("log", short_help="Show the log of all requests, or check it.")
def log(
    catalog: CatalogFile,
    check: Annotated[
        bool, typer.Option("--check", help="Say whether the log is as it was written.")
    ] = False,
    contains: Annotated[
        list[str] | None,
        typer.Option(help="With --check: a digest that the log must have; may be repeated."),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Show every request: who asked, when, what came of it; or check the chain of the log.

    \b
    Examples:
      shoal mart log catalog.yaml
      shoal mart log catalog.yaml --check --contains DIGEST

    Exit codes: 0 shown, or the log is whole; 2 the log is not as it was written.
    """
    from shoal.mart import check_log
    from shoal.mart import log as read_log

    if contains and not check:
        raise typer.BadParameter("--contains needs --check")
    _check_free(catalog, json)
    if not check:
        _show(read_log(catalog), json)
        return
    found = check_log(catalog, contains or ())
    _show(found, json)
    if not found.verified:
        raise typer.Exit(2)


def _path(json: str | None) -> Path | None:
    return None if json is None or json == "-" else Path(json)


def _check_free(catalog: Path, json: str | None) -> None:
    """Refuse a file for the JSON that cannot be written, or would overwrite what is read."""
    from shoal.engines.local_files import check_writable
    from shoal.mart import read_catalog
    from shoal.mart.overwriting import check_kept

    path = _path(json)
    if path is not None:
        check_writable(path)
        check_kept(read_catalog(catalog), {"catalog": catalog}, None, {"result": path})


def _show(found: Any, json: str | None) -> None:
    """A value as JSON, or as sections."""
    from shoal.cli.terminal import show_answer

    show_answer(found, json)

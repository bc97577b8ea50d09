"""`shoal run`: release what a definition says."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.definition.model import Definition
    from shoal.events import Event, Released
    from shoal.pipeline import Ask
    from shoal.values import Result

EXAMPLES = """
\b
Examples:
  shoal run patients.yaml
  shoal run patients.yaml --k 10 --suppression 2% --output strict.csv
  shoal run patients.yaml --recoding local --effort high
  shoal run patients.yaml --quiet --json result.json --report report.html
  shoal run patients.yaml --proof proof.jsonl.gz
  shoal run patients.yaml --node birth=2,sex=0,zip=3 --ask

\b
Exit codes:
  0    released and verified
  2    the definition or the data is wrong
  3    no transformation, or not the chosen one, meets the demand: nothing is released
  4    the verifier refused, or a warning in a strict definition: nothing is released
  5    --ask was not answered with yes: nothing is released
  130  interrupted: nothing is released, unless --keep-best had something safe to keep
"""


def run(
    context: typer.Context,
    definition: Annotated[Path, typer.Argument(help="The definition, YAML, JSON or XML.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the release here.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="The least size of a class.")] = None,
    suppression: Annotated[
        str | None, typer.Option(help="Share (5%) or number of records that may be left out.")
    ] = None,
    recoding: Recoding = None,
    strategy: Annotated[str | None, typer.Option(help="How to search.")] = None,
    effort: Annotated[
        str | None, typer.Option(help="Of local recoding: low, normal or high.")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop the search after, such as 60s or 5min.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Memory the engine may use, such as 8GB; half of what there is without."),
    ] = None,
    spill_folder: Annotated[
        Path | None, typer.Option(help="Where the engine puts what does not fit in memory.")
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write the result as JSON here; - for standard output.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report here: .html, .md, .txt or .json.")
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(help="Write here why nothing is better, for `shoal verify`; .gz is packed."),
    ] = None,
    transformation: Annotated[
        Path | None,
        typer.Option(help="Write here how records were recoded, for `shoal apply`."),
    ] = None,
    assignment: Annotated[
        Path | None,
        typer.Option(help="Write here the class of each tuple of a local release, to verify it."),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node", help="Release these levels, as in birth=2,zip=3, in place of the best ones."
        ),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Show what would be released, and wait for a yes.")
    ] = False,
    keep_best: Annotated[
        bool, typer.Option("--keep-best", help="On Ctrl-C release the best safe solution so far.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Find the least lossy safe transformation, write the release and verify it."""
    from shoal.cli.terminal import ask_person, command_line
    from shoal.definition.outputs import elsewhere
    from shoal.definition.read import override, read
    from shoal.steps.choosing import parse_levels

    levels = None if node is None else parse_levels(node)
    found = read(definition)
    options: dict[str, Any] = {
        "output": None if output is None else elsewhere(found.output, output),
        "k": k,
        "suppression": suppression,
        "recoding": recoding,
        "search": {"strategy": strategy, "effort": effort, "time limit": time_limit},
        "engine": {"memory limit": memory_limit, "spill folder": spill_folder},
        "report": report,
    }
    run_definition(
        override(found, options, f"{definition} with the options of the command"),
        json=json,
        quiet=quiet or json == "-",
        keep_best=keep_best,
        proof=proof,
        transformation=transformation,
        assignment=assignment,
        file=str(definition),
        node=levels,
        ask=ask_person if ask else None,
        command=command_line(context, without=("json", "report", "quiet", "ask")),
    )


run.__doc__ = f"{run.__doc__}\n{EXAMPLES}"


def run_definition(
    definition: Definition,
    *,
    json: str | None = None,
    quiet: bool = False,
    keep_best: bool = False,
    proof: Path | None = None,
    transformation: Path | None = None,
    assignment: Path | None = None,
    file: str = "definition",
    node: Mapping[str, int] | None = None,
    ask: Ask | None = None,
    command: str | None = None,
) -> Result:
    """Run with progress and a summary, unless quiet; write the records of it that are asked for.

    The report says the `command` that makes the same release again, by default with `file` alone.
    Where no transformation meets the demand, the result says so, and so does a report beside that
    of the last release.
    """
    from shoal.cli.interrupts import Interrupts
    from shoal.cli.terminal import Display, show_result
    from shoal.errors import Infeasible, after_publishing
    from shoal.events import Released
    from shoal.pipeline import run as run_pipeline

    check_files(definition, json, proof, file, transformation, assignment)
    command = command or f"shoal run {shlex.quote(file)}"

    def clean() -> None:
        remove_leftovers(definition, proof, transformation, assignment)

    released: list[Released] = []

    def show(event: Event) -> None:
        display.observe(event)
        if isinstance(event, Released):
            released.append(event)

    with Interrupts() as interrupts, Display(quiet=quiet) as display:
        try:
            with interrupts.release(show, clean) as observe:
                result = run_pipeline(
                    definition,
                    observe=observe,
                    keep_best=keep_best,
                    proof=proof,
                    transformation=transformation,
                    assignment=assignment,
                    file=file,
                    node=node,
                    ask=ask,
                )
        except Infeasible as error:
            if error.result is not None:
                write_failure(definition, error.result, json, command, quiet=quiet)
            raise
        with after_publishing(result.output):
            write_records(definition, result, json, definition.report, command)
    if not quiet:
        show_result(result, json=json, report=definition.report)
    if proof is not None:
        tell_of_proof(result, proof, quiet=quiet)
    if transformation is not None and not quiet:
        typer.echo(f"Transformation: {transformation}")
    if assignment is not None and not quiet:
        typer.echo(f"Assignment: {assignment}")
    if not quiet and somebody_reads():
        tell_of_other_recoding(released)
    return result


def somebody_reads() -> bool:
    """Whether the output goes to a terminal; a job without one need not wait for a hint."""
    return sys.stdout.isatty()


def tell_of_other_recoding(released: Sequence[Released]) -> None:
    """Say in a line what the other recoding would have lost; an interrupt only ends that."""
    try:
        for line in filter(None, (each.other() for each in released)):
            typer.echo(line)
    except KeyboardInterrupt:
        return


def tell_of_proof(result: Result, proof: Path, *, quiet: bool) -> None:
    """Where the proof is, or that there is none.

    Only the best node, if proved, has one. A local recoding has one as soon as there is a bound.
    """
    if result.chosen is not None and result.chosen.levels != result.levels:
        typer.echo(f"No proof was written to {proof}: the chosen node is not the best.", err=True)
    elif result.bound == 0 if result.recoding == "local" else result.status != "optimal":
        typer.echo(f"No proof was written to {proof}: the search was stopped early.", err=True)
    elif not quiet:
        typer.echo(f"Proof:   {proof}")


def remove_leftovers(definition: Definition, *further: Path | None) -> None:
    """Remove the temporary files of this process: it makes one run, so they are of that run."""
    from shoal.engines.local_files import sweep_own

    files = [*further, None if definition.output is None else definition.output.file]
    for file in filter(None, files):
        sweep_own(file.resolve().parent, definition.engine.spill_folder)


def check_files(
    definition: Definition,
    json: str | None,
    proof: Path | None,
    file: str,
    transformation: Path | None = None,
    assignment: Path | None = None,
) -> None:
    """Refuse, before the long work, a file that could not be written after it."""
    from shoal.cli.terminal import json_file
    from shoal.definition.outputs import check_written
    from shoal.engines.local_files import check_writable

    failure = None if definition.report is None else of_failure(definition.report)
    written = {
        "result": json_file(json),
        "proof": proof,
        "transformation": transformation,
        "assignment": assignment,
        "report of a failure": failure,
    }
    further = {key: path for key, path in written.items() if path is not None}
    check_written(definition, file, further)
    for path in filter(None, (definition.report, *further.values())):
        check_writable(path)


def write_records(
    definition: Definition, result: Result, json: str | None, report: Path | None, command: str
) -> None:
    """The result and the report, where they were asked for."""
    from shoal.cli.terminal import json_file
    from shoal.report.result import to_json, write_result
    from shoal.report.run import write_report

    path = json_file(json)
    if path is not None:
        write_result(result, path)
    elif json is not None:
        typer.echo(to_json(result), nl=False)
    if report is not None:
        write_report(result, definition, report, command=command)


def write_failure(
    definition: Definition, result: Result, json: str | None, command: str, *, quiet: bool
) -> None:
    """The records of a run that released nothing: the report of the release that is there stays."""
    report = None if definition.report is None else of_failure(definition.report)
    write_records(definition, result, json, report, command)
    if report is not None and not quiet:
        typer.echo(f"Why nothing was released: {report}", err=True)


def of_failure(report: Path) -> Path:
    """Where the report of a failure goes: `release.failed.html` beside `release.html`."""
    return report.with_name(f"{report.stem}.failed{report.suffix}")

"""`shoal verify`: is a release safe, is a proof right? Judged from the files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.proof.check import Checked
    from shoal.values import Verdict
    from shoal.verify.assignment import AssignmentFile
    from shoal.verify.stated import Stated

EXAMPLES = """
\b
Examples:
  shoal verify release.csv --definition patients.yaml
  shoal verify release.csv --definition patients.yaml --result result.json
  shoal verify release.csv --definition patients.yaml --records 20000 --json
  shoal verify release.csv --definition patients.yaml --proof proof.jsonl.gz
  shoal verify --definition patients.yaml --proof proof.jsonl.gz --sample 200

Exit codes: 0 safe and right; 2 the definition or a file is wrong; 4 not safe or not right.
"""


def verify(
    definition: Annotated[
        Path, typer.Option("--definition", "-d", help="The definition it must meet.")
    ],
    release: Annotated[
        Path | None,
        typer.Argument(help="The release, a file of any format; may be left out with --proof."),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option(help="The result of the run: its levels and numbers are checked too."),
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=0, help="Records of the source, where it cannot be read any more."),
    ] = None,
    assignment: Annotated[
        Path | None,
        typer.Option(help="The class of each tuple of a local release, to count its persons."),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(help="The proof that no transformation is better, to be checked."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Check the reasons of so many boxes of the proof, not of all."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Draw the same sample again; random without.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdict as JSON on standard output.")
    ] = False,
) -> None:
    """Count a release afresh and say whether it is safe: columns, levels, classes, suppression.

    With --proof also whether it is the best there is: the source is read and counted again.
    """
    from shoal.cli.terminal import print_json
    from shoal.definition.read import read
    from shoal.verify.assignment import read_assignment
    from shoal.verify.stated import read_stated

    if release is None and proof is None:
        raise typer.BadParameter("name a release, give --proof, or both")
    demanded = read(definition)
    stated = None if result is None else read_stated(result)
    checked = None if proof is None else _check_proof(demanded, proof, sample, seed)
    verdicts = [] if checked is None else [checked.verdict]
    if release is not None:
        listed = None if assignment is None else read_assignment(assignment)
        verdicts.insert(0, _judge(demanded, release, stated, records, checked, listed))
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    verdict = dataclasses.replace(verdicts[0], findings=findings)
    if as_json:
        fields = {"safe": verdict.safe, **dataclasses.asdict(verdict)}
        print_json(fields)
    else:
        _print_table(verdict, _answer(release, proof, safe=verdict.safe))
    if not verdict.safe:
        raise typer.Exit(4)


verify.__doc__ = f"{verify.__doc__}\n{EXAMPLES}"


def _check_proof(
    definition: Definition, proof: Path, sample: int | None, seed: int | None
) -> Checked:
    """Check a proof, whole or in a sample, with its progress on standard error."""
    import secrets

    from shoal.cli.terminal import progress_of
    from shoal.proof.check import Sample, check_file

    drawn = secrets.randbits(32) if seed is None else seed
    chosen = None if sample is None else Sample(sample, drawn)
    with progress_of("Checking the proof") as display:

        def report(done: int, boxes: int) -> None:
            display.say(f"Checking the proof: {done:,} of {boxes:,} boxes")

        return check_file(definition, proof, sample=chosen, progress=report)


def _judge(
    definition: Definition,
    release: Path,
    stated: Stated | None,
    records: int | None,
    checked: Checked | None,
    assignment: AssignmentFile | None,
) -> Verdict:
    """Judge a release; with a proof it must have the levels that the proof is about.

    A proof about local recoding is about all of them, and has no levels.
    """
    from shoal.values import Finding
    from shoal.verify.file import verify_file
    from shoal.verify.stated import Stated

    if checked is None or definition.recoding == "local":
        known = definition if checked is None or stated is not None else checked.definition
        return verify_file(known, release, stated=stated, records=records, assignment=assignment)
    if stated is None:
        best = checked.verdict
        numbers = {
            "records": best.records,
            "classes": best.classes,
            "smallest class": best.smallest_class,
        }
        proved = Stated(checked.levels, checked.records, checked.removed, numbers, {}, None)
        return verify_file(checked.definition, release, stated=proved, records=records)
    verdict = verify_file(definition, release, stated=stated, records=records)
    same = dict(stated.levels) == dict(checked.levels)
    saw = "as the result states them" if same else "the result states others than the proof"
    return dataclasses.replace(
        verdict, findings=(*verdict.findings, Finding("proof: levels", same, saw))
    )


def _answer(release: Path | None, proof: Path | None, *, safe: bool) -> str:
    """The answer in a line."""
    if proof is None:
        return f"Yes: {release} is safe." if safe else f"No: {release} is not safe."
    if release is None:
        return f"Yes: {proof} holds." if safe else f"No: {proof} does not hold."
    if safe:
        return f"Yes: {release} is safe, and {proof} holds."
    return f"No: {release} is not safe, or {proof} does not hold."


def _print_table(verdict: Verdict, answer: str) -> None:
    """The answer, then each finding."""
    from rich.console import Console
    from rich.text import Text

    from shoal.cli.terminal import table_of

    console = Console(highlight=False)
    style = "bold green" if verdict.safe else "bold red"
    console.print(Text(answer, style=style), soft_wrap=True)
    console.print()
    yes, no = Text("yes", style="green"), Text("no", style="bold red")
    rows = [(each.name, yes if each.holds else no, each.saw) for each in verdict.findings]
    console.print(table_of(("finding", "holds", "what was seen"), rows))

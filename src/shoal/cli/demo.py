"""`shoal demo`: release a synthetic patient registry, and leave all files to try more commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put everything.")] = Path("shoal-demo"),
    records: Annotated[int, typer.Option(min=1, help="How many patients to invent.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another registry.")] = 7,
    force: Annotated[bool, typer.Option("--force", help="Write into a used folder.")] = False,
) -> None:
    """Invent a patient registry, release it with k=5, and leave everything in a folder.

    Example: shoal demo my-folder --records 5000
    """
    from shoal.cli.run import run_definition
    from shoal.definition.read import read
    from shoal.demo.files import RESULT, write_demo

    refuse_used_folder(folder, force=force)
    definition = write_demo(folder, records, seed)
    run_definition(read(definition), json=str(folder / RESULT), file=str(definition))
    show_next_steps(folder)


def refuse_used_folder(folder: Path, *, force: bool) -> None:
    """Nobody's work is overwritten: only a missing, empty or unchanged demo folder is used."""
    from shoal.demo.files import DEFINITION, definition_text
    from shoal.errors import BadOutput

    if folder.exists() and not folder.is_dir():
        raise BadOutput(
            f"{folder} is a file, not a folder",
            code="demo-folder",
            hint="name another folder: `shoal demo FOLDER`",
        )
    if force or not folder.exists() or not any(folder.iterdir()):
        return
    written = folder / DEFINITION
    if not written.is_file() or written.read_bytes() != definition_text().encode():
        raise BadOutput(
            f"the folder {folder} holds something other than an unchanged demo",
            code="demo-folder",
            hint="name another folder, or write into this one with --force",
        )


def show_next_steps(folder: Path) -> None:
    """The commands to try next, ready to copy."""
    from rich.console import Console
    from rich.markup import escape

    from shoal.demo.files import DATA, DEFINITION, RELEASE, RESULT

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"\n[bold]Everything is in {escape(str(folder))}.[/bold] Go there and try:")
    for what, command in (
        (
            "larger classes",
            f"shoal run {DEFINITION} --k 20 --output larger.csv --report larger.html",
        ),
        ("judge again", f"shoal verify {RELEASE} --definition {DEFINITION} --result {RESULT}"),
        ("measure the original", f"shoal check {DATA} --qi birth,sex,zip"),
        (
            "what the release discloses",
            f"shoal check {RELEASE} --qi birth,sex,zip --sensitive diagnosis",
        ),
        ("look at a hierarchy", f"shoal hierarchy show {DEFINITION} zip"),
        ("a definition of your own", f"shoal init {DATA} -o own.yaml"),
    ):
        console.print(f"  [dim]# {what}[/dim]\n  {command}")

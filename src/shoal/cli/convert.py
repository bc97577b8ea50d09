"""`shoal convert`: a definition from one spelling to another, without loss."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.definition.model import Definition

EXAMPLES = """
\b
Examples:
  shoal convert patients.yaml patients.xml
  shoal convert patients.yaml -o patients.json
  shoal convert anon.xml - --to yaml

Relative paths are adjusted when the new file stands in another folder. Comments are lost.
"""


class Spelling(StrEnum):
    """How a definition may be spelled."""

    YAML = "yaml"
    JSON = "json"
    XML = "xml"


def convert(
    definition: Annotated[str, typer.Argument(help="The definition to read, `-` for the input.")],
    written: Annotated[
        str | None,
        typer.Argument(metavar="[OUTPUT]", help="The file to write, `-` for the output."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The same, as other commands have it.")
    ] = None,
    to: Annotated[
        Spelling | None, typer.Option("--to", help="The spelling; by default the ending decides.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a definition in another spelling: YAML, JSON or XML, whatever the endings say."""
    from shoal.cli.terminal import save
    from shoal.definition.write import spelled

    output = _one_of(written, output)
    spelling = to or _spelling_of(output)
    there = Path() if output == "-" else Path(output).parent
    text = spelled(_read(definition, there), spelling)
    if output == "-":
        sys.stdout.buffer.write(text.encode())
    else:
        _check_kept(definition, Path(output))
        save(Path(output), text, force=force)
        typer.echo(f"Wrote {output}. Comments are not part of it.", err=True)


convert.__doc__ = f"{convert.__doc__}\n{EXAMPLES}"


def _one_of(written: str | None, output: str | None) -> str:
    """The file to write, by its place or by the option; not both."""
    if written is not None and output is not None:
        raise typer.BadParameter("the file to write is named already", param_hint="--output")
    if (file := written or output) is None:
        raise typer.BadParameter("name the file to write, `-` for the output", param_hint="OUTPUT")
    return file


def _read(definition: str, there: Path) -> Definition:
    """The definition, with its relative paths as a file in the folder `there` has them."""
    from shoal.definition.read import LARGEST, content, moved, parse

    if definition == "-":
        text = sys.stdin.buffer.read(LARGEST + 1)
        return moved(parse(text, "standard input"), "standard input", Path(), there)
    path = Path(definition)
    parsed = parse(content(path), definition, path.suffix.lower())
    return moved(parsed, definition, path.parent, there)


def _check_kept(definition: str, output: Path) -> None:
    """Refuse to write over the definition, or over what it reads."""
    from shoal.definition.outputs import check_kept
    from shoal.definition.read import read

    if definition != "-":
        check_kept(read(definition), Path(definition), output)


def _spelling_of(output: str) -> str:
    from shoal.definition.write import ENDINGS

    ending = Path(output).suffix.lower()
    if ending not in ENDINGS:
        raise BadOutput(
            f"{output} does not say which spelling to write",
            code="unknown-spelling",
            hint="end the name with .yaml, .json or .xml, or give --to",
        )
    return ENDINGS[ending]

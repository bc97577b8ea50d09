"""`shoal schema`: what definitions and catalogs may look like, for editors and other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import UserError

EXAMPLES = """
\b
Examples:
  shoal schema --json -o shoal.schema.json
  shoal schema --xsd -o shoal.xsd
  shoal schema --mart --xsd -o mart.xsd

An editor for YAML or JSON completes and checks a definition by the JSON schema, one for XML by
the XML schema.
"""


def schema(
    as_json: Annotated[
        bool, typer.Option("--json", help="The JSON schema of definitions in YAML or JSON.")
    ] = False,
    as_xsd: Annotated[
        bool, typer.Option("--xsd", help="The XML schema of definitions in XML.")
    ] = False,
    mart: Annotated[
        bool, typer.Option("--mart", help="Of catalogs of data marts and requests, in XML.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; else it is printed.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Print the schema of definition files, or of the files of data marts."""
    from shoal.cli.terminal import save

    if as_json == as_xsd:
        raise UserError(
            "there are two schemas", code="which-schema", hint="give either --json or --xsd"
        )
    if mart and as_json:
        what = "catalogs and requests have no JSON schema"
        raise UserError(what, code="which-schema", hint="give --mart with --xsd")
    text = (_mart_xsd() if mart else _xsd()) if as_xsd else _json()
    if output is None:
        sys.stdout.buffer.write(text.encode())
    else:
        save(output, text, force=force)
        typer.echo(f"Wrote {output}.", err=True)


schema.__doc__ = f"{schema.__doc__}\n{EXAMPLES}"


def _xsd() -> str:
    from shoal.definition.xml_parse import schema_text

    return schema_text()


def _mart_xsd() -> str:
    from shoal.mart.xml_read import schema_text

    return schema_text()


def _json() -> str:
    import json

    from shoal.definition.json_schema import json_schema

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"

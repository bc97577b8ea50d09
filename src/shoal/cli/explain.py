"""`shoal explain`: why are records suppressed, what does each column cost?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.file_options import Recoding  # noqa: TC001 typer needs it

EXAMPLES = """
\b
Examples:
  shoal explain patients.yaml
  shoal explain patients.yaml --json why.json
  shoal explain result.json

A definition is searched again, and nothing is released. The JSON that `shoal run --json` wrote is
explained as far as it goes, without reading any data. Where nothing can be released, the answer is
what stands in the way.
Exit codes: 0 explained; 2 the definition, the data, the result or an option is wrong;
3 nothing was found in time.
"""


def explain(
    definition: Annotated[
        Path, typer.Argument(help="The definition, or the JSON of a run.", metavar="FILE")
    ],
    time_limit: Annotated[
        str | None, typer.Option(help="Stop each search after, such as 30s or 5min.")
    ] = None,
    recoding: Recoding = None,
    json: Annotated[
        str | None, typer.Option(help="Write the explanation as JSON here; - for standard output.")
    ] = None,
) -> None:
    """Say why records are suppressed, by which column, and what each column costs."""
    from shoal.analysis.explain import explain as find
    from shoal.analysis.explain_result import explain_result, result_in
    from shoal.cli.solutions import read_definition
    from shoal.cli.terminal import progress_of, show_answer

    result = result_in(definition)
    if result is not None:
        _check_kept(definition, json)
        found = explain_result(result, str(definition))
    else:
        loaded = read_definition(definition, {"JSON": json}, time_limit, recoding)
        with progress_of(f"Reading {loaded.source.shown}") as display:
            found = find(loaded, watch=display.say, file=str(definition))
    show_answer(found, json)


explain.__doc__ = f"{explain.__doc__}\n{EXAMPLES}"


def _check_kept(result: Path, json: str | None) -> None:
    """Refuse to overwrite the result that is read."""
    from shoal.cli.terminal import json_file
    from shoal.definition.outputs import check_data_kept
    from shoal.engines.local_files import check_writable

    if (file := json_file(json)) is not None:
        check_writable(file)
        check_data_kept(str(result), file)

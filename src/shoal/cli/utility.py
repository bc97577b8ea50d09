"""`shoal utility`: what is a release still good for?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
\b
Examples:
  shoal utility patients.yaml
  shoal utility patients.yaml --json utility.json
  shoal utility patients.yaml --target diagnosis

The release must be there: `shoal run` makes it. Source and release are counted, neither is changed.
Exit codes: 0 measured; 2 a file, a column or an option is wrong, or there is no release yet.
"""


def utility(
    definition: Annotated[Path, typer.Argument(help="The definition of the release.")],
    target: Annotated[
        str | None,
        typer.Option(
            help="Predict this column, from the release and from the source (needs `ml`)."
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option(help="Write the measures as JSON here; - for standard output.")
    ] = None,
) -> None:
    """Measure what a release lost: losses, quality, distributions, dependence of columns."""
    from shoal.analysis.utility import utility as measure
    from shoal.cli.terminal import json_file, progress_of, show_answer
    from shoal.definition.outputs import check_written
    from shoal.definition.read import read
    from shoal.engines.local_files import check_writable

    if (file := json_file(json)) is not None:
        check_writable(file)
        check_written(read(definition), str(definition), {"result": file})
    with progress_of(f"Measuring the release of {definition}"):
        found = measure(definition, target)
    show_answer(found, json)


utility.__doc__ = f"{utility.__doc__}\n{EXAMPLES}"

"""Release what a definition says, into the job's folder.

Arguments: `definition`, a mapping with real paths to read; its `output` is a file name. `node` is a
chosen node, by default the best one. `command` is what the report shows to make the same release.
The folder then has the release, `report.html`, `result.json` and `transformation.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from shoal.definition.read import from_mapping
from shoal.errors import BadOutput
from shoal.pipeline import run as release
from shoal.report.result import to_dict
from shoal.report.run import write_report

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context

REPORT, TRANSFORMATION = "report.html", "transformation.json"


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Release, and return the result; stopping the job keeps the best node found."""
    definition = from_mapping(arguments["definition"], folder=context.folder)
    output = None if definition.output is None else definition.output.file
    if output is None or output.parent != context.folder:
        raise BadOutput("the output is not a file name", code="bad-output", hint="name a file")
    result = release(
        definition,
        observe=context.observe,
        keep_best=True,
        node=arguments.get("node"),
        transformation=context.folder / TRANSFORMATION,
    )
    write_report(result, definition, context.folder / REPORT, command=arguments.get("command"))
    return {**to_dict(result), "output": PurePath(output).name}

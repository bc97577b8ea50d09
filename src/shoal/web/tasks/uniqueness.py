"""How many records the chosen quasi-identifiers single out, as the table is.

Arguments: `table`, the records as the task `profile` copied them; `columns`; `missing`, the texts
for missing values; `k`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shoal.analysis.uniqueness import uniqueness
from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions, Resources

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Count the classes."""
    resources = Resources(memory_limit=context.memory // 2)
    with open_files(
        FileOptions(arguments["table"]), name="the table", resources=resources
    ) as table:
        return asdict(uniqueness(table, arguments["columns"], arguments["missing"], arguments["k"]))

"""Count the quasi-identifiers, propose hierarchies, and show what the given ones make of them.

Arguments: `source`, as a definition has it, with real paths; `label`, what its owner calls it;
`missing`, texts that mean missing; `columns`, each with its hierarchy or None. The result has for
each column its hierarchy, what `Levels` says, and the proposed hierarchy with its reason. The
folder gets a Parquet file with the counts of each column, so that the page can try other ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.definition.hierarchies.registry import written
from shoal.definition.read import from_mapping
from shoal.encode.propose import propose, reason
from shoal.engines.opening import open_source
from shoal.engines.options import Resources
from shoal.errors import ShoalError
from shoal.web.hierarchies.levels import Levels, Problem, levels_of
from shoal.web.hierarchies.written import kind_of_mapping

if TYPE_CHECKING:
    from shoal.engines.options import SourceOptions
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Count, and describe the levels of each column; errors name no path of the server."""
    source = arguments["source"]
    path = str(source.get("path", "")) if isinstance(source, Mapping) else ""
    try:
        return _counted(arguments, context)
    except ShoalError as error:
        if path:
            error.what = error.what.replace(path, arguments["label"])
        raise


def _counted(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    columns: Mapping[str, Any] = arguments["columns"]
    options = _options(arguments["source"], next(iter(columns)))
    found: dict[str, Any] = {}
    resources = Resources(memory_limit=context.memory // 2)
    with closing(open_source(options, expect=tuple(columns), resources=resources)) as source:
        for number, (column, hierarchy) in enumerate(columns.items()):
            context.say("phase", {"phase": "read", "share": number / len(columns)})
            table = source.count_by([column], missing=arguments["missing"])
            pq.write_table(table.rename_columns(["value", "records"]), counts_file(context, number))
            found[column] = {"file": number, **described(column, hierarchy, *counts_of(table))}
    return {"columns": found}


def counts_file(context: Context, number: int) -> Path:
    """Where the counts of a column are: columns are numbered, since their names may be anything."""
    return context.folder / f"counts-{number}.parquet"


def counts_of(table: pa.Table) -> tuple[dict[str, int], int]:
    """The records of each value, and those without a value."""
    values: Sequence[str | None] = table.column(0).to_pylist()
    records = dict(zip(values, table.column(1).to_pylist(), strict=True))
    missing = records.pop(None, 0)
    return {value: count for value, count in records.items() if value is not None}, missing


def described(
    column: str, hierarchy: Any, counts: Mapping[str, int], missing: int
) -> dict[str, Any]:
    """What the page shows of a column, for the hierarchy given or else the proposed one."""
    values = sorted(counts)
    proposed = propose(values)
    try:
        kind = proposed if hierarchy is None else kind_of_mapping(column, hierarchy)
        levels, _ = levels_of(column, kind, counts, missing)
    except ShoalError as error:
        levels = Levels(len(counts), sum(counts.values()), missing, problem=Problem.of(error))
    return {
        "hierarchy": hierarchy,
        "levels": levels.as_json(),
        "proposed": written(proposed),
        "reason": reason(values, proposed),
    }


def _options(source: Any, column: str) -> SourceOptions:
    """How the source is opened; the rest of the definition may still have mistakes."""
    attributes = {column: "quasi-identifier"}
    return from_mapping({"source": source, "k": 2, "attributes": attributes}).source.options()

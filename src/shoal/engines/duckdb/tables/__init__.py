"""Tables of DuckDB files as sources and outputs; `opening.py` calls what is named here.

A DuckDB file is read by the engine that reads Parquet: the file is attached to a session, and its
table is a relation like any other. So it needs no dialect of `engines/database`, no driver, and no
other code for values, counting and recoding.

`attached.py` is the open file: its tables, and what a query reads of it. `source.py` reads,
`staged.py` writes, and `checks.py` refuses outputs before a run.
"""

from __future__ import annotations

from shoal.engines.duckdb.tables.checks import (
    check_apart,
    check_columns,
    check_table,
    check_url,
    is_there,
)
from shoal.engines.duckdb.tables.source import open_table
from shoal.engines.duckdb.tables.staged import stage_recoded, stage_rows

__all__ = [
    "check_apart",
    "check_columns",
    "check_table",
    "check_url",
    "is_there",
    "open_table",
    "stage_recoded",
    "stage_rows",
]

"""Tables of databases, by SQLAlchemy URL: counted, recoded and released where they are.

Read `source` first: it is what the pipeline sees, with `staged` for its outputs and `checks` for
what is refused before a run. `address` parses a URL; `session` is one connection, with the locks
that it waits for, and `failures` its errors; `names` are names of tables. `relation` and its
`fields` describe what is read. `counting` and `recoding` are the queries of a release; they join
temporary tables of `labels` and `classes`. `fetching` and `joining` give records of a table, or of
joined ones, to a data mart. `column_types` are the types of what leaves a database, and those of a
table that is made of a stream. All that differs between databases is in `dialects`,
which know the rest by `connection` alone.
"""

from __future__ import annotations

import importlib.util

from shoal.errors import MissingExtra

if importlib.util.find_spec("sqlalchemy") is None:
    raise MissingExtra(
        "databases need SQLAlchemy, which is not installed",
        code="missing-driver",
        hint="install it: pip install 'shoal[databases]'",
    )

from shoal.engines.database.checks import (
    check_apart,
    check_columns,
    check_table,
    check_url,
    is_there,
)
from shoal.engines.database.names import leftover_tables, remove_leftovers
from shoal.engines.database.source import open_table
from shoal.engines.database.staged import stage_recoded, stage_rows

__all__ = [
    "check_apart",
    "check_columns",
    "check_table",
    "check_url",
    "is_there",
    "leftover_tables",
    "open_table",
    "remove_leftovers",
    "stage_recoded",
    "stage_rows",
]

"""Tables of databases, by SQLAlchemy URL: counted, recoded and released where they are.

`address` reads the URL, `session` is one connection, `fields` and `texts` say what a column is and
how its values are spelled (`storage` for SQLite), `counting` and `recoding` are the two queries,
`reading` and `writing` move rows as Arrow, in the types of `streaming` and `storable`, `overlap`
tells whether a source reads the table that would be replaced, `fitting` whether the output can hold
what is released, `stored` is how a verifier reads, `source` and `staged` are what the pipeline
sees.
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

from shoal.engines.database.fitting import check_columns
from shoal.engines.database.leftovers import leftover_tables, remove_leftovers
from shoal.engines.database.overlap import check_apart, is_there
from shoal.engines.database.source import open_table
from shoal.engines.database.staged import check_table, stage_recoded, stage_rows

__all__ = [
    "check_apart",
    "check_columns",
    "check_table",
    "is_there",
    "leftover_tables",
    "open_table",
    "remove_leftovers",
    "stage_recoded",
    "stage_rows",
]

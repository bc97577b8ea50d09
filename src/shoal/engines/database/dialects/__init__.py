"""What differs between databases, and nothing else: one dialect for each kind.

`base` and `values` are the questions that the engine asks; read them first. `stored` is how the
verifier reads. Then the answers: `sqlite`, `postgres` and `mysql` (with MariaDB) for connections,
errors and tables; `sqlite_values`, `postgres_values` and `mysql_values` for types and texts. `rows`
moves rows by a cursor, `postgres_copy` by COPY.

To add a database, write its `Dialect` and `Values` in a file here, name it in `DIALECTS` below and
in docs/guides/databases.md, and let tests/engines/test_engine_suite.py run on a real server of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from shoal.engines.database.dialects.mysql import MariaDB, MySQL
from shoal.engines.database.dialects.postgres import Postgres
from shoal.engines.database.dialects.sqlite import SQLite

if TYPE_CHECKING:
    from shoal.engines.database.dialects.base import Dialect

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        scheme: dialect
        for dialect in (Postgres(), MySQL(), MariaDB(), SQLite())
        for scheme in dialect.schemes
    }
)
"""The dialect for what a URL begins with."""

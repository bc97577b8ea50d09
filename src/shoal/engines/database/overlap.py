"""Whether the source reads the table that its release would replace: the database is asked.

Names cannot tell: one table has many (schemas, search paths, case, quotes, hosts), and a view or a
query reads tables that it hides. So a connection opens the source, which makes the database look up
all its tables, and another one looks at the table to be replaced. Nothing is changed by that.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from shoal.engines.base import without_password
from shoal.engines.database import overlap_mysql, overlap_postgres, overlap_sqlite
from shoal.engines.database.address import address
from shoal.engines.database.failures import failure
from shoal.engines.database.names import exists, future, located
from shoal.engines.database.session import Session

if TYPE_CHECKING:
    from shoal.engines.base import DatabaseOptions, DatabaseTarget

_TELLS = {
    "postgresql": overlap_postgres.tell,
    "mysql": overlap_mysql.tell,
    "mariadb": overlap_mysql.tell,
    "sqlite": overlap_sqlite.tell,
}
"""For the system of the source: whether it reads a table, and why that cannot be told."""


def is_there(target: DatabaseTarget) -> bool:
    """Whether there is a table, or a view, of the name of the target."""
    with closing(Session(target.url, without_password(target.url))) as output:
        return exists(output, future(output, target.table))


def check_apart(
    options: DatabaseOptions, target: DatabaseTarget, *, is_member: bool = False
) -> None:
    """Refuse to replace a table that the source reads, or of which nobody can tell.

    `is_member` says that the source is one of several, or has columns with other names: then it is
    read by a connection that does not write the release.
    """
    if is_member and overlap_sqlite.locks_out(options, target):
        raise failure("output-locked-by-source", without_password(target.url))
    if not target.replace:
        return
    shown = f"{target.table} of {without_password(target.url)}"
    with closing(Session(target.url, shown)) as output:
        name = future(output, target.table)
        if not exists(output, name):
            return
        tell = _TELLS.get(address(options.url).get_backend_name())
        if tell is None:
            reads, hidden = False, "this is not known for databases of its kind"
        else:
            reads, hidden = tell(options, output, located(output, name))
    if reads:
        raise failure("output-is-source", shown)
    if hidden:
        raise failure("output-may-be-source", shown, hidden)

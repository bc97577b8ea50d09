"""Our errors for what fails in a database: the text of a driver's error may quote data.

A dialect maps the driver's error to one of our codes; here are the messages of the codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from shoal.engines.database.dialects.values import STOP
from shoal.errors import BadData, BadOutput, UserError

if TYPE_CHECKING:
    from shoal.engines.database.dialects.base import Dialect

UNUSABLE = (ValueError, TypeError, AttributeError, LookupError, OSError)
"""What drivers raise, beside errors of their own, for parts of a URL that they cannot use."""


@dataclass(frozen=True)
class _Message:
    """What is wrong, and what to do; `{name}` is what was read or written."""

    code: str
    what: str
    hint: str


_MESSAGES: Mapping[str, _Message] = MappingProxyType(
    {
        message.code: message
        for message in (
            _Message(
                code="login-refused",
                what="{name}: the server refused the user or the password",
                hint="set PGPASSWORD or MYSQL_PWD, or use ~/.pgpass or ~/.my.cnf",
            ),
            _Message(
                code="no-database",
                what="{name}: there is no such database on the server",
                hint="see the last part of the URL",
            ),
            _Message(
                code="no-schema",
                what="{name}: there is no such schema",
                hint="see the part before the dot",
            ),
            _Message(
                code="no-permission",
                what="{name}: the user may not do that",
                hint="grant SELECT on what is read, and CREATE and TEMPORARY where tables are made",
            ),
            _Message(
                code="no-table",
                what="{name}: there is no such table or view",
                hint="see the name and its schema",
            ),
            _Message(
                code="table-exists",
                what="{name}: the table exists already",
                hint="say `replace: true` to replace it, or choose another name",
            ),
            _Message(
                code="table-in-use",
                what="{name}: views or other tables need the old table, which cannot be replaced",
                hint="drop them first, or choose another name",
            ),
            _Message(
                code="output-is-source",
                what="the output {name} is read by the source, which would be lost",
                hint="write to another table",
            ),
            _Message(
                code="output-may-be-source",
                what="the output {name} would be replaced, but the source may read it: {kind}",
                hint="write to a table that does not exist yet, or drop the old one yourself",
            ),
            _Message(
                code="output-locked-by-source",
                what="{name} would be read by one connection and written by another, which SQLite"
                " forbids: its source is one of several, or has columns renamed or left out",
                hint="write to another file, say it in a `query`, or set journal_mode to wal",
            ),
            _Message(
                code="source-changed",
                what="{name} has values now that it did not have when it was counted",
                hint="the source changed while it was read; run again when nobody writes to it",
            ),
            _Message(
                code="disk-full",
                what="the disk of the database is full: {name}",
                hint="free some space there",
            ),
            _Message(
                code="bad-encoding",
                what="{name} has a text whose bytes are not UTF-8",
                hint="correct it, or give a query that reads the column as a BLOB or leaves it out",
            ),
            _Message(
                code="unstorable-text",
                what="{name}: the database cannot hold a text of the release",
                hint="look for NUL characters, and for a table whose character set is not UTF-8",
            ),
            _Message(
                code="database-busy",
                what="{name}: others hold locks on the database or wrote at the same time",
                hint="run again when they are done",
            ),
            _Message(
                code="query-stopped",
                what="{name}: the database stopped the query",
                hint="raise its time limit for queries, or run again",
            ),
            _Message(
                code="connection-lost",
                what="{name}: the connection was lost; nothing was released",
                hint="check that the server runs, and run again",
            ),
            _Message(
                code="cannot-connect",
                what="{name}: cannot connect",
                hint="check that the server runs, and the host, port or file in the URL",
            ),
            _Message(
                code="bad-url",
                what="{name}: the driver cannot use a part of the URL ({kind})",
                hint="see the host, and what follows the `?`: parameters are those of psycopg"
                " or PyMySQL",
            ),
            _Message(
                code="database-error",
                what="{name} cannot be read or written ({kind})",
                hint="check that the table or query works in the database's own client",
            ),
        )
    }
)
_OUTPUT = (
    "disk-full",
    "no-schema",
    "output-is-source",
    "output-locked-by-source",
    "output-may-be-source",
    "table-exists",
    "table-in-use",
    "unstorable-text",
)
"""The codes that are about the output."""


def explained(
    error: BaseException,
    dialect: Dialect,
    name: str,
    holders: Sequence[str] = (),
    *,
    connecting: bool = False,
) -> UserError:
    """Our error for one of a driver or of SQLAlchemy; `name` is what was read or written.

    `holders` are those who may hold the locks that a statement waited for.
    """
    original = getattr(error, "orig", None) or error
    code = _code(original, dialect)
    if connecting and _is_about_url(original):
        code = "bad-url"
    if code == "database-error" and connecting:
        code = "cannot-connect"
    if code == "cannot-connect" and not connecting and dialect.is_server:
        code = "connection-lost"
    if code == "database-busy" and holders:
        return _busy(name, holders)
    return failure(code, name, _kind(original, dialect))


def failure(code: str, name: str, kind: str = "") -> UserError:
    """The error of a code; `kind` is put into its text where that has a slot for it."""
    message = _MESSAGES[code]
    made = BadOutput if code in _OUTPUT else BadData
    return made(message.what.format(name=name, kind=kind), code=code, hint=message.hint)


def _busy(name: str, holders: Sequence[str]) -> UserError:
    """A lock that was not granted in time, and who may hold it."""
    whom = holders[0] if len(holders) == 1 else f"one of {', '.join(holders)}"
    return BadData(
        f"{name}: waits for a lock that is held by {whom}",
        code="database-busy",
        hint="run again when they are done, or end their work",
    )


def _is_about_url(error: BaseException) -> bool:
    """Whether a driver, or SQLAlchemy, could not even try to connect.

    psycopg says so of a parameter that it does not know, without a state of the server.
    """
    own = type(error).__name__ in ("ArgumentError", "ProgrammingError")
    return isinstance(error, UNUSABLE) or (own and getattr(error, "sqlstate", None) is None)


def _code(error: BaseException, dialect: Dialect) -> str:
    if STOP in str(error):
        return "source-changed"
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        return "bad-encoding"
    if code := dialect.error_code(error):
        return code
    lost = "closed" in str(error) or "terminat" in str(error)
    return "connection-lost" if lost else "database-error"


def _kind(error: BaseException, dialect: Dialect) -> str:
    """The type and number of an error, to look it up; never its text, which may quote data."""
    number = dialect.error_number(error)
    return f"{type(error).__name__} {number}" if number else type(error).__name__

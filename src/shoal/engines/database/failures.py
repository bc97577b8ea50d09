"""What a failed statement means for the user, in our words: a driver's may quote data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from shoal.errors import BadData, BadOutput, UserError

UNUSABLE = (ValueError, TypeError, AttributeError, LookupError, OSError)
"""What drivers raise, beside errors of their own, for parts of a URL that they cannot use."""

STOP = "shoal: a value that was not counted"
"""What a recoding query says when it meets a value nobody counted."""

_STATES: Mapping[str, str] = MappingProxyType(
    {
        "28P01": "login-refused",
        "28000": "login-refused",
        "3D000": "no-database",
        "3F000": "no-schema",
        "42501": "no-permission",
        "25006": "no-permission",
        "42P01": "no-table",
        "42P07": "table-exists",
        "2BP01": "table-in-use",
        "53100": "disk-full",
        "22021": "unstorable-text",
        "55P03": "database-busy",
        "40001": "database-busy",
        "40P01": "database-busy",
        "57014": "query-stopped",
    }
)
"""Our code for an SQLSTATE of PostgreSQL."""

_NUMBERS: Mapping[int, str] = MappingProxyType(
    {
        1045: "login-refused",
        1698: "login-refused",
        1049: "no-database",
        1044: "no-permission",
        1142: "no-permission",
        1143: "no-permission",
        1227: "no-permission",
        1290: "no-permission",
        1146: "no-table",
        1050: "table-exists",
        1242: "source-changed",
        1021: "disk-full",
        1114: "disk-full",
        1366: "unstorable-text",
        1205: "database-busy",
        1213: "database-busy",
        1317: "query-stopped",
        1969: "query-stopped",
        3024: "query-stopped",
        1053: "connection-lost",
        1927: "connection-lost",
        2006: "connection-lost",
        2013: "connection-lost",
        2003: "cannot-connect",
        2002: "cannot-connect",
    }
)
"""Our code for an error number of MySQL and MariaDB."""

_SQLITE: Mapping[str, str] = MappingProxyType(
    {
        "SQLITE_BUSY": "database-busy",
        "SQLITE_LOCKED": "database-busy",
        "SQLITE_READONLY": "no-permission",
        "SQLITE_PERM": "no-permission",
        "SQLITE_FULL": "disk-full",
        "SQLITE_CANTOPEN": "cannot-connect",
        "SQLITE_NOTADB": "cannot-connect",
        "SQLITE_CORRUPT": "cannot-connect",
        "SQLITE_INTERRUPT": "query-stopped",
    }
)
"""Our code for the beginning of an error name of SQLite."""


@dataclass(frozen=True)
class _Said:
    """What is said of a failure, and what to do; `{name}` is what was read or written."""

    code: str
    what: str
    hint: str


_SAID: Mapping[str, _Said] = MappingProxyType(
    {
        said.code: said
        for said in (
            _Said(
                code="login-refused",
                what="{name}: the server refused the user or the password",
                hint="set PGPASSWORD or MYSQL_PWD, or use ~/.pgpass or ~/.my.cnf",
            ),
            _Said(
                code="no-database",
                what="{name}: there is no such database on the server",
                hint="see the last part of the URL",
            ),
            _Said(
                code="no-schema",
                what="{name}: there is no such schema",
                hint="see the part before the dot",
            ),
            _Said(
                code="no-permission",
                what="{name}: the user may not do that",
                hint="grant SELECT on what is read, and CREATE and TEMPORARY where tables are made",
            ),
            _Said(
                code="no-table",
                what="{name}: there is no such table or view",
                hint="see the name and its schema",
            ),
            _Said(
                code="table-exists",
                what="{name}: the table exists already",
                hint="say `replace: true` to replace it, or choose another name",
            ),
            _Said(
                code="table-in-use",
                what="{name}: views or other tables need the old table, which cannot be replaced",
                hint="drop them first, or choose another name",
            ),
            _Said(
                code="output-is-source",
                what="the output {name} is read by the source, which would be lost",
                hint="write to another table",
            ),
            _Said(
                code="output-may-be-source",
                what="the output {name} would be replaced, but the source may read it: {kind}",
                hint="write to a table that does not exist yet, or drop the old one yourself",
            ),
            _Said(
                code="output-locked-by-source",
                what="{name} would be read by one connection and written by another, which SQLite"
                " forbids: its source is one of several, or has columns renamed or left out",
                hint="write to another file, say it in a `query`, or set journal_mode to wal",
            ),
            _Said(
                code="source-changed",
                what="{name} has values now that it did not have when it was counted",
                hint="the source changed while it was read; run again when nobody writes to it",
            ),
            _Said(
                code="disk-full",
                what="the disk of the database is full: {name}",
                hint="free some space there",
            ),
            _Said(
                code="bad-encoding",
                what="{name} has a text whose bytes are not UTF-8",
                hint="mend it, or give a query that reads the column as a BLOB or leaves it out",
            ),
            _Said(
                code="unstorable-text",
                what="{name}: the database cannot hold a text of the release",
                hint="look for NUL characters, and for a table whose character set is not UTF-8",
            ),
            _Said(
                code="database-busy",
                what="{name}: others hold locks on the database or wrote at the same time",
                hint="run again when they are done",
            ),
            _Said(
                code="query-stopped",
                what="{name}: the database stopped the query",
                hint="raise its time limit for queries, or run again",
            ),
            _Said(
                code="connection-lost",
                what="{name}: the connection was lost; nothing was released",
                hint="see that the server runs, and run again",
            ),
            _Said(
                code="cannot-connect",
                what="{name}: cannot connect",
                hint="see that the server runs, and the host, port or file in the URL",
            ),
            _Said(
                code="bad-url",
                what="{name}: the driver cannot use a part of the URL ({kind})",
                hint="see the host, and what stands behind the `?`: parameters are those of psycopg"
                " or PyMySQL",
            ),
            _Said(
                code="database-error",
                what="{name} cannot be read or written ({kind})",
                hint="see that the table or query works in the database's own client",
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


def explained(
    error: BaseException, name: str, holders: Sequence[str] = (), *, connecting: bool = False
) -> UserError:
    """Our error for one of a driver or of SQLAlchemy; `name` is what was read or written.

    `holders` are those who may hold the locks that a statement waited for.
    """
    original = getattr(error, "orig", None) or error
    code = _code(original)
    if connecting and _is_about_url(original):
        code = "bad-url"
    if code == "database-error" and connecting:
        code = "cannot-connect"
    if code == "cannot-connect" and not connecting and not hasattr(original, "sqlite_errorname"):
        code = "connection-lost"
    if code == "database-busy" and holders:
        return _busy(name, holders)
    return failure(code, name, _kind(original))


def _busy(name: str, holders: Sequence[str]) -> UserError:
    """A lock that was not granted in time, and who may hold it."""
    whom = holders[0] if len(holders) == 1 else f"one of {', '.join(holders)}"
    return BadData(
        f"{name}: waits for a lock that is held by {whom}",
        code="database-busy",
        hint="run again when they are done, or end their work",
    )


def failure(code: str, name: str, kind: str = "") -> UserError:
    """The error of a code."""
    said = _SAID[code]
    made = BadOutput if code in _OUTPUT else BadData
    return made(said.what.format(name=name, kind=kind), code=code, hint=said.hint)


def _is_about_url(error: BaseException) -> bool:
    """Whether a driver, or SQLAlchemy, could not even try to connect.

    psycopg says so of a parameter that it does not know, without a state of the server.
    """
    own = type(error).__name__ in ("ArgumentError", "ProgrammingError")
    return isinstance(error, UNUSABLE) or (own and getattr(error, "sqlstate", None) is None)


def _code(error: BaseException) -> str:
    if STOP in str(error):
        return "source-changed"
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        return "bad-encoding"
    if getattr(error, "sqlite_errorname", None):
        return _sqlite_code(error)
    if error.args and isinstance(error.args[0], int):
        return _NUMBERS.get(error.args[0], "database-error")
    if hasattr(error, "sqlstate"):
        return _postgres_code(error)
    lost = "closed" in str(error) or "terminat" in str(error)
    return "connection-lost" if lost else "database-error"


def _postgres_code(error: BaseException) -> str:
    """Without a state the connection itself failed; a refused login has none either."""
    state = getattr(error, "sqlstate", None)
    message = str(error)
    if state is None:
        if "password" in message or "authentication" in message:
            return "login-refused"
        if "database" in message and "does not exist" in message:
            return "no-database"
        return "cannot-connect" if type(error).__name__ != "DataError" else "unstorable-text"
    if state.startswith(("08", "57P")):
        return "connection-lost"
    return _STATES.get(state, "database-error")


def _sqlite_code(error: BaseException) -> str:
    name = str(getattr(error, "sqlite_errorname", ""))
    if "user-defined function raised exception" in str(error):
        return "source-changed"
    if "no such table" in str(error):
        return "no-table"
    known = (code for start, code in _SQLITE.items() if name.startswith(start))
    return next(known, "database-error")


def _kind(error: BaseException) -> str:
    """What tells the mistake to somebody who can look it up: a state or number, never a text."""
    state = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorname", None)
    if error.args and isinstance(error.args[0], int):
        state = error.args[0]
    return f"{type(error).__name__} {state}" if state else type(error).__name__

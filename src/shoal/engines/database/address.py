"""A database URL: the driver it needs, the secrets it leaves to the environment, its file."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shoal.engines.base import without_password
from shoal.engines.same_file import from_home, is_same_file, sqlite_file
from shoal.errors import BadData, MissingExtra, did_you_mean, quoted

if TYPE_CHECKING:
    import sqlalchemy as sa

DRIVERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "postgresql": ("postgresql+psycopg", "psycopg"),
        "postgres": ("postgresql+psycopg", "psycopg"),
        "mysql": ("mysql+pymysql", "pymysql"),
        "mariadb": ("mariadb+pymysql", "pymysql"),
        "sqlite": ("sqlite", "sqlite3"),
        "oracle": ("oracle+oracledb", "oracledb"),
        "mssql": ("mssql+pyodbc", "pyodbc"),
    }
)
"""For the system a URL names: SQLAlchemy's name of the driver we use, and the module it needs."""

SQLITE_PARAMETERS = ("uri", "timeout", "mode", "cache", "immutable", "nolock", "psow", "vfs")
"""What may stand behind the `?` of a URL of SQLite; the driver passes over all else in silence."""

CONNECT_WITHIN = 30
"""Seconds for a server to answer, unless the URL says `connect_timeout`."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def address(url: str) -> sa.URL:
    """The URL with our driver, and with every `${NAME}` filled in from the environment."""
    import sqlalchemy as sa

    try:
        made = sa.make_url(_filled(url))
    except (sa.exc.ArgumentError, ValueError):
        raise _bad(url, "write for example postgresql://user@host/database") from None
    system = made.drivername.partition("+")[0]
    if system not in DRIVERS:
        raise BadData(
            f"no database is called {system!r}{did_you_mean(system, DRIVERS)}",
            code="bad-url",
            hint="begin it with postgresql://, mysql://, mariadb:// or sqlite:///",
        )
    driver, module = DRIVERS[system]
    if importlib.util.find_spec(module) is None:
        raise _missing(module)
    if fault := _fault(made, system):
        raise _bad(url, fault)
    return made.set(drivername=driver)


def _fault(url: sa.URL, system: str) -> str:
    """How to mend what can be read as a URL, but not be used by any driver; else nothing."""
    texts = [url.username, url.host, url.database, *url.query, *url.query.values()]
    if any("\0" in str(text) for text in texts):
        return "leave out what is spelled %00"
    if url.port is not None and not 0 < url.port < 2**16:
        return "give a port from 1 to 65535"
    if system != "sqlite":
        return ""
    if url.host or url.username or url.port is not None:
        return "write three slashes before the path of the file: sqlite:///patients.db"
    if url.database in (None, "", ":memory:"):
        return "name the file of the database: sqlite:///patients.db"
    if "uri" in url.query and not str(url.database).startswith("file:"):
        return "leave out `uri`, or begin the path with file: (sqlite:///file:patients.db?uri=true)"
    unknown = [name for name in url.query if name not in SQLITE_PARAMETERS]
    return f"leave out {quoted(unknown)}, which SQLite does not know" if unknown else ""


def _bad(url: str, hint: str) -> BadData:
    what = f"{without_password(url)!r} is not the URL of a database"
    return BadData(what, code="bad-url", hint=hint)


def same_database(one: sa.URL, other: sa.URL) -> bool:
    """Whether both lead to the same database as the same user: then one connection will do.

    The parameters of the URLs have to be alike too, since they may say which schemas a name is
    looked for in. SQLite locks its file as a whole, so there the file alone decides.
    """
    if one.get_backend_name() == other.get_backend_name() == "sqlite":
        return same_file(one, other)
    parts = ("drivername", "username", "host", "port", "database", "query")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def same_file(one: sa.URL, other: sa.URL) -> bool:
    """Whether two URLs of SQLite lead to one file, by whatever path or link."""
    first, second = file_of(one), file_of(other)
    if first is None or second is None:
        return first is second
    return is_same_file(first, second)


def file_of(url: sa.URL) -> Path | None:
    """The file of a SQLite database; None for one in memory and for a server."""
    if url.get_backend_name() != "sqlite":
        return None
    return sqlite_file(url.database, url.query)


def connect_arguments(url: sa.URL) -> dict[str, Any]:
    """What a driver is told beside the URL: above all where the usual clients keep passwords.

    libpq reads PGPASSWORD and ~/.pgpass by itself.
    """
    system = url.get_backend_name()
    within = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_WITHIN}
    if system == "postgresql":
        return {"application_name": "shoal", "client_encoding": "utf8", **within}
    if system == "sqlite":
        return {"check_same_thread": False, "isolation_level": None}
    if system not in ("mysql", "mariadb"):
        return {}
    arguments: dict[str, Any] = {"charset": "utf8mb4", **within}
    settings = from_home("~/.my.cnf")
    if settings.is_file():
        arguments["read_default_file"] = str(settings)
    if url.password is None and "MYSQL_PWD" in os.environ:
        arguments["password"] = os.environ["MYSQL_PWD"]
    return arguments


def _filled(url: str) -> str:
    """Variables in place; inside a URL their characters are escaped, a whole URL is not."""
    whole = _VARIABLE.fullmatch(url)
    if whole:
        return _variable(whole[1], url)
    return _VARIABLE.sub(lambda match: quote(_variable(match[1], url), safe="/"), url)


def _variable(name: str, url: str) -> str:
    if name not in os.environ:
        raise BadData(
            f"the URL {without_password(url)} needs the environment variable {name}",
            code="no-variable",
            hint=f"set it before the run: export {name}=",
        )
    return os.environ[name]


def _missing(module: str) -> MissingExtra:
    package = {"oracledb": "oracledb", "pyodbc": "pyodbc"}.get(module, "'shoal[databases]'")
    return MissingExtra(
        f"this database needs {module}, which is not installed",
        code="missing-driver",
        hint=f"install it: pip install {package}",
    )

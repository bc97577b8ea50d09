"""A database URL: its dialect, and the secrets that it leaves to the environment."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import sqlalchemy as sa

from shoal.engines.database.dialects import DIALECTS
from shoal.engines.options import without_password
from shoal.errors import BadData, MissingExtra, did_you_mean

if TYPE_CHECKING:
    from shoal.engines.database.dialects.base import Dialect

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def address(url: str) -> sa.URL:
    """The URL with our driver, and with every `${NAME}` filled in from the environment."""
    try:
        made = sa.make_url(_filled(url))
    except (sa.exc.ArgumentError, ValueError):
        raise _bad(url, "write for example postgresql://user@host/database") from None
    scheme = made.drivername.partition("+")[0]
    if scheme not in DIALECTS:
        raise _unsupported(scheme)
    dialect = DIALECTS[scheme]
    if importlib.util.find_spec(dialect.module) is None:
        raise MissingExtra(
            f"this database needs {dialect.module}, which is not installed",
            code="missing-driver",
            hint="install it: pip install 'shoal[databases]'",
        )
    if fault := _fault(made) or dialect.url_fault(made):
        raise _bad(url, fault)
    return made.set(drivername=dialect.driver)


def dialect_of(url: sa.URL) -> Dialect:
    """The dialect of a URL that `address` gave."""
    return DIALECTS[url.get_backend_name()]


def same_database(one: sa.URL, other: sa.URL) -> bool:
    """Whether both lead to the same database as the same user: then one connection will do."""
    dialect = dialect_of(one)
    return dialect is dialect_of(other) and dialect.same_database(one, other)


def _fault(url: sa.URL) -> str:
    """How to correct what can be parsed as a URL, but not be used by any driver; else nothing."""
    texts = [url.username, url.host, url.database, *url.query, *url.query.values()]
    if any("\0" in str(text) for text in texts):
        return "leave out what is spelled %00"
    if url.port is not None and not 0 < url.port < 2**16:
        return "give a port from 1 to 65535"
    return ""


def _bad(url: str, hint: str) -> BadData:
    what = f"{without_password(url)!r} is not the URL of a database"
    return BadData(what, code="bad-url", hint=hint)


def _unsupported(scheme: str) -> BadData:
    titles = ", ".join(sorted({dialect.title for dialect in DIALECTS.values()}))
    return BadData(
        f"databases of the kind {scheme!r} are not supported{did_you_mean(scheme, DIALECTS)}",
        code="unsupported-database",
        hint=f"supported are {titles}, and DuckDB by duckdb:///; export the table of another"
        " database to a file, such as CSV or Parquet, and read that",
    )


def _filled(url: str) -> str:
    """The URL with its variables; inside a URL they are escaped, a whole URL is not."""
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

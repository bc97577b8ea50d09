"""Where the data of a command is: everything that a definition can name as its source.

A path, a glob or a folder; the URL of a database with a table or a query; or what Spark reads. The
options become the mapping that a definition would have, so that they are checked as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from shoal.definition.model import SourceLocation

DATA = (
    "A path or glob of CSV, Parquet, JSON, XML or Excel; the URL of a database; what Spark reads."
)
Table: TypeAlias = Annotated[
    str | None, typer.Option(help="The table or view, where the data is the URL of a database.")
]
Query: TypeAlias = Annotated[
    str | None, typer.Option(help="A query in place of a table of the database.")
]
Spark: TypeAlias = Annotated[
    bool, typer.Option("--spark", help="The data is a table or a path that Spark reads.")
]
Master: TypeAlias = Annotated[str | None, typer.Option(help="The Spark cluster; local without.")]


@dataclass(frozen=True)
class Address:
    """A source: as a definition states it, and what it means."""

    stated: dict[str, Any]
    location: SourceLocation

    @property
    def is_files(self) -> bool:
        """Whether it is files on this machine."""
        return "path" in self.stated

    @property
    def name(self) -> str:
        """What files that belong to it are named after; empty where nothing says."""
        if self.is_files:
            return Path(self.stated["path"]).name.partition(".")[0]
        table = str(self.stated.get("table") or self.stated.get("spark") or "")
        return Path(table).name.rpartition(".")[2]


def address_of(
    data: str,
    *,
    table: str | None = None,
    query: str | None = None,
    spark: bool = False,
    master: str | None = None,
    **of_files: Any,
) -> Address:
    """The source that the options of a command name; `of_files` says how files are read."""
    from shoal.calling.opened import located

    stated = {"table": table, "query": query, "master": master, **of_files}
    kind = "spark" if spark else "url" if "://" in data else "path"
    for name in ("table", "query"):
        if stated[name] is not None and kind != "url":
            message = "the data is no URL of a database, as in sqlite:///clinic.db"
            raise typer.BadParameter(message, param_hint=f"--{name}")
    if master is not None and not spark:
        raise typer.BadParameter("goes with --spark", param_hint="--master")
    if data.startswith(("http://", "https://")):
        message = f"{data} is on the web: download the file, and give its path"
        raise typer.BadParameter(message, param_hint="the data")
    if kind == "url" and table is None and query is None:
        message = "say which table of the database, as in --table patients, or give a --query"
        raise typer.BadParameter(message, param_hint="--table")
    mapping = {kind: data} | {
        key: value for key, value in stated.items() if value not in (None, {})
    }
    found = located(mapping, "the data")
    return Address(mapping, found.locations[0])


def refuse_secrets(address: Address) -> None:
    """Refuse a password or a token that would be written into a definition."""
    from shoal.engines.options import shown_master, without_password

    master = str(address.stated.get("master", ""))
    if shown_master(master) != master:
        message = (
            "its parameters, one of which may be a token, would be written into the definition: "
            "leave them out, and set SPARK_CONNECT_AUTHENTICATE_TOKEN"
        )
        raise typer.BadParameter(message, param_hint="--master")

    url = re.sub(r"\$\{\w+\}", "***", str(address.stated.get("url", "")))
    if without_password(url) != url:
        message = (
            "its password would be written into the definition: leave it out, or write the name of "
            "a variable, in single quotes: 'postgresql://me:${CLINIC_PASSWORD}@host/clinic'"
        )
        raise typer.BadParameter(message, param_hint="the URL")

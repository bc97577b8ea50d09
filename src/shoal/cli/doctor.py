"""`shoal doctor`: which engines can be used here, and what installs the others?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

EXAMPLES = """
\b
Examples:
  shoal doctor
  shoal doctor --json
  shoal doctor --strict

What is not found is needed only by those who use it. Exit code 0; with --strict 1 when something is
not found.
"""

PYTHON = (
    ("files and frames", "duckdb", "shoal"),
    ("files and frames", "pyarrow", "shoal"),
    ("databases", "SQLAlchemy", "shoal[databases]"),
    ("PostgreSQL", "psycopg", "shoal[databases]"),
    ("MySQL and MariaDB", "PyMySQL", "shoal[databases]"),
    ("objects of S3", "boto3", "shoal[s3]"),
    ("classifiers", "scikit-learn", "shoal[ml]"),
    ("Spark", "pyspark", "shoal[spark]"),
    ("Spark Connect", "grpcio", "shoal[spark-connect]"),
    ("web pages", "nicegui", "shoal[web]"),
    ("client of a server", "httpx", "shoal[web]"),
    ("pandas frames", "pandas", "pandas"),
    ("polars frames", "polars", "polars"),
)
"""What each distribution is for, and what to install to get it."""


@dataclass(frozen=True)
class Requirement:
    """Something that a part of Shoal needs: the version that was found, or how to get it."""

    purpose: str
    name: str
    version: str | None
    remedy: str


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was found as JSON on standard output.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 when something is not found.")
    ] = False,
) -> None:
    """Say which engines, drivers and Java are found, and what installs the others."""
    requirements = [_python(), *_distributions(), _sqlite(), _java(), _memory(), _search()]
    if as_json:
        _print_json(requirements)
    else:
        _print_table(requirements)
    if strict and any(each.version is None for each in requirements):
        raise typer.Exit(1)


doctor.__doc__ = f"{doctor.__doc__}\n{EXAMPLES}"


def _python() -> Requirement:
    import platform

    return Requirement("everything", "Python", platform.python_version(), "")


def _distributions() -> Iterator[Requirement]:
    from importlib.metadata import PackageNotFoundError, version

    for purpose, name, install in PYTHON:
        found = None
        with contextlib.suppress(PackageNotFoundError):
            found = version(name)
        quoted = f"'{install}'" if "[" in install else install
        yield Requirement(purpose, name, found, f"pip install {quoted}")


def _sqlite() -> Requirement:
    import sqlite3

    return Requirement("SQLite", "SQLite", sqlite3.sqlite_version, "")


def _java() -> Requirement:
    from shoal.engines.spark.java import find_java
    from shoal.errors import MissingExtra

    found = None
    with contextlib.suppress(MissingExtra):
        java = find_java()
        found = f"{java.version} ({java.origin})"
    return Requirement("Spark", "Java", found, "pip install 'shoal[spark-java]'")


def _memory() -> Requirement:
    from shoal.engines.process import half_of_memory

    half = half_of_memory()
    found = None if half is None else f"{half / 2**30:.1f} GiB"
    return Requirement(
        "files and frames", "memory limit", found, "state it: engine: {memory limit: 8 GB}"
    )


def _search() -> Requirement:
    from shoal.search.compiled.library import NoCompiledSearch, load

    try:
        load()
    except NoCompiledSearch as error:
        return Requirement("search", "compiled search", None, str(error))
    return Requirement("search", "compiled search", "built", "")


def _print_json(requirements: list[Requirement]) -> None:
    import dataclasses

    from shoal.cli.terminal import print_json

    print_json([dataclasses.asdict(each) for each in requirements])


def _print_table(requirements: list[Requirement]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("for", "needs", "found"):
        table.add_column(name, no_wrap=name != "found")
    for each in requirements:
        missing = Text(f"not found; {each.remedy}", style="yellow")
        found = missing if each.version is None else Text(each.version)
        table.add_row(Text(each.purpose), Text(each.name), found)
    Console(highlight=False).print(table)

"""What can be asked of a mart without a release: its log, what it shares, whether it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.mart.check import check_catalog
from shoal.mart.describe import describe as describe_catalog
from shoal.mart.log import Log
from shoal.mart.log_view import LogTable
from shoal.mart.pipeline import load_catalog

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.check_view import CatalogCheck
    from shoal.mart.describe import MartDescription
    from shoal.mart.log_view import LogCheck

    AnyCatalog: TypeAlias = Catalog | Mapping[str, Any] | str | Path


def check(catalog: AnyCatalog, *, spark: Any = None) -> CatalogCheck:
    """Whether every source of a mart is there, with its columns, keys and hierarchies."""
    return check_catalog(load_catalog(catalog), spark=spark)


def describe(catalog: AnyCatalog, asker: str | None = None) -> MartDescription:
    """What a mart shares, with everybody or with one asker: nothing of its records."""
    return describe_catalog(load_catalog(catalog), asker)


def log(catalog: AnyCatalog) -> LogTable:
    """Every request to a mart, in order; an error unless the log is as it was written."""
    return LogTable(Log(load_catalog(catalog).log).entries())


def check_log(catalog: AnyCatalog, contains: Sequence[str] = ()) -> LogCheck:
    """What is wrong with the log of a mart, and which of these digests it does not have."""
    return Log(load_catalog(catalog).log).check(contains)

"""What can be asked of a mart without a release: its log, what it shares, whether it works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.calling.public import public
from shoal.mart.check import check_catalog
from shoal.mart.describe import describe as describe_catalog
from shoal.mart.log import Log
from shoal.mart.log_view import LogTable
from shoal.mart.pipeline import load_catalog

if TYPE_CHECKING:
    from shoal.calling.argument_types import SparkSession
    from shoal.mart.catalog import CatalogLike
    from shoal.mart.check_view import CatalogCheck
    from shoal.mart.describe import MartDescription
    from shoal.mart.log_view import LogCheck


@public("mart.check")
def check(catalog: CatalogLike, *, spark: SparkSession | None = None) -> CatalogCheck:
    """Whether every source of a mart is there, with its columns, keys and hierarchies.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        spark: The session for what is read in Spark, else one is made.

    Example:
        >>> shoal.mart.check("catalog.yaml").verified
        True
    """
    return check_catalog(load_catalog(catalog), spark=spark)


@public("mart.describe")
def describe(catalog: CatalogLike, asker: str | None = None) -> MartDescription:
    """What a mart shares, with everybody or with one asker: nothing of its records.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        asker: Who asks, where the catalog names askers.

    Example:
        >>> shoal.mart.describe("catalog.yaml").mart
        'six patients'
    """
    return describe_catalog(load_catalog(catalog), asker)


@public("mart.log")
def log(catalog: CatalogLike) -> LogTable:
    """Every request to a mart, in order; an error unless the log is as it was written.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.

    Example:
        >>> [entry["kind"] for entry in shoal.mart.log("catalog.yaml").records()][0]
        'released'
    """
    return LogTable(Log(load_catalog(catalog).log).entries())


@public("mart.check_log")
def check_log(catalog: CatalogLike, contains: Sequence[str] = ()) -> LogCheck:
    """What is wrong with the log of a mart, and which of these digests it does not have.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        contains: Digests of entries that somebody kept.

    Example:
        >>> shoal.mart.check_log("catalog.yaml").verified
        True
    """
    return Log(load_catalog(catalog).log).check(contains)

"""A name or a path of a definition, read as a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from shoal.engines.spark.relation import relation_of
from shoal.errors import BadData, did_you_mean, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

    from shoal.engines.options import SparkOptions, SparkTarget
    from shoal.engines.spark.relation import SparkRelation
    from shoal.engines.spark.session import Session

ENDINGS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}
CSV: dict[str, str | bool] = {
    "quote": '"',
    "escape": '"',
    "multiLine": True,
    "mode": "FAILFAST",
    "enforceSchema": False,
}
"""A quote within quotes is doubled, as everywhere else; a row of the wrong length is an error."""
_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


def format_of(location: SparkOptions | SparkTarget) -> str | None:
    """The format of a path, and None for a name of the catalog.

    A path has a slash, a known ending, or a stated format; its format is Parquet by default.
    """
    by_ending = ENDINGS.get(PurePosixPath(location.name).suffix.lower())
    if location.format is None and by_ending is None and "/" not in location.name:
        return None
    return location.format or by_ending or "parquet"


def parts_of(name: str) -> list[str]:
    """A name of the catalog as its parts: catalog, schema, table; backticks hold dots together."""
    return [(quoted or bare).replace("``", "`") for quoted, bare in _PART.findall(name)]


def sql_name(parts: Sequence[str]) -> str:
    """The parts as SQL writes them, whatever characters they have."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def read(session: Session, options: SparkOptions) -> SparkRelation:
    """The table, view or files that the options name."""
    kind = format_of(options)
    if kind is None:
        return session.run(lambda: _read_table(session.spark, options.name), options.name)
    return session.run(lambda: _read_path(session, options.name, kind), options.name)


def read_written(spark: SparkSession, path: str, kind: str, schema: StructType) -> DataFrame:
    """Files that were written with this schema, opened afresh.

    CSV and JSON do not say the types of their columns, so the schema is given.
    """
    reader = spark.read.format(kind)
    if kind == "csv":
        reader = reader.options(**CSV, header=True).schema(schema)
    if kind == "json":
        reader = reader.options(mode="FAILFAST").schema(schema)
    return reader.load(path)


def _read_table(spark: SparkSession, name: str) -> SparkRelation:
    from pyspark.errors import AnalysisException

    try:
        return relation_of(spark.table(sql_name(parts_of(name))), name)
    except AnalysisException as error:
        condition = str(error.getCondition())
        if not re.search("TABLE_OR_VIEW_NOT_FOUND|SCHEMA_NOT_FOUND|NAMESPACE|CATALOG", condition):
            raise
    known = tables_beside(spark, parts_of(name))
    raise BadData(
        f"no table or view {name!r} in Spark's catalog{did_you_mean(parts_of(name)[-1], known)}",
        code="no-table",
        hint=f"there are {quoted(known)}" if known else "a path has a slash, or give a `format`",
    )


def tables_beside(spark: SparkSession, parts: Sequence[str]) -> list[str]:
    """The tables and views in the schema of a name, none where there is no such schema."""
    from pyspark.errors import AnalysisException

    try:
        schema = sql_name(parts[:-1]) if len(parts) > 1 else None
        return sorted(table.name for table in spark.catalog.listTables(schema))
    except AnalysisException:
        return []


def _read_path(session: Session, path: str, kind: str) -> SparkRelation:
    from pyspark.errors import AnalysisException

    spark = session.spark
    if session.is_own:
        spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        if kind == "csv":
            return _read_csv(spark.read.options(**CSV), path)
        if kind == "json":
            return relation_of(_json_reader(spark, path).json(path), path)
        return relation_of(spark.read.format(kind).load(path), path)
    except AnalysisException as error:
        condition = str(error.getCondition())
        raise (_bad_path(path, kind, condition) or error) from None


def _read_csv(reader: DataFrameReader, path: str) -> SparkRelation:
    """All columns as text. The names are read by us: Spark numbers those that stand twice."""
    first = reader.csv(path, header=False).first()
    names = [name or "" for name in first] if first is not None else []
    return relation_of(reader.csv(path, header=True), path, names)


def _json_reader(spark: SparkSession, path: str) -> DataFrameReader:
    """One array over many lines, or one object a line: the first line tells which."""
    first = spark.read.text(path).first()
    is_array = first is not None and str(first[0]).lstrip("\ufeff \t").startswith("[")
    return spark.read.options(multiLine=is_array, mode="FAILFAST")


def _bad_path(path: str, kind: str, condition: str) -> BadData | None:
    if condition == "PATH_NOT_FOUND":
        return BadData(
            f"Spark finds nothing at {path}",
            code="no-files",
            hint="see that every worker can read the path, and that its file system is named",
        )
    if condition == "UNABLE_TO_INFER_SCHEMA":
        return BadData(
            f"{path} has no {kind} files",
            code="no-files",
            hint="see that it is the right folder, or say its format",
        )
    if condition == "COLUMN_ALREADY_EXISTS":
        return BadData(
            f"columns of {path} differ in case alone, or stand twice",
            code="names-differ-in-case",
            hint="set spark.sql.caseSensitive to true in the session, or rename a column",
        )
    return None

"""Whether a source of Spark reads what a release would replace: Spark's own plan says.

A plan names the folders and files of every relation, below views and in subqueries, by whatever
name they were given. So locations are compared, not names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from shoal.engines.local_files import is_read_by, lies_in, resolved
from shoal.engines.options import DatabaseTarget, FileOptions, FileTarget, ObjectTarget, SparkTarget
from shoal.engines.spark.connect import may_be_source
from shoal.engines.spark.reading import format_of, parts_of, sql_name
from shoal.engines.spark.session import open_session
from shoal.engines.spark.source import open_spark
from shoal.engines.spark.storage import Folder
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from shoal.engines.options import SparkOptions, Target
    from shoal.engines.spark.session import Session

_WITHOUT_FILES = ("LocalRelation", "OneRowRelation", "Range", "CTERelationRef", "EmptyRelation")
"""Leaves of a plan that read nothing that could be replaced."""
_TABLES_OF_FILES = ("CSVTable", "JsonTable", "OrcTable", "ParquetTable", "TextTable", "AvroTable")
_FROM_MEMORY = re.compile(
    r"(MapPartitions|Python|ParallelCollection|Empty|Union|Coalesced|Shuffled|ShuffledRow)RDD"
)
"""The kinds of distributed data that are made of records in memory, or of each other."""

HIDDEN, CATALOG = "hidden", "catalog "
"""The system of a location that is unknown, and the prefix for tables of another catalog."""


@dataclass(frozen=True)
class Location:
    """A folder, a file or a table of a catalog: the system, and the path there without links."""

    system: str
    path: PurePosixPath

    @staticmethod
    def of(session: Session, path: str) -> Location:
        """The location of a path, as Spark resolves it."""
        folder = Folder(session, path)
        if folder.local is not None:
            return Location("file", PurePosixPath(resolved(folder.local)))
        system, _, rest = folder.path.partition("://")
        host, _, path = rest.partition("/")
        return Location(f"{system}://{host}", PurePosixPath("/", path))

    def overlaps(self, other: Location) -> bool:
        """Whether one is the other, or in the other."""
        return self.system == other.system != HIDDEN and (
            self.path.is_relative_to(other.path) or other.path.is_relative_to(self.path)
        )


def check_apart(
    options: SparkOptions, target: Target, spark: Any = None, *, replaces_table: bool = False
) -> None:
    """Refuse to replace what a source of Spark reads, or may read.

    `replaces_table` says that the target replaces a table of a database.
    """
    session = open_session(spark, options.master)
    try:
        if session.is_connect:
            _refuse_what_is_there(session, target, replaces_table=replaces_table)
            return
        replaced = _replaced(session, target)
        if not replaced and not replaces_table:
            return
        source = open_spark(options, spark)
        try:
            read = _locations(session, source.frame)
        finally:
            source.close()
    finally:
        session.close()
    if any(one.overlaps(other) for one in read for other in replaced):
        raise _is_source(target)
    if isinstance(target, FileTarget):
        return
    elsewhere = (HIDDEN, CATALOG) if isinstance(target, DatabaseTarget) else (HIDDEN,)
    if any(location.system.startswith(elsewhere) for location in (*read, *replaced)):
        raise BadOutput(
            f"the output {_shown(target)} would be replaced, but the source may read it: not"
            " everything that the source reads is a table or a file of Spark's",
            code="output-may-be-source",
            hint="write to a place where nothing is yet, or remove what is there yourself",
        )


def check_files_apart(options: FileOptions, target: SparkTarget, spark: Any = None) -> None:
    """Refuse to replace a table of Spark whose files are read as files."""
    session = open_session(spark, target.master)
    try:
        if session.is_connect:
            _refuse_what_is_there(session, target)
            return
        replaced = _replaced(session, target)
    finally:
        session.close()
    folders = [Path(location.path) for location in replaced if location.system == "file"]
    if any(lies_in(options.path, each) or is_read_by(options.path, each) for each in folders):
        raise _is_source(target)


def _refuse_what_is_there(
    session: Session, target: Target, *, replaces_table: bool = False
) -> None:
    """Over Spark Connect no plan can be read, so nothing that is there is replaced."""
    is_there = replaces_table
    if isinstance(target, FileTarget):
        is_there = target.path.exists()
    elif isinstance(target, SparkTarget) and target.replace and format_of(target) is None:
        name, spark = sql_name(parts_of(target.name)), session.spark
        is_there = session.run(lambda: spark.catalog.tableExists(name), target.name)
    if is_there:
        raise may_be_source(_shown(target))


def _replaced(session: Session, target: Target) -> list[Location]:
    """What the target replaces: none where nothing is there yet, or it is no target of files."""
    if isinstance(target, FileTarget):
        return [Location.of(session, target.path.absolute().as_uri())]
    if not isinstance(target, SparkTarget) or not target.replace:
        return []
    if format_of(target) is not None:
        is_there = Folder(session, target.name).exists()
        return [Location.of(session, target.name)] if is_there else []
    name, spark = sql_name(parts_of(target.name)), session.spark
    if not session.run(lambda: spark.catalog.tableExists(name), target.name):
        return []
    return _locations(session, session.run(lambda: spark.table(name), target.name))


def _locations(session: Session, frame: DataFrame) -> list[Location]:
    """The locations that a frame reads."""

    def found() -> list[str | Location]:
        leaves = _leaves(frame._jdf.queryExecution().analyzed())
        return [each for leaf in leaves for each in _read_by(leaf)]

    return [
        each if isinstance(each, Location) else Location.of(session, each)
        for each in session.run(found, "the plan")
    ]


def _leaves(plan: Any) -> Iterator[Any]:
    """The relations of a plan, those of its subqueries included."""
    below = [*_items(plan.children()), *_items(plan.subqueries())]
    if not below:
        yield plan
    for each in below:
        yield from _leaves(each)


def _read_by(leaf: Any) -> list[str | Location]:
    """The paths that a relation reads, a table of another catalog, or an unknown location."""
    kind = _kind(leaf)
    if kind in _WITHOUT_FILES:
        return []
    if kind == "LogicalRelation" and _kind(leaf.relation()) == "HadoopFsRelation":
        return [str(root.toString()) for root in _items(leaf.relation().location().rootPaths())]
    if kind == "HiveTableRelation":
        return [str(leaf.tableMeta().location().toString())]
    if kind == "DataSourceV2Relation" and _kind(leaf.table()) in _TABLES_OF_FILES:
        return [str(root.toString()) for root in _items(leaf.table().fileIndex().rootPaths())]
    if kind == "DataSourceV2Relation" and leaf.catalog().isDefined():
        name = leaf.identifier().get()
        parts = [*name.namespace(), name.name()]
        return [Location(f"{CATALOG}{leaf.catalog().get().name()}", PurePosixPath("/", *parts))]
    if kind == "LogicalRDD":
        kinds = re.findall(r"\b(\w+RDD)\[", str(leaf.rdd().toDebugString()))
        if all(_FROM_MEMORY.fullmatch(each) for each in kinds):
            return []
    return [Location(HIDDEN, PurePosixPath("/"))]


def _kind(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def _shown(target: Target) -> str:
    if isinstance(target, FileTarget):
        return str(target.path)
    if isinstance(target, ObjectTarget):
        return target.url
    return target.table if isinstance(target, DatabaseTarget) else target.name


def _is_source(target: Target) -> BadOutput:
    return BadOutput(
        f"the output {_shown(target)} is read by the source, which would be lost",
        code="output-is-source",
        hint="write to another place",
    )

"""Tables of one Spark session, joined there: no record leaves the cluster before it is linked.

Keys of one type are equal exactly when their texts are, and so are whole numbers of any width. Keys
of other types are not joined in Spark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegralType

from shoal.engines.base import Fetchable
from shoal.engines.spark.queries import listed_records
from shoal.engines.spark.values import is_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from shoal.engines.base import TableJoin
    from shoal.engines.spark.relation import SparkRelation
    from shoal.engines.spark.session import Session


def can_join(one: SparkRelation, other: SparkRelation, keys: Sequence[tuple[str, str]]) -> bool:
    """Whether keys of two tables of a session can be compared there."""
    return all(_comparable(one, name, other, other_name) for name, other_name in keys)


def _comparable(one: SparkRelation, name: str, other: SparkRelation, other_name: str) -> bool:
    kinds = one.compared(name), other.compared(other_name)
    whole = all(isinstance(kind, IntegralType) for kind in kinds)
    return whole or kinds[0] == kinds[1] or all(is_text(kind) for kind in kinds)


class JoinedFrames(Fetchable):
    """Tables that Spark joins.

    `columns` says of which table, and which column of it, each column of the join is.
    """

    def __init__(
        self,
        session: Session,
        relations: Mapping[str, SparkRelation],
        joins: Sequence[TableJoin],
        columns: Mapping[str, tuple[str, str]],
    ) -> None:
        self._session = session
        self._relations = relations
        self._joins = tuple(joins)
        self._columns = columns

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return " and ".join(relation.name for relation in self._relations.values())

    @contextmanager
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatchReader]:
        """The joined records whose values are listed, as `Source.fetched` gives those of one."""
        frame = self.frame(columns, only, missing)
        with self._session.batches(frame, columns, self.name) as rows:
            yield rows

    def frame(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str],
    ) -> DataFrame:
        """These columns of the joined records, as c0, c1, ..."""
        parts = {name: self._part(name, columns, only, missing) for name in self._relations}
        joined = parts[next(iter(parts))]
        for number, join in enumerate(self._joins):
            match = F.lit(True)
            for i in range(len(join.keys)):
                match = match & (F.col(f"known_{number}_{i}") == F.col(f"new_{number}_{i}"))
            joined = joined.join(parts[join.new], match, "left" if join.optional else "inner")
        return joined.select(*(f"c{i}" for i in range(len(columns))))

    def _part(
        self,
        table: str,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str],
    ) -> DataFrame:
        """The listed records of one table: its columns c0, c1, ... and its keys."""
        relation = self._relations[table]
        own = {self._columns[n][1]: only[n] for n in only if self._columns[n][0] == table}
        values = [
            relation.value(self._columns[name][1]).alias(f"c{i}")
            for i, name in enumerate(columns)
            if self._columns[name][0] == table
        ]
        for number, join in enumerate(self._joins):
            for i, (known, new) in enumerate(join.keys):
                if join.known == table:
                    values.append(relation.key(known, missing).alias(f"known_{number}_{i}"))
                if join.new == table:
                    values.append(relation.key(new, missing).alias(f"new_{number}_{i}"))
        return listed_records(relation, own, missing).select(*values)

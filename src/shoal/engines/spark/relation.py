"""A DataFrame with names of our own, so that any name works: with dots, backticks, in any case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from shoal.engines.base import Column
from shoal.engines.failures import check_names, unknown_column
from shoal.engines.spark import values
from shoal.errors import BadData

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class SparkRelation:
    """A DataFrame whose columns are c0, c1, ..., with the real name and Spark's type of each.

    Empty text and NaN are missing, unless the relation is `stored`.
    """

    name: str
    frame: DataFrame
    names: tuple[str, ...]
    types: tuple[DataType, ...]
    stored: bool = False

    def columns(self) -> tuple[Column, ...]:
        """The columns in order."""
        return tuple(
            Column(name, values.is_text(kind))
            for name, kind in zip(self.names, self.types, strict=True)
        )

    def position(self, name: str) -> int:
        """The index of a column; an error that lists the columns when there is none."""
        if name not in self.names:
            raise unknown_column(name, self.name, self.names)
        return self.names.index(name)

    def compared(self, name: str) -> DataType:
        """The type of a column whose values are compared; an error when they cannot be."""
        kind = self.types[self.position(name)]
        if values.is_text(kind) or values.duck_type(kind) is not None:
            return kind
        raise BadData(
            f"column {name!r} of {self.name} has the type {kind.simpleString()}, whose values"
            " cannot be compared as text",
            code="unsupported-type",
            hint="keep or drop the column, or read a view that casts it to a simple type",
        )

    def value(self, name: str) -> Expression:
        """A column's value in its own type; unless `stored`, empty text and NaN are null."""
        position = self.position(name)
        return values.value(F.col(f"c{position}"), self.types[position], stored=self.stored)

    def present(self, name: str, missing: Sequence[str]) -> Expression:
        """A column's value in its own type, null where it is missing."""
        return self._unless_missing(name, self.value(name), missing)

    def key(self, name: str, missing: Sequence[str]) -> Expression:
        """What stands for a column's value when it is compared, null where it is missing."""
        kind = self.compared(name)
        key = values.key(F.col(f"c{self.position(name)}"), kind, stored=self.stored)
        return self._unless_missing(name, key, missing)

    def _unless_missing(self, name: str, value: Expression, missing: Sequence[str]) -> Expression:
        """The value, unless its text is one of the missing ones; a null is null either way."""
        if not any(missing):
            return value
        kind = self.compared(name)
        tokens = values.literals(missing, kind)
        key = values.key(F.col(f"c{self.position(name)}"), kind)
        return F.when(~key.isin(tokens), value) if tokens else value


def relation_of(
    frame: DataFrame, name: str, names: Sequence[str] | None = None, *, stored: bool = False
) -> SparkRelation:
    """A DataFrame as a relation; `names` are the real ones where its own are not.

    With `stored` its values are compared as they are stored, to be verified (see base.py).
    """
    real = tuple(names or frame.columns)
    check_names(real, name)
    return SparkRelation(
        name=name,
        frame=frame.toDF(*(f"c{i}" for i in range(len(real)))),
        names=real,
        types=tuple(field.dataType for field in frame.schema.fields),
        stored=stored,
    )

"""Columns that are released with their own values: one stored value for what was counted as one.

A kept column is released as it is stored. Quasi-identifiers and sensitive values were counted by
their texts, so all records whose values have one text are given one value: see `settled` for
PostgreSQL and `representatives` for SQLite. MySQL and MariaDB store a value in one way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from shoal.engines.database.fields import DATE, OTHER, TEXT, TIME, TIMESTAMP
from shoal.engines.database.storage import representatives
from shoal.engines.database.texts import number, raw, text_in_sqlite

if TYPE_CHECKING:
    from shoal.engines.database.labels import Scratch
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session

    Expression = sa.ColumnElement[Any]

_MOMENTS = (DATE, TIME, TIMESTAMP)


@dataclass(frozen=True)
class Own:
    """A column that is released with its own values.

    It is a `key` where it is a quasi-identifier, whose missing values its code tells, and `counted`
    where it is one or sensitive. It is `streamed` out of the database, perhaps `as_text`, or goes
    to a table there.
    """

    relation: Relation
    name: str
    key: bool
    counted: bool
    streamed: bool = False
    as_text: bool = False

    def value(self) -> Expression:
        """What is released of a record; empty text and NaN are null, but not those of a key."""
        relation, field = self.relation, self.relation.field(self.name)
        if self.as_text:
            return relation.streamed_text(self.name)
        if self.key:
            value = relation.settled(self.name)
        else:
            value = relation.value(self.name, settled=self.counted)
        return number(value, field) if self.streamed else value

    def one_of_each(self, session: Session, scratch: Scratch) -> sa.Table | None:
        """Raw texts that share their text with another, and what stands for both, if any do."""
        relation = self.relation
        if relation.system != "sqlite" or not self.counted or self.as_text:
            return None
        field = relation.field(self.name)
        found = representatives(relation.distinct(session, self.name), field)
        if not found:
            return None
        data = pa.table({"value": list(found), "instead": list(found.values())})
        columns = [
            sa.Column("value", sa.Text, primary_key=True),
            sa.Column("instead", sa.Text, nullable=False),
        ]
        return scratch.table(columns, data)

    def replaced(self, value: Expression, instead: sa.Table) -> Expression:
        """The value that stands for all of its text."""
        kind = self.relation.field(self.name).kind
        stored = sa.func.shoal_value(instead.c.instead, kind)
        return sa.case((instead.c.instead.is_not(None), stored), else_=value)

    def order(self, value: Expression) -> Expression:
        """What to sort released values by: the released value alone decides."""
        system, field = self.relation.system, self.relation.field(self.name)
        if self.as_text:
            return value
        moment = system == "sqlite" and field.kind in _MOMENTS
        if moment and self.streamed:
            return text_in_sqlite(value, field)
        return raw(system, value, field) if moment or field.kind in (TEXT, OTHER) else value

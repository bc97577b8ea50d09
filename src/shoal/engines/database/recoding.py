"""A recoding as one SELECT: look up codes, let judged classes pass, forget the input order.

A column that is released with its own values is released as it is stored. Quasi-identifiers and
sensitive values were counted by their texts, so all records whose values have one text are given
one value: see `settled` and `representatives` of `Values`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.base import LAST_RANK
from shoal.engines.database.classes import classes_table, labels_of, packed, packing
from shoal.engines.database.fields import Field, Kind

if TYPE_CHECKING:
    from shoal.engines.base import Recoding
    from shoal.engines.database.dialects.values import Expression
    from shoal.engines.database.labels import Labels, Scratch
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session


@dataclass(frozen=True)
class Recoded:
    """A query for the recoded records, and one without rows whose columns have their types.

    `types` are the declared types of the columns.
    """

    query: sa.Select[Any]
    shape: sa.Select[Any]
    types: Mapping[str, str]


def recoded(
    session: Session,
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    *,
    into_table: bool = False,
    as_texts: Collection[str] = (),
) -> Recoded:
    """A query for the released columns under their names, in an order that they alone decide.

    Columns of `as_texts` are released as texts, or as raw texts where these are spelled again.

    The order is by the classes, sorted by their labels, then by the values that differ within a
    class. The rows of a table have no order that means anything, so `into_table` allows a dialect
    to sort by codes before it joins the labels.

    Three steps: the records with the raw texts t0, t1, ... of the quasi-identifiers; their codes
    k0, k1, ...; and the join with the classes that may pass, which has the labels. The codes are
    packed into one number for that, where they fit. A record that does not pass needs no label.
    """
    by_class = [name for name in recoding.same_in_class() if _is_text(relation, recoding, name)]
    sorts_first = into_table and session.dialect.sorts_before_labels
    unchanged = [name for name in by_class if sorts_first and recoding.is_unchanged(name)]
    labels = labels_of(scratch, relation, recoding)
    released = {
        name: _typed(relation, name, sa.false(), relation.settled(name)) for name in unchanged
    }
    classes = classes_table(scratch, relation, recoding, labels, by_class, released)
    packs = packing([each.codes for each in labels])
    own = {
        name: _OwnColumn(
            relation,
            name,
            is_key=name in recoding.generalized,
            is_counted=name in recoding.generalized or name in recoding.blanked,
            is_streamed=not into_table,
            as_text=name in as_texts,
        )
        for name in recoding.columns
        if recoding.is_unchanged(name)
    }
    coded = _coded(session, scratch, relation, recoding, labels, own)
    parts = _QueryParts(relation, recoding, own, coded, classes, packs, labels)
    for setting in session.dialect.recoding_settings:
        session.run(setting)
    prefix = session.dialect.select_prefix
    query = _sorted_first(parts, by_class) if sorts_first else _joined(parts, by_class, prefix)
    types = {
        name: "TEXT" if not recoding.is_unchanged(name) else relation.field(name).declared
        for name in recoding.columns
    }
    return Recoded(query, _shape(relation, recoding, classes), types)


@dataclass(frozen=True)
class _OwnColumn:
    """A column that is released with its own values.

    It `is_key` where it is a quasi-identifier, whose missing values are known by their code, and
    `is_counted` where it is one or sensitive. It `is_streamed` out of the database, perhaps
    `as_text`, or goes to a table there.
    """

    relation: Relation
    name: str
    is_key: bool
    is_counted: bool
    is_streamed: bool
    as_text: bool

    @property
    def field(self) -> Field:
        """The column in its relation."""
        return self.relation.field(self.name)

    def value(self) -> Expression:
        """What is released of a record; empty text and NaN are null, but not those of a key."""
        relation = self.relation
        if self.as_text:
            return relation.streamed_text(self.name)
        if self.is_key:
            value = relation.settled(self.name)
        else:
            value = relation.without_missing(self.name, settled=self.is_counted)
        return relation.values.streamed(value, self.field) if self.is_streamed else value

    def variants(self, session: Session, scratch: Scratch) -> sa.Table | None:
        """Raw texts that share their text with another, each with its replacement, if any do."""
        values = self.relation.values
        if not values.stores_variants or not self.is_counted or self.as_text:
            return None
        found = values.representatives(self.relation.distinct_raws(session, self.name), self.field)
        if not found:
            return None
        data = pa.table({"value": list(found), "instead": list(found.values())})
        columns = [
            sa.Column("value", sa.Text, primary_key=True),
            sa.Column("instead", sa.Text, nullable=False),
        ]
        return scratch.table(columns, data)

    def replaced(self, value: Expression, variants: sa.Table) -> Expression:
        """The value that replaces all of its text."""
        instead = variants.c.instead
        stored = self.relation.values.restored(instead, self.field)
        return sa.case((instead.is_not(None), stored), else_=value)

    def order(self, value: Expression) -> Expression:
        """What to sort released values by: the released value alone decides."""
        if self.as_text:
            return value
        return self.relation.values.order(value, self.field, streamed=self.is_streamed)

    def tie_break(self, value: Expression) -> Expression | None:
        """What orders released values that are equal but stored differently; None without any."""
        return None if self.as_text else self.relation.values.tie_break(value, self.field)


@dataclass(frozen=True)
class _QueryParts:
    """What a query is made of: `coded` are the records with the codes that `packs` packs."""

    relation: Relation
    recoding: Recoding
    own: Mapping[str, _OwnColumn]
    coded: sa.Subquery
    classes: sa.Table
    packs: list[dict[int, int]]
    labels: list[Labels]

    def numbers(self) -> list[Expression]:
        """The packed codes of a record."""
        return [packed(self.coded, pack) for pack in self.packs]

    def passing(self) -> sa.Join:
        """The records with their classes: those that pass, or marked ones too."""
        numbers = enumerate(self.numbers())
        match = sa.and_(*(number == self.classes.c[f"p{i}"] for i, number in numbers))
        return sa.join(self.coded, self.classes, match, isouter=self.recoding.mark)

    def rank(self) -> Expression:
        """The rank of a record's class, which is that of no labels for a marked one."""
        return sa.func.coalesce(self.classes.c.class_rank, LAST_RANK)

    def label(self, name: str) -> sa.Column[Any]:
        """The label that a class has for a column."""
        return self.classes.c[f"g{list(self.recoding.generalized).index(name)}"]

    def order(self, name: str, value: Expression) -> Sequence[Expression]:
        """What to sort released values of a column by, nulls last."""
        values = self.relation.values
        if name in self.own:
            return values.nulls_last(self.own[name].order(value))
        return values.nulls_last(values.raw(value, Field(name, Kind.TEXT)))

    def in_order(self, released: Mapping[str, Expression]) -> list[Expression]:
        """All that these released values are sorted by, so that only equal records are equal."""
        keys = [key for name, value in released.items() for key in self.order(name, value)]
        for name, value in released.items():
            key = self.own[name].tie_break(value) if name in self.own else None
            keys += [] if key is None else [key]
        return keys


def _joined(parts: _QueryParts, by_class: Collection[str], prefix: str) -> sa.Select[Any]:
    """Records with the labels of their classes, sorted by the ranks of these."""
    values = {name: _released(parts, i, name) for i, name in enumerate(parts.recoding.columns)}
    query = sa.select(*_named(values)).select_from(parts.passing())
    if prefix:
        query = query.prefix_with(prefix)
    rest = {name: value for name, value in values.items() if name not in by_class}
    return query.order_by(parts.rank(), *parts.in_order(rest))


def _sorted_first(parts: _QueryParts, by_class: Collection[str]) -> sa.Select[Any]:
    """Records sorted by their classes and own values, and labels joined to them in this order.

    The labels are not there yet when the records are sorted, so there is less to sort. OFFSET 0
    makes PostgreSQL sort before it joins; it keeps the order by a merge join, as the last ORDER BY
    demands.
    """
    source, labels, keys = _to_sort(parts, by_class)
    own = {
        name: _released(parts, i, name).label(f"v{i}")
        for i, name in enumerate(parts.recoding.columns)
        if name not in by_class
    }
    order = parts.in_order({name: value.element for name, value in own.items()})
    query = sa.select(*keys, *own.values()).select_from(source).order_by(*keys, *order)
    rows = query.offset(0).subquery("rows")
    values = {
        name: rows.c[own[name].name] if name in own else labels.c[parts.label(name).name]
        for name in parts.recoding.columns
    }
    match = sa.and_(*(rows.c[key.name] == labels.c[key.name] for key in keys))
    query = sa.select(*_named(values)).select_from(sa.join(rows, labels, match))
    rest = parts.in_order({name: values[name] for name in own})
    return query.order_by(*(rows.c[key.name] for key in keys), *rest)


def _to_sort(
    parts: _QueryParts, by_class: Collection[str]
) -> tuple[sa.FromClause, sa.FromClause, list[sa.Label[Any]]]:
    """The records, the labels, and the keys that sort the ones and join them with the others.

    Where all codes are released, records are sorted by them before they have a class. Otherwise
    codes that are not released must not decide the order, so the rank of the class does. In local
    recoding the codes are those of the values, which are not released.
    """
    recoding, classes = parts.recoding, parts.classes
    all_released = recoding.labels is None and recoding.generalized.keys() <= {*recoding.columns}
    if not recoding.mark and all_released:
        numbers = [number.label(f"p{i}") for i, number in enumerate(parts.numbers())]
        return parts.coded, classes, numbers
    labels = sa.select(classes.c.class_rank, *(parts.label(name) for name in by_class)).distinct()
    return parts.passing(), labels.subquery("labels"), [parts.rank().label("class_rank")]


def _named(values: Mapping[str, Expression]) -> list[sa.Label[Any]]:
    """The columns of a release under their names."""
    return [value.label(quoted_name(name, True)) for name, value in values.items()]


def _shape(relation: Relation, recoding: Recoding, classes: sa.Table) -> sa.Select[Any]:
    """The columns alone, with the types they have before any expression; all may be null."""
    keys = list(recoding.generalized)
    columns = [
        classes.c[f"g{keys.index(name)}"]
        if not recoding.is_unchanged(name)
        else relation.column(name)
        for name in recoding.columns
    ]
    one = sa.select(sa.literal(1).label("one")).subquery("one")
    joined = one.outerjoin(relation.source, sa.false()).outerjoin(classes, sa.false())
    named = (
        column.label(quoted_name(name, True))
        for name, column in zip(recoding.columns, columns, strict=True)
    )
    return sa.select(*named).select_from(joined).limit(0)


def _coded(
    session: Session,
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    labels: list[Labels],
    own: Mapping[str, _OwnColumn],
) -> sa.Subquery:
    """Every record with its released values v0, v1, ... and the codes of its quasi-identifiers."""
    aliases = {name: f"v{i}" for i, name in enumerate(recoding.columns) if name in own}
    variants = {name: own[name].variants(session, scratch) for name in own}
    values = [own[name].value().label(alias) for name, alias in aliases.items()]
    values += [
        relation.raw(name).label(f"s{aliases[name]}")
        for name in variants
        if variants[name] is not None
    ]
    texts = [relation.raw(name).label(f"t{j}") for j, name in enumerate(recoding.generalized)]
    cleaned = sa.select(*values, *texts).select_from(relation.source)
    if recoding.complete:
        for name in recoding.generalized:
            cleaned = cleaned.where(~relation.is_missing(session, name, recoding.missing))
    records = cleaned.subquery("records")
    source: sa.FromClause = records
    codes = []
    for j, each in enumerate(labels):
        text = records.c[f"t{j}"]
        source = each.join(source, text)
        codes.append(each.code(relation.values, text, f"records.t{j}").label(f"k{j}"))
    kept = []
    for name, alias in aliases.items():
        value: Expression = records.c[alias]
        table = variants[name]
        if table is not None:
            source = source.outerjoin(table, table.c.value == records.c[f"s{alias}"])
            value = own[name].replaced(value, table)
        kept.append(value.label(alias))
    return sa.select(*kept, *codes).select_from(source).subquery("coded")


def _released(parts: _QueryParts, position: int, name: str) -> Expression:
    """What is released of a column: its label, or the unchanged value in its own type."""
    recoding = parts.recoding
    if not recoding.is_unchanged(name):
        return parts.label(name)
    value: Expression = parts.coded.c[f"v{position}"]
    absent = []
    if name in recoding.generalized:
        key = list(recoding.generalized).index(name)
        absent.append(parts.coded.c[f"k{key}"] == parts.labels[key].codes.code_of_null)
    if recoding.mark and name in recoding.blanked:
        absent.append(parts.classes.c.class_rank.is_(None))
    if parts.own[name].as_text:
        return sa.case((sa.or_(*absent), sa.null()), else_=value) if absent else value
    return _typed(parts.relation, name, sa.or_(*absent) if absent else None, value)


def _typed(
    relation: Relation, name: str, absent: Expression | None, value: Expression
) -> Expression:
    """A value in the type it is released in, null where it is absent."""
    if absent is not None:
        value = sa.case((absent, sa.null()), else_=value)
    exact = relation.field(name).exact
    return value if exact is None else sa.cast(value, exact)


def _is_text(relation: Relation, recoding: Recoding, name: str) -> bool:
    """Whether a column is released as text, so that its label decides its order."""
    return not recoding.is_unchanged(name) or relation.field(name).kind == Kind.TEXT

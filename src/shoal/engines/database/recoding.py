"""A recoding as one SELECT: look up codes, let judged classes pass, forget the input order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.database.classes import classes_table, labels_of, packed, packing
from shoal.engines.database.fields import TEXT, Field
from shoal.engines.database.own import Own
from shoal.engines.database.texts import raw

if TYPE_CHECKING:
    from shoal.engines.base import Recoding
    from shoal.engines.database.labels import Labels, Scratch
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session

    Expression = sa.ColumnElement[Any]


_PLAN = ("enable_nestloop = off", "join_collapse_limit = 1")
"""PostgreSQL is to join small tables one by one, as the query says: of codes that it has to compute
first it has wrong notions."""


@dataclass(frozen=True)
class Recoded:
    """A query for the recoded records, and one without rows whose columns have their types.

    `declared` are these types in the words of SQLite.
    """

    query: sa.Select[Any]
    shape: sa.Select[Any]
    declared: Mapping[str, str]


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

    Columns of `as_texts` are released as texts, or as raw texts where these are spelled anew.

    The order is by the classes, sorted by their labels, then by what no class tells. The rows of a
    table have no order that means anything, so `into_table` lets PostgreSQL sort numbers as text.

    Three steps: the records with the raw texts t0, t1, ... of the quasi-identifiers; their codes
    k0, k1, ...; and the join with the classes that may pass, which has the labels. The codes are
    packed into one number for that, where they fit. A record that does not pass needs no label.
    """
    by_class = [name for name in recoding.same_in_class() if _is_text(relation, recoding, name)]
    sorts_first = into_table and session.system == "postgresql"
    unchanged = [name for name in by_class if sorts_first and recoding.is_unchanged(name)]
    labels = labels_of(scratch, relation, recoding)
    released = {
        name: _typed(relation, name, sa.false(), relation.settled(name)) for name in unchanged
    }
    classes = classes_table(scratch, relation, recoding, labels, by_class, released)
    packs = packing([each.codes for each in labels])
    own = {
        name: Own(
            relation,
            name,
            key=name in recoding.generalized,
            counted=name in recoding.generalized or name in recoding.blanked,
            streamed=not into_table,
            as_text=name in as_texts,
        )
        for name in recoding.columns
        if recoding.is_unchanged(name)
    }
    coded = _coded(session, scratch, relation, recoding, labels, own)
    parts = _Parts(relation, recoding, own, coded, classes, packs)
    for setting in _PLAN if session.system == "postgresql" else ():
        session.run(f"SET LOCAL {setting}")
    query = (_sorted_first if sorts_first else _joined_first)(parts, by_class)
    declared = {
        name: "TEXT" if not recoding.is_unchanged(name) else relation.field(name).declared
        for name in recoding.columns
    }
    return Recoded(query, _shape(relation, recoding, classes), declared)


@dataclass(frozen=True)
class _Parts:
    """What a query is made of: `coded` are the records with the codes that `packs` packs."""

    relation: Relation
    recoding: Recoding
    own: Mapping[str, Own]
    coded: sa.Subquery
    classes: sa.Table
    packs: list[dict[int, int]]

    def numbers(self) -> list[Expression]:
        """The packed codes of a record."""
        return [packed(self.coded, pack) for pack in self.packs]

    def passing(self) -> sa.Join:
        """The records with their classes: those that pass, or marked ones too."""
        numbers = enumerate(self.numbers())
        match = sa.and_(*(number == self.classes.c[f"p{i}"] for i, number in numbers))
        return sa.join(self.coded, self.classes, match, isouter=self.recoding.mark)

    def place(self) -> Expression:
        """The place of a record's class, which is that of no labels for a marked one."""
        return sa.func.coalesce(self.classes.c.place, 0)

    def label(self, name: str) -> sa.Column[Any]:
        """The label that a class has for a column."""
        return self.classes.c[f"g{list(self.recoding.generalized).index(name)}"]

    def order(self, name: str, value: Expression) -> Expression:
        """What to sort released values of a column by, nulls first."""
        if name in self.own:
            order = self.own[name].order(value)
        else:
            order = raw(self.relation.system, value, Field(name, TEXT))
        return nulls_first(self.relation.system, order)


def _joined_first(parts: _Parts, by_class: Collection[str]) -> sa.Select[Any]:
    """Records with the labels of their classes, sorted by the places of these."""
    values = {name: _released(parts, i, name) for i, name in enumerate(parts.recoding.columns)}
    query = sa.select(*_named(values)).select_from(parts.passing())
    if parts.relation.system in ("mysql", "mariadb"):
        query = query.prefix_with("STRAIGHT_JOIN")  # classes last, by their index
    rest = (parts.order(name, value) for name, value in values.items() if name not in by_class)
    return query.order_by(parts.place(), *rest)


def _sorted_first(parts: _Parts, by_class: Collection[str]) -> sa.Select[Any]:
    """Records sorted by their classes and own values, and labels joined to them in this order.

    What a class tells is not there when they are sorted, so there is less to sort. OFFSET 0 lets
    PostgreSQL do one after the other; it keeps the order by merging, as the last ORDER BY demands.
    """
    source, labels, keys = _to_sort(parts, by_class)
    own = {
        name: _released(parts, i, name).label(f"v{i}")
        for i, name in enumerate(parts.recoding.columns)
        if name not in by_class
    }
    order = (parts.order(name, value.element) for name, value in own.items())
    query = sa.select(*keys, *own.values()).select_from(source).order_by(*keys, *order)
    rows = query.offset(0).subquery("rows")
    values = {
        name: rows.c[own[name].name] if name in own else labels.c[parts.label(name).name]
        for name in parts.recoding.columns
    }
    match = sa.and_(*(rows.c[key.name] == labels.c[key.name] for key in keys))
    query = sa.select(*_named(values)).select_from(sa.join(rows, labels, match))
    rest = (parts.order(name, values[name]) for name in own)
    return query.order_by(*(rows.c[key.name] for key in keys), *rest)


def _to_sort(
    parts: _Parts, by_class: Collection[str]
) -> tuple[sa.FromClause, sa.FromClause, list[sa.Label[Any]]]:
    """The records, the labels, and the keys that sort the ones and join them with the others.

    Where all codes are released, records are sorted by them and need no class before. No other
    codes may decide their order, so they are sorted by the place of the class.
    """
    recoding, classes = parts.recoding, parts.classes
    if not recoding.mark and recoding.generalized.keys() <= {*recoding.columns}:
        numbers = [number.label(f"p{i}") for i, number in enumerate(parts.numbers())]
        return parts.coded, classes, numbers
    labels = sa.select(classes.c.place, *(parts.label(name) for name in by_class)).distinct()
    return parts.passing(), labels.subquery("labels"), [parts.place().label("place")]


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


def nulls_first(system: str, expression: Expression) -> Expression:
    """An ascending order with nulls first, which most systems do by themselves."""
    return expression.nulls_first() if system in ("postgresql", "oracle") else expression


def _coded(
    session: Session,
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    labels: list[Labels],
    own: Mapping[str, Own],
) -> sa.Subquery:
    """Every record with its released values v0, v1, ... and the codes of its quasi-identifiers."""
    places = {name: f"v{i}" for i, name in enumerate(recoding.columns) if name in own}
    shared = {name: own[name].one_of_each(session, scratch) for name in own}
    values = [own[name].value().label(place) for name, place in places.items()]
    values += [
        relation.raw(name).label(f"s{places[name]}") for name in shared if shared[name] is not None
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
        codes.append(each.code(relation.system, text, f"records.t{j}").label(f"k{j}"))
    kept = []
    for name, place in places.items():
        value: Expression = records.c[place]
        instead = shared[name]
        if instead is not None:
            source = source.outerjoin(instead, instead.c.value == records.c[f"s{place}"])
            value = own[name].replaced(value, instead)
        kept.append(value.label(place))
    return sa.select(*kept, *codes).select_from(source).subquery("coded")


def _released(parts: _Parts, position: int, name: str) -> Expression:
    """What is released of a column: its label, or the unchanged value in its own type."""
    recoding = parts.recoding
    if not recoding.is_unchanged(name):
        return parts.label(name)
    value: Expression = parts.coded.c[f"v{position}"]
    absent = []
    if name in recoding.generalized:
        absent.append(parts.coded.c[f"k{list(recoding.generalized).index(name)}"] == 0)
    if recoding.mark and name in recoding.blanked:
        absent.append(parts.classes.c.place.is_(None))
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
    """Whether a column is released as text, so that its label says where it stands."""
    return not recoding.is_unchanged(name) or relation.field(name).kind == TEXT

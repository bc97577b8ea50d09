"""A recoding as one SELECT: look up codes, let judged classes pass, forget the input order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.sql.elements import quoted_name

from shoal.engines.database.counting import values_of
from shoal.engines.database.fields import OTHER, TEXT
from shoal.engines.database.labels import Codes, Labels, Scratch, packing
from shoal.engines.database.texts import raw
from shoal.engines.database.writing import text_type
from shoal.engines.places import places

if TYPE_CHECKING:
    from shoal.engines.base import Generalization, Recoding
    from shoal.engines.database.relation import Relation
    from shoal.engines.database.session import Session

    Expression = sa.ColumnElement[Any]


_PLAN = ("enable_mergejoin = off", "enable_nestloop = off", "join_collapse_limit = 1")
"""PostgreSQL is to hash small tables one by one, as the query says: hashing needs no order, and of
codes that it has to compute first it has wrong notions."""


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
) -> Recoded:
    """A query for the released columns under their names, in an order that they alone decide.

    The order is by the classes, sorted by their labels, then by what no class tells.

    The rows of a table have no order that means anything, but the one they are written in must not
    be that of the input. `into_table` lets PostgreSQL order them by a hash of what is released,
    seeded with the class, which sorts much faster than many columns and says as little.

    Three steps: the records with the raw texts t0, t1, ... of the quasi-identifiers; their codes
    k0, k1, ...; and the join with the classes that may pass, which has the labels. The codes are
    packed into one number for that, where they fit. A record that does not pass needs no label.
    """
    labels = [
        _labels(scratch, relation, recoding, name, generalization)
        for name, generalization in recoding.generalized.items()
    ]
    by_class = [name for name in recoding.told_by_class() if _is_text(relation, recoding, name)]
    classes = _classes(scratch, relation, recoding, labels, by_class)
    coded = _coded(session, relation, recoding, labels)
    packs = packing([each.codes for each in labels])
    match = sa.and_(*(_packed(coded, pack) == classes.c[f"p{i}"] for i, pack in enumerate(packs)))
    passing = sa.join(coded, classes, match, isouter=recoding.mark)
    released: list[Expression] = []
    order: list[Expression] = [sa.func.coalesce(classes.c.place, 0)]
    for i, name in enumerate(recoding.columns):
        value = _released(relation, recoding, i, name, coded, classes)
        released.append(value.label(quoted_name(name, True)))
        if name not in by_class:
            by_text = relation.field(name).kind in (TEXT, OTHER)
            order.append(raw(relation.system, value, relation.field(name)) if by_text else value)
    query = sa.select(*released).select_from(passing)
    for setting in _PLAN if session.system == "postgresql" else ():
        session.run(f"SET LOCAL {setting}")
    if session.system in ("mysql", "mariadb"):
        query = query.prefix_with("STRAIGHT_JOIN")  # classes last, by their index
    if into_table and session.system == "postgresql":
        order = [_hash(*order)]
    query = query.order_by(*(nulls_first(session.system, each) for each in order))
    declared = {
        name: "TEXT" if is_labelled(recoding, name) else relation.field(name).declared
        for name in recoding.columns
    }
    return Recoded(query, _shape(relation, recoding, classes), declared)


def _hash(seed: Expression, *values: Expression) -> Expression:
    """A number that the seed and the values decide; values may be null."""
    found: Expression = sa.cast(seed, sa.BigInteger)
    for value in values:
        text = sa.collate(sa.cast(value, sa.Text), "C")
        found = sa.func.coalesce(sa.func.hashtextextended(text, found), found)
    return found


def _shape(relation: Relation, recoding: Recoding, classes: sa.Table) -> sa.Select[Any]:
    """The columns alone, with the types they have before any expression; all may be null."""
    keys = list(recoding.generalized)
    columns = [
        classes.c[f"g{keys.index(name)}"] if is_labelled(recoding, name) else relation.column(name)
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


def is_labelled(recoding: Recoding, name: str) -> bool:
    """Whether a column is released as a label, and not as its own value."""
    found = recoding.generalized.get(name)
    return found is not None and bool(found.values or found.missing is not None)


def _labels(
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    name: str,
    generalization: Generalization,
) -> Labels:
    """The codes of a quasi-identifier; an unchanged one has those that stand in the classes."""
    if generalization.values:
        codes = Codes.of(pa.array(generalization.labels, pa.string()), generalization.missing)
        values = values_of(generalization, codes, recoding.missing)
        return scratch.labels(relation, name, codes, values, strict=True)
    codes = Codes.of(recoding.classes.column(name).cast(pa.string()), generalization.missing)
    texts = codes.labels.to_pylist()
    values = {text: code for code, text in enumerate(texts, start=1)}
    values |= dict.fromkeys(("", *recoding.missing), codes.code_of_missing())
    return scratch.labels(relation, name, codes, values, strict=False)


def _classes(
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    labels: list[Labels],
    by_class: Sequence[str],
) -> sa.Table:
    """The classes that may pass: their packed codes p0, p1, ..., their place in the order of the
    labels of `by_class`, and the labels g0, g1, ... that are released.
    """
    names = list(recoding.generalized)
    codes = {
        name: each.codes.codes(recoding.classes.column(name).cast(pa.string()))
        for name, each in zip(names, labels, strict=True)
    }
    distinct = pa.table(codes).group_by(names).aggregate([])
    columns: list[sa.Column[Any]] = [sa.Column("place", sa.Integer, nullable=False)]
    arrays: dict[str, Any] = {
        "place": places([distinct.column(name) for name in by_class], len(distinct))
    }
    indexed = scratch.indexes
    for i, pack in enumerate(packing([each.codes for each in labels])):
        arrays[f"p{i}"] = _numbers(distinct, pack)
        columns.append(sa.Column(f"p{i}", sa.BigInteger, primary_key=indexed, autoincrement=False))
    for j, (name, each) in enumerate(zip(names, labels, strict=True)):
        if is_labelled(recoding, name):
            longest = pc.max(pc.utf8_length(each.codes.labels)).as_py() or 1
            columns.append(sa.Column(f"g{j}", text_type(relation.system, longest)))
            arrays[f"g{j}"] = each.codes.texts(distinct.column(name))
    return scratch.table(columns, pa.table(arrays))


def _packed(coded: sa.Subquery, factors: Mapping[int, int]) -> Expression:
    """The codes of a record as one number."""
    parts = [(coded.c[f"k{j}"] + 1) * _big(factor) for j, factor in factors.items()]
    return sum(parts, _big(0))


def _big(number: int) -> Expression:
    """A number that makes a product wide enough in every system."""
    return sa.cast(sa.literal(number), sa.BigInteger)


def _numbers(codes: pa.Table, factors: Mapping[int, int]) -> pa.Array:
    """The codes of each class as one number."""
    total = np.zeros(len(codes), np.int64)
    for j, factor in factors.items():
        total += (codes.column(j).to_numpy().astype(np.int64) + 1) * factor
    return pa.array(total)


def _coded(
    session: Session, relation: Relation, recoding: Recoding, labels: list[Labels]
) -> sa.Subquery:
    """Every record with its released values v0, v1, ... and the codes of its quasi-identifiers."""
    values = [
        (relation.column if name in recoding.generalized else relation.value)(name).label(f"v{i}")
        for i, name in enumerate(recoding.columns)
        if not is_labelled(recoding, name)
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
    kept = [records.c[value.name] for value in values]
    return sa.select(*kept, *codes).select_from(source).subquery("coded")


def _released(
    relation: Relation,
    recoding: Recoding,
    position: int,
    name: str,
    coded: sa.Subquery,
    classes: sa.Table,
) -> Expression:
    """What is released of a column: its label, or the unchanged value in its own type."""
    keys = list(recoding.generalized)
    if is_labelled(recoding, name):
        label: Expression = classes.c[f"g{keys.index(name)}"]
        return label
    value: Expression = coded.c[f"v{position}"]
    absent = []
    if name in recoding.generalized:
        absent.append(coded.c[f"k{keys.index(name)}"] == 0)
    if recoding.mark and name in recoding.blanked:
        absent.append(classes.c.place.is_(None))
    if absent:
        value = sa.case((sa.or_(*absent), sa.null()), else_=value)
    exact = relation.field(name).exact
    return value if exact is None else sa.cast(value, exact)


def _is_text(relation: Relation, recoding: Recoding, name: str) -> bool:
    """Whether a column is released as text, so that its label says where it stands."""
    return is_labelled(recoding, name) or relation.field(name).kind == TEXT

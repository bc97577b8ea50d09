"""The two queries as DataFrame operations: what is counted, and what is released.

`records` is what is counted; of it, only distinct combinations leave Spark. `recoding_frame` looks
up labels, lets the listed classes pass, and forgets the order of the input. Labels are looked
up by a join with a small table that every executor gets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, IntegerType, LongType, StringType

from shoal.engines.base import LAST_RANK, class_ranks, listed_texts
from shoal.engines.failures import CHANGED
from shoal.engines.spark.values import is_text, keys_of, literals, local_frame, texts
from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from shoal.engines.base import Generalization, Question, Recoding
    from shoal.engines.spark.relation import SparkRelation

SMALL = 1_000_000
"""Rows up to which a table is broadcast to every executor; Spark decides about larger ones."""


def records(relation: SparkRelation, question: Question) -> DataFrame:
    """A row for each record that is counted: columns g0, g1, ... of keys or labels.

    No `values` mean unchanged; then a missing value that gets a label is left null, for `spelled`,
    unless a value of the column has that very label as its text.
    """
    frame, columns, missing = relation.frame, question.columns, question.missing
    for name in question.complete:
        frame = frame.filter(relation.key(name, missing).isNotNull())
    frame = frame.select(
        *(relation.key(name, missing).alias(f"t{i}") for i, name in enumerate(columns))
    )
    for i, name in enumerate(columns):
        kind, generalization = relation.compared(name), question.generalized.get(name)
        if generalization is None:
            frame = frame.withColumn(f"g{i}", F.col(f"t{i}"))
        elif generalization.values:
            frame = labelled(frame, f"t{i}", kind, generalization, f"g{i}")
        else:
            label = literals([generalization.missing or ""], kind)
            frame = frame.withColumn(f"g{i}", F.coalesce(F.col(f"t{i}"), *label))
    return frame.select(*(f"g{i}" for i in range(len(columns))))


def spelled(
    counted: pa.Table, relation: SparkRelation, question: Question
) -> list[pa.ChunkedArray]:
    """The columns g0, g1, ... as texts."""
    kinds: list[DataType] = []
    for name in question.columns:
        generalization = question.generalized.get(name)
        has_labels = generalization is not None and generalization.values
        kinds.append(StringType() if has_labels else relation.compared(name))
    found = texts(counted, kinds) if question.columns else []
    for i, name in enumerate(question.columns):
        generalization = question.generalized.get(name)
        if generalization is not None and not generalization.values:
            found[i] = pc.fill_null(found[i], generalization.missing)
    return found


def recoding_frame(relation: SparkRelation, recoding: Recoding, *, ordered: bool) -> DataFrame:
    """The released columns as r0, r1, ..., in an order that they alone decide.

    Three steps, as in SQL: clean the records, label them, keep those of the listed classes. A
    generalization without values has no label for missing either: the source lists them before.

    They are `ordered` by all released columns, which is total up to equal records, so nothing is
    left of the order of the input. Files of Spark need no order that means anything: there a hash
    of all that is released decides which file a record goes to, and its class and that hash where
    it is in it. That sorts by two numbers, and Spark need not make the records twice, as it
    does to find ranges.
    """
    _check_types(relation, recoding)
    classes, kinds = _classes(relation, recoding)
    frame = _labelled(_records(relation, recoding), relation, recoding)
    frame = _passing(frame, recoding, classes, kinds)
    labels = {} if ordered or len(classes) > SMALL else _labels_of_class(relation, recoding)
    released = [
        _released(name, recoding).alias(f"r{i}")
        for i, name in enumerate(recoding.columns)
        if name not in labels
    ]
    rank = F.coalesce("class_rank", F.lit(LAST_RANK)).alias("class_rank")
    frame = frame.select(rank, *released)
    own = frame.columns[1:]
    ties, every = _tie_breaks(frame, own), [f"r{i}" for i in range(len(recoding.columns))]
    if ordered:
        return frame.orderBy(*(F.col(name).asc_nulls_last() for name in own), *ties).select(*own)
    hashed = frame.withColumn("hash", F.xxhash64("class_rank", *own)).repartition("hash")
    rows = hashed.sortWithinPartitions("class_rank", "hash", *ties)
    return _with_labels(rows, recoding, classes, labels).select(*every)


def _labels_of_class(relation: SparkRelation, recoding: Recoding) -> dict[str, str]:
    """The released columns that are texts of the class, and where its table has them."""
    letter, found = "k" if recoding.labels is None else "m", {}
    for name in recoding.same_in_class():
        number = list(recoding.generalized).index(name)
        if recoding.is_spelled(name):
            found[name] = f"m{number}"
        elif not recoding.is_unchanged(name) or is_text(relation.compared(name)):
            found[name] = f"{letter}{number}"
    return found


def _with_labels(
    rows: DataFrame, recoding: Recoding, classes: pa.Table, labels: Mapping[str, str]
) -> DataFrame:
    """The sorted rows with the labels of their classes, in the same order.

    So what is sorted, and what crosses the network before, has no labels. A join with a broadcast
    table keeps the order of the rows. Spark would leave out a sort below a join, were it not for an
    expression between them that it takes for random: the rank plus nothing.
    """
    if not labels:
        return rows
    names = {f"r{recoding.columns.index(name)}": column for name, column in labels.items()}
    table = pa.table(
        {"label_rank": classes.column("class_rank").cast(pa.int64())}
        | {name: classes.column(column) for name, column in names.items()}
    )
    table = table.group_by(table.column_names).aggregate([])
    kinds = [LongType(), *(StringType() for _ in names)]
    lookup = F.broadcast(local_frame(rows.sparkSession, table, kinds))
    nothing = F.least(F.monotonically_increasing_id(), F.lit(0))
    ranked = rows.withColumn("row_rank", F.col("class_rank") + nothing)
    return ranked.join(lookup, F.col("row_rank") == F.col("label_rank"), "left")


def fetching_frame(
    relation: SparkRelation,
    columns: Sequence[str],
    only: Mapping[str, Collection[str | None]],
    missing: Sequence[str],
) -> DataFrame:
    """These columns as f0, f1, ... of the records whose values are listed in `only`."""
    frame = listed_records(relation, only, missing)
    return frame.select(*(relation.value(name).alias(f"f{i}") for i, name in enumerate(columns)))


def listed_records(
    relation: SparkRelation, only: Mapping[str, Collection[str | None]], missing: Sequence[str]
) -> DataFrame:
    """The records whose values are listed, with all columns of the relation."""
    frame = relation.frame
    for number, (name, accepted) in enumerate(only.items()):
        key, kind = relation.key(name, missing), relation.compared(name)
        listed, or_missing = listed_texts(accepted, missing)
        keys = keys_of(listed, kind).drop_null()
        table = pa.table({"value": keys, "listed": pa.array([True] * len(keys), pa.bool_())})
        lookup = local_frame(frame.sparkSession, table, [kind, BooleanType()])
        lookup = small(lookup.toDF(f"value_{number}", f"listed_{number}"), len(table))
        frame = frame.join(lookup, key == F.col(f"value_{number}"), "left")
        passes = F.col(f"listed_{number}").isNotNull()
        frame = frame.filter(passes | key.isNull() if or_missing else passes)
    return frame


def _tie_breaks(frame: DataFrame, names: Sequence[str]) -> list[Column]:
    """What orders -0.0 and 0.0, which Spark takes for equal and hashes alike."""
    return [
        F.col(name).cast("string")
        for name in names
        if re.search(r"\b(float|double)\b", frame.schema[name].dataType.simpleString())
    ]


def _check_types(relation: SparkRelation, recoding: Recoding) -> None:
    """Refuse a column whose values Spark can neither order nor hash."""
    for name in recoding.columns:
        kind = relation.types[relation.position(name)].simpleString()
        if re.search(r"\b(map|variant)\b", kind):
            raise BadData(
                f"the column {name!r} of {relation.name} cannot be released: it is a {kind}",
                code="column-not-comparable",
                hint=f"drop it (`{name}: drop`), or make it text in the source, by to_json",
            )


def _records(relation: SparkRelation, recoding: Recoding) -> DataFrame:
    """The columns in use: `v_i` in its own type for a released column, `t_j` for a key."""
    missing, keys = recoding.missing, list(recoding.generalized)
    released = [
        relation.present(name, missing) if name in keys else relation.value(name)
        for name in recoding.columns
    ]
    frame = relation.frame.select(
        *(value.alias(f"v{i}") for i, value in enumerate(released)),
        *(relation.key(name, missing).alias(f"t{j}") for j, name in enumerate(keys)),
    )
    if recoding.complete:
        for j in range(len(keys)):
            frame = frame.filter(F.col(f"t{j}").isNotNull())
    return frame


def _labelled(frame: DataFrame, relation: SparkRelation, recoding: Recoding) -> DataFrame:
    """Adds the label `g_j` of every key, or the key itself where it is released unchanged."""
    for j, (name, generalization) in enumerate(recoding.generalized.items()):
        if generalization.values:
            kind = relation.compared(name)
            frame = labelled(frame, f"t{j}", kind, generalization, f"g{j}")
        else:
            frame = frame.withColumn(f"g{j}", F.col(f"t{j}"))
    return frame


def _passing(
    frame: DataFrame, recoding: Recoding, classes: pa.Table, kinds: Sequence[DataType]
) -> DataFrame:
    """The join that lets classes pass; null-safe, since missing is a value like any other."""
    lookup = local_frame(frame.sparkSession, classes, kinds)
    match = F.lit(True)
    for j in range(len(recoding.generalized)):
        match = match & F.col(f"g{j}").eqNullSafe(F.col(f"k{j}"))
    how = "left" if recoding.mark else "inner"
    return frame.join(small(lookup, len(classes)), match, how)


def _codes(keys: pa.ChunkedArray) -> pa.Array:
    """The number of each key in their order; null for a missing one."""
    distinct = pc.drop_null(pc.unique(keys))
    return pc.index_in(keys, value_set=distinct.take(pc.sort_indices(distinct)))


def _classes(relation: SparkRelation, recoding: Recoding) -> tuple[pa.Table, list[DataType]]:
    """The classes that may pass, each once, as columns k0, k1, ... of labels or keys, and
    class_rank.

    In local recoding m0, m1, ... are the labels under which they are released; otherwise there are
    those that are released as the text of their value. A class with a text that no value of its
    column has stays out: it would be null, and let records with a missing value pass.
    """
    columns: list[pa.Array] = []
    kinds: list[DataType] = []
    possible = pa.array([True] * len(recoding.classes))
    for name, generalization in recoding.generalized.items():
        labels = recoding.classes.column(name).cast(pa.string()).combine_chunks()
        kind = relation.compared(name)
        if generalization.values or is_text(kind):
            columns.append(labels)
            kinds.append(StringType())
        else:
            distinct = pc.drop_null(pc.unique(labels))
            keys = keys_of(distinct.to_pylist(), kind).combine_chunks()
            column = keys.take(pc.index_in(labels, value_set=distinct))
            possible = pc.and_(possible, pc.or_(pc.is_null(labels), pc.is_valid(column)))
            columns.append(column)
            kinds.append(kind)
    names = [f"k{j}" for j in range(len(columns))]
    for j, name in enumerate(recoding.generalized):
        if recoding.labels is not None or recoding.is_spelled(name):
            names.append(f"m{j}")
            columns.append(recoding.released_classes.column(name).cast(pa.string()))
            kinds.append(StringType())
    table = pa.table(columns, names=names).filter(possible).group_by(names).aggregate([])
    keys, letter = list(recoding.generalized), "k" if recoding.labels is None else "m"
    shown = [table.column(f"{letter}{keys.index(name)}") for name in recoding.same_in_class()]
    ranks = class_ranks([_codes(column) for column in shown], len(table))
    return table.append_column("class_rank", ranks), [*kinds, IntegerType()]


def _released(name: str, recoding: Recoding) -> Column:
    """What is released of a column: its label, or the unchanged value in its own type.

    The labels of local recoding are those of the class, null for a record of none; so are texts of
    values that were not generalized.
    """
    value = F.col(f"v{recoding.columns.index(name)}")
    generalization = recoding.generalized.get(name)
    if generalization is not None and (recoding.labels is not None or recoding.is_spelled(name)):
        return F.col(f"m{list(recoding.generalized).index(name)}")
    if generalization is not None and generalization.values:
        value = F.col(f"g{list(recoding.generalized).index(name)}")
    if recoding.mark and name in recoding.blanked:
        return F.when(F.col("class_rank").isNotNull(), value)
    return value


def small(frame: DataFrame, rows: int) -> DataFrame:
    """A table to join with, broadcast to every executor when it is small enough."""
    return F.broadcast(frame) if rows <= SMALL else frame


def labelled(
    frame: DataFrame, column: str, kind: DataType, generalization: Generalization, name: str
) -> DataFrame:
    """The frame with the labels of a column of keys as one more column.

    Values are distinct and so are their keys, so the join repeats no record. A value without a
    label stops the query. A listed text that no value of this type has is left out.
    """
    keys = keys_of(generalization.values, kind)
    known = pc.is_valid(keys)
    labels = pa.chunked_array([pa.array(generalization.labels, pa.string())])
    table = pa.table({f"{name}_key": keys.filter(known), f"{name}_label": labels.filter(known)})
    lookup = local_frame(frame.sparkSession, table, [kind, StringType()])
    joined = frame.join(small(lookup, len(table)), F.col(column) == F.col(f"{name}_key"), "left")
    label = (
        F.when(F.col(column).isNull(), text_literal(generalization.missing))
        .when(F.col(f"{name}_label").isNull(), F.raise_error(F.lit(CHANGED)).cast("string"))
        .otherwise(F.col(f"{name}_label"))
    )
    return joined.withColumn(name, label).drop(f"{name}_key", f"{name}_label")


def text_literal(text: str | None) -> Column:
    """A text, or null, as a literal of the type string."""
    return F.lit(text).cast("string")

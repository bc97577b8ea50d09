"""The classes of a recoding as a table: packed codes to join by, and the labels they release.

In local recoding a class is a tuple of values, and its labels are others than its codes are of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.engines.base import LAST_RANK, class_ranks
from shoal.engines.database.labels import Codes

if TYPE_CHECKING:
    from shoal.engines.base import Recoding
    from shoal.engines.database.dialects.values import Expression
    from shoal.engines.database.labels import Labels, Scratch
    from shoal.engines.database.relation import Relation

_LARGEST_NUMBER = 2**62
"""Packed codes stay below it, so that every database has an integer type for them."""


def labels_of(scratch: Scratch, relation: Relation, recoding: Recoding) -> list[Labels]:
    """The codes of each quasi-identifier; an unchanged one has the values of the classes."""
    return [
        scratch.labels(relation, name, generalization, recoding.missing)
        if generalization.values
        else scratch.known_labels(
            relation,
            name,
            recoding.classes.column(name).cast(pa.string()),
            recoding.missing,
            generalization.missing,
        )
        for name, generalization in recoding.generalized.items()
    ]


def classes_table(
    scratch: Scratch,
    relation: Relation,
    recoding: Recoding,
    labels: list[Labels],
    by_class: Sequence[str],
    released: Mapping[str, Expression],
) -> sa.Table:
    """The classes that may pass: their packed codes p0, p1, ..., their rank in the order of
    the labels of `by_class`, and the labels g0, g1, ... of the columns they release.

    These are the labelled ones, and those in `released`, each in the type of its expression. Where
    records are marked, a class without records has the rank of no labels.
    """
    names = list(recoding.generalized)
    keys = [each.codes for each in labels]
    shown = keys if recoding.labels is None else [_codes_of(recoding.labels, n) for n in names]
    distinct = _distinct(recoding, keys, shown)
    columns: list[sa.Column[Any]] = [sa.Column("class_rank", sa.Integer, nullable=False)]
    ordered = []
    for j in map(names.index, by_class):
        codes = distinct.column(f"label {j}")
        is_missing = pc.equal(codes, shown[j].code_of_null)
        ordered.append(pc.if_else(is_missing, None, codes))
    arrays: dict[str, Any] = {"class_rank": class_ranks(ordered, len(distinct))}
    indexed = scratch.joins_by_index
    for i, pack in enumerate(packing(keys)):
        arrays[f"p{i}"] = _numbers(distinct, pack)
        columns.append(sa.Column(f"p{i}", sa.BigInteger, primary_key=indexed, autoincrement=False))
    typed = {}
    for j, (name, each) in enumerate(zip(names, shown, strict=True)):
        if not recoding.is_unchanged(name) or name in released:
            longest = pc.max(pc.utf8_length(each.labels)).as_py() or 1
            columns.append(sa.Column(f"g{j}", relation.values.text_type(longest)))
            arrays[f"g{j}"] = each.texts(distinct.column(f"label {j}"))
            if name in released:
                typed[f"g{j}"] = released[name]
    table = pa.table(arrays)
    if recoding.mark:
        nobody = {name: -1 if name.startswith("p") else None for name in arrays} | {
            "class_rank": LAST_RANK
        }
        table = pa.concat_tables([table, pa.Table.from_pylist([nobody], table.schema)])
    return scratch.table(columns, table, typed)


def _codes_of(labels: pa.Table, name: str) -> Codes:
    """The codes of the labels of a column."""
    return Codes.of(labels.column(name).cast(pa.string()))


def _distinct(recoding: Recoding, keys: Sequence[Codes], shown: Sequence[Codes]) -> pa.Table:
    """Each class once: the codes of its columns, and of the labels under which it is released."""
    columns = {}
    for word, table, codes in (
        ("key", recoding.classes, keys),
        ("label", recoding.released_classes, shown),
    ):
        for j, (name, each) in enumerate(zip(recoding.generalized, codes, strict=True)):
            columns[f"{word} {j}"] = each.codes(table.column(name).cast(pa.string()))
    return pa.table(columns).group_by(list(columns)).aggregate([])


def packing(codes: Sequence[Codes]) -> list[dict[int, int]]:
    """How codes of several columns are packed into few whole numbers: the factors of each column.

    A column has a digit for each of its codes, for missing and for UNKNOWN. So the sum of factor
    times code + 1 is another number for every other combination. The first column has the highest
    digits: the numbers sort as the codes do.
    """
    packs: list[list[int]] = [[]]
    size = 1
    digits = [len(each.labels) + 2 for each in codes]
    for j, base in enumerate(digits):
        if size * base > _LARGEST_NUMBER:
            packs.append([])
            size = 1
        packs[-1].append(j)
        size *= base
    return [_factors(digits, pack) for pack in packs]


def _factors(digits: Sequence[int], pack: Sequence[int]) -> dict[int, int]:
    """The factor of each column: the number of combinations of all columns after it."""
    factors, factor = {}, 1
    for j in reversed(pack):
        factors[j] = factor
        factor *= digits[j]
    return factors


def packed(coded: sa.Subquery, factors: Mapping[int, int]) -> Expression:
    """The codes of a record as one number."""
    parts = [(coded.c[f"k{j}"] + 1) * _big(factor) for j, factor in factors.items()]
    return sum(parts, _big(0))


def _big(number: int) -> Expression:
    """A number of 64 bits, so that products with it do not overflow."""
    return sa.cast(sa.literal(number), sa.BigInteger)


def _numbers(codes: pa.Table, factors: Mapping[int, int]) -> pa.Array:
    """The codes of each class as one number."""
    total = np.zeros(len(codes), np.int64)
    for j, factor in factors.items():
        total += (codes.column(f"key {j}").to_numpy().astype(np.int64) + 1) * factor
    return pa.array(total)

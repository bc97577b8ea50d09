"""Local recoding of the rows of a mart: the class of each tuple of a source.

In full-domain recoding the labels of a row follow from the levels. In local recoding they follow
from the class of its tuple: its values in all quasi-identifiers of the source.

The log must be able to find the classes of a release again, and has no value of a record. So it
keeps a checksum of the tuples that the release was made from, and the class of each in the order of
their texts. Where the same rows are selected later and have the same tuples, these are their
classes. Otherwise the sources have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.rows import number_rows
from shoal.encode.table import tuples_of
from shoal.privacy.base import released
from shoal.recoding.local.solution import SUPPRESSED
from shoal.release.recode import labels_at, texts_of
from shoal.search.problem import Partition, counts_of, select

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.encode.table import Table
    from shoal.privacy.base import PrivacyModel
    from shoal.recoding.local.solution import Recoding
    from shoal.values import Ints

Texts = Sequence[tuple[str | None, ...]]
"""Tuples of values, None for missing."""


@dataclass(frozen=True, eq=False)
class LocalClasses:
    """The tuples of a source, and what became of them: classes from 0, each with its levels."""

    table: Table
    recoding: Recoding

    @property
    def number(self) -> int:
        """How many classes there are. Suppressed tuples have this number in place of a class."""
        return self.recoding.classes

    @cached_property
    def of_tuples(self) -> Ints:
        """The class of each tuple of the table."""
        found: Ints = np.where(
            self.recoding.class_of == SUPPRESSED, self.number, self.recoding.class_of
        )
        return found

    def class_of(self, codes: Sequence[Ints]) -> Ints:
        """The class of each row with these codes; a tuple that is not listed is suppressed."""
        classes: Ints = np.append(self.of_tuples, self.number)[tuples_of(self.table, codes)]
        return classes

    def partition(self, table: Table, models: Sequence[PrivacyModel]) -> Partition:
        """The classes of another table with the same attributes, each judged.

        They are numbered by rising class; what is suppressed is the last, and is not kept.
        """
        own = self.class_of(table.codes)
        class_of, classes = number_rows([own], [self.number + 1])
        counts = counts_of(table, class_of, classes)
        is_class = np.unique(own) < self.number
        kept = np.zeros(classes, np.bool_)
        kept[is_class] = released(models, select(counts, is_class))
        return Partition(class_of, counts, kept)

    def labels(self, codes: Sequence[Ints]) -> dict[str, pa.Array]:
        """The labels of released rows with these codes, by column; null for missing."""
        levels = self.recoding.levels[self.class_of(codes)]
        return {
            attribute.name: labels_at(attribute, column, levels[:, j])
            for j, (attribute, column) in enumerate(zip(self.table.attributes, codes, strict=True))
        }

    def records_at(self, codes: Sequence[Ints], weights: Ints) -> dict[str, dict[int, int]]:
        """The released rows at each level of each column."""
        classes, found = self.class_of(codes), dict[str, dict[int, int]]()
        for j, attribute in enumerate(self.table.attributes):
            rows = np.bincount(self.recoding.levels[classes, j], weights).astype(np.int64).tolist()
            found[attribute.name] = {level: number for level, number in enumerate(rows) if number}
        return found

    def kept_for_the_log(self, released_codes: Sequence[Ints]) -> KeptTuples:
        """The tuples as the log keeps them; released classes count from 1 by rising class."""
        there = np.unique(self.class_of(released_codes))
        position = np.zeros(self.number + 1, np.int64)
        position[there] = np.arange(1, len(there) + 1)
        values = texts_of(self.table, np.arange(self.table.tuples))
        tuples = list(zip(*(column.to_pylist() for column in values.columns), strict=True))
        order = sorted(range(len(tuples)), key=lambda t: _key(tuples[t]))
        classes = position[self.of_tuples[order]].tolist()
        return KeptTuples(checksum_of([tuples[t] for t in order]), tuple(classes))


@dataclass(frozen=True)
class KeptTuples:
    """The tuples of a local recoding in the log: their checksum, and the class of each, 0 if it is
    not released, in the order of their texts."""

    sha256: str
    classes: tuple[int, ...]

    def found_again(self, tuples: Texts) -> list[tuple[int, tuple[str | None, ...]]]:
        """Released tuples with their classes; none where the tuples are not those of then."""
        ordered = sorted(tuples, key=_key)
        if len(ordered) != len(self.classes) or checksum_of(ordered) != self.sha256:
            return []
        return [pair for pair in zip(self.classes, ordered, strict=True) if pair[0]]


def checksum_of(tuples: Texts) -> str:
    """SHA-256 of tuples in their order."""
    plain = json.dumps([list(each) for each in tuples], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _key(values: tuple[str | None, ...]) -> tuple[tuple[bool, str], ...]:
    """The order of tuples: by their texts, missing last."""
    return tuple((value is None, value or "") for value in values)

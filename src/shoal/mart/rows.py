"""The rows of the linked table as the search left them: labels of all sources, and persons.

Rows with equal labels, judged values and person are one combination with a number of rows. All that
concerns several sources at once is counted here: which rows stay, which are unique, and what random
ids would tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.collapse.large import joined_values
from shoal.collapse.read import budget
from shoal.encode.persons import distinct_rows, person_of_rows
from shoal.encode.rows import column_of, number_rows, weights_of
from shoal.encode.table import code_of, encode
from shoal.errors import BadData
from shoal.search.problem import partition

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute
    from shoal.engines.base import Source
    from shoal.mart.local_classes import LocalClasses
    from shoal.privacy.base import PrivacyModel
    from shoal.search.problem import Partition
    from shoal.values import Bools, Ints, Node


@dataclass(frozen=True, eq=False)
class AtLevels:
    """A source's definition with its quasi-identifiers and what is demanded, at chosen levels.

    A local recoding has the classes of the source's tuples in place of a node.
    """

    definition: Definition
    attributes: tuple[Attribute, ...]
    models: tuple[PrivacyModel, ...]
    node: Node
    local: LocalClasses | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct combinations of labels, judged values and persons, with their numbers of rows.

    In `counted` a label is represented by the first value that it covers, so that the codes of the
    hierarchies apply. In local recoding it has the values themselves.
    """

    sources: tuple[AtLevels, ...]
    person: str
    counted: pa.Table

    @classmethod
    def count(cls, source: Source, sources: Sequence[AtLevels], person: str) -> Rows:
        """Count the linked table at these levels, in one pass."""
        columns = dict.fromkeys(name for each in sources for name in each.definition.counted)
        most = min((budget(each.definition) for each in sources), default=None)
        missing = sources[0].definition.missing.values if sources else ()
        counted = source.count_by(
            tuple(columns) or (person,),
            missing,
            generalized={
                attribute.name: joined_values(attribute, level)
                for each in sources
                if each.local is None
                for attribute, level in zip(each.attributes, each.node, strict=True)
            },
            at_most=most,
        )
        if most is not None and counted.num_rows > most:
            raise BadData(
                f"the linked table has more than {most:,} distinct combinations of labels and "
                "persons, and no more may be read",
                code="too-many-tuples",
                hint="allow more with `engine: {tuples: ...}`, or select fewer records",
            )
        return cls(tuple(sources), person, counted)

    @cached_property
    def weights(self) -> Ints:
        """The rows of each combination."""
        return weights_of(self.counted)

    @property
    def number(self) -> int:
        """How many rows there are."""
        return int(self.weights.sum())

    @cached_property
    def _persons(self) -> tuple[Ints, int]:
        if not len(self.counted):
            return np.zeros(0, dtype=np.int64), 0
        return person_of_rows(self.counted, (self.person,))

    @property
    def persons(self) -> int:
        """How many persons have a row."""
        return self._persons[1]

    def only(self, chosen: Bools) -> Rows:
        """Some of the combinations."""
        if chosen.all():
            return self
        return replace(self, counted=self.counted.filter(pa.array(chosen)))

    def classes(self, each: AtLevels) -> tuple[Ints, Partition]:
        """The class of each combination in one of the sources, and the classes."""
        number = self.sources.index(each)
        if number not in self._classes:
            table = encode(each.definition, self.counted, each.attributes)
            if each.local is None:
                classes = partition(table, each.models, each.node)
            else:
                classes = each.local.partition(table, each.models)
            self._classes[number] = self._numbered([each])[0], classes
        return self._classes[number]

    @cached_property
    def _classes(self) -> dict[int, tuple[Ints, Partition]]:
        """The classes that were counted already, by the number of the source."""
        return {}

    def _numbered(self, sources: Sequence[AtLevels]) -> tuple[Ints, int]:
        """The class of each combination by the labels of these sources, in order of the groups."""
        groups, sizes = [], []
        for each in sources:
            if each.local is not None:
                groups.append(each.local.class_of(self.codes(each)))
                sizes.append(each.local.number + 1)
                continue
            for attribute, level in zip(each.attributes, each.node, strict=True):
                groups.append(attribute.groups[level][self._codes(attribute)])
                sizes.append(len(attribute.hierarchy.labels[level]) + 1)
        if not groups:
            return np.zeros(len(self.counted), dtype=np.int64), min(1, len(self.counted))
        return number_rows(groups, sizes)

    def codes(self, each: AtLevels) -> list[Ints]:
        """The codes of each combination in the quasi-identifiers of one of the sources."""
        return [self._codes(attribute) for attribute in each.attributes]

    def _codes(self, attribute: Attribute) -> Ints:
        """The code of each combination in one quasi-identifier."""
        if attribute.name not in self._known_codes:
            column = column_of(self.counted, attribute.name)
            codes = code_of(attribute, list(column.counts))[column.rows]
            self._known_codes[attribute.name] = codes
        return self._known_codes[attribute.name]

    @cached_property
    def _known_codes(self) -> dict[str, Ints]:
        """The codes that were looked up already, by column."""
        return {}

    def labels(self) -> pa.Table:
        """The distinct combinations of the labels of all sources."""
        class_of, classes = self._numbered(self.sources)
        return self._labels_of(self.sources, _first(class_of, classes))

    def _labels_of(self, sources: Sequence[AtLevels], rows: Ints) -> pa.Table:
        """The labels of some combinations, in the columns of these sources."""
        columns: dict[str, pa.Array] = {}
        for each in sources:
            if each.local is not None:
                columns |= each.local.labels([codes[rows] for codes in self.codes(each)])
                continue
            for attribute, level in zip(each.attributes, each.node, strict=True):
                groups = attribute.groups[level][self._codes(attribute)[rows]]
                columns[attribute.name] = attribute.labels(level).take(pa.array(groups))
        return pa.table(columns)

    def tuples(self, sources: Sequence[AtLevels]) -> tuple[pa.Table, pa.Table]:
        """The distinct tuples of released combinations in the columns of these sources, and the
        labels of each."""
        attributes = [attribute for each in sources for attribute in each.attributes]
        codes = [self._codes(attribute) for attribute in attributes]
        tuple_of, number = number_rows(codes, [len(each.groups[0]) for each in attributes])
        first = _first(tuple_of, number)
        values = {
            attribute.name: attribute.labels(0).take(pa.array(column[first]))
            for attribute, column in zip(attributes, codes, strict=True)
        }
        return pa.table(values), self._labels_of(sources, first)

    def class_table(self, each: AtLevels) -> pa.Table:
        """The classes of one source: their labels, then their rows, then their persons."""
        class_of, classes = self.classes(each)
        labels = self._labels_of([each], _first(class_of, len(classes.kept)))
        sizes = [pa.array(classes.counts.sizes), pa.array(classes.counts.members[None])]
        return pa.table([*labels.columns, *sizes], names=[*labels.column_names, "rows", "persons"])

    def unique(self) -> int:
        """The rows whose labels of all sources together only one person has."""
        class_of, classes = self._numbered(self.sources)
        return unique_rows(class_of, classes, self._persons, self.weights)

    def persons_singled_out(self, k: int) -> int:
        """The persons whom ids would single out: fewer than k have the same rows of a source.

        Random ids tie the rows of a person together. So in each source the classes of a person's
        rows, each with its number of rows, must be those of k persons.
        """
        person, number = self._persons
        alone = np.zeros(number, dtype=bool)
        for each in self.sources:
            class_of, classes = self._numbered([each])
            pair_of, pairs = number_rows([person, class_of], [number, classes])
            rows = np.bincount(pair_of, weights=self.weights, minlength=pairs).astype(np.int64)
            first = _first(pair_of, pairs)
            cells = np.column_stack([class_of[first], rows])
            starts = np.searchsorted(person[first], np.arange(number + 1))
            same = [cells[starts[i] : starts[i + 1]].tobytes() for i in range(number)]
            persons_with = Counter(same)
            alone |= np.array([persons_with[each] < k for each in same], dtype=bool)
        return int(alone.sum())


def _first(number_of: Ints, numbers: int) -> Ints:
    """A row for each number."""
    rows = np.zeros(numbers, dtype=np.int64)
    rows[number_of] = np.arange(len(number_of))
    return rows


def unique_rows(class_of: Ints, classes: int, persons: tuple[Ints, int], weights: Ints) -> int:
    """The rows of classes that have one person."""
    if not len(class_of):
        return 0
    person, number = persons
    pairs = distinct_rows([class_of, person], [classes, number])
    alone = np.bincount(class_of[pairs], minlength=classes) == 1
    return int(weights[alone[class_of]].sum())


def unique_before(
    source: Source, quasi_identifiers: Sequence[str], person: str, missing: Sequence[str]
) -> int:
    """The rows of the linked table whose values of all quasi-identifiers only one person has."""
    counted = source.count_by((*quasi_identifiers, person), missing)
    columns = [column_of(counted, name) for name in quasi_identifiers]
    class_of, classes = number_rows(
        [each.rows for each in columns], [len(each.counts) + 1 for each in columns]
    )
    return unique_rows(class_of, classes, person_of_rows(counted, (person,)), weights_of(counted))


def single_rows(source: Source, quasi_identifiers: Sequence[str], missing: Sequence[str]) -> int:
    """The same where every person has one row: the combinations that one row has."""
    return int((weights_of(source.count_by(quasi_identifiers, missing)) == 1).sum())


def stay(rows: Rows) -> Bools:
    """The combinations that stay when every source has removed the classes that are not safe.

    A class that is removed takes its rows out of the whole table. That is repeated until all
    classes of all sources are safe, so what stays is safe in every source at once.
    """
    stays = np.ones(len(rows.counted), dtype=bool)
    changed = True
    while changed and stays.any():
        changed = False
        for each in rows.sources:
            left = rows.only(stays)
            class_of, classes = left.classes(each)
            kept = classes.kept[class_of]
            if not kept.all():
                stays[np.flatnonzero(stays)[~kept]] = False
                changed = True
            if not stays.any():
                break
    return stays

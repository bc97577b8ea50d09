"""What every engine does: count where the data is, recode where the data is.

A count gives distinct combinations with their numbers of records, never records. Values are
text: what a column's value looks like when cast to text is what is compared, generalized and
released. A missing value travels as null.

A source is opened to be released, or, `stored`, to be verified. To be released, two values with one
text are one value: they are counted together and written alike. To be verified, nothing is taken
for equal or for missing that is not stored alike: NaN and empty text are values, and where one
column mixes kinds of values (in JSON 1 and "1") their texts differ.

First comes what is asked of an engine (Question, Recoding), then what an engine gives (Source,
Staged). `options` says what a source or a target is.

Frames of the caller and the order of classes in a release are the same in every engine, so they
are here too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrow_arrays import from_numpy, to_numpy
from shoal.engines.options import Resources

COUNT = "#records"
"""The name of the counts in a table of `count_by`, where no data column has it already."""


def listed_texts(
    texts: Collection[str | None], missing: Sequence[str]
) -> tuple[tuple[str, ...], bool]:
    """The texts of `Source.fetched` that can be met, in order, and whether missing ones are listed.

    Empty text and the `missing` texts are no values.
    """
    absent = {None, "", *missing}
    return tuple(sorted({t for t in texts if t is not None} - absent)), None in texts


@dataclass(frozen=True)
class Column:
    """A column of a source: its name and whether the engine stores it as text.

    `arrow` is the Arrow type in which its values are released when they are unchanged, of a nested
    type the outermost kind alone; None if unknown. A `fault` says why its values cannot be
    released as they are; it is empty where they can.
    """

    name: str
    is_text: bool
    arrow: pa.DataType | None = None
    fault: str = ""


@dataclass(frozen=True)
class Generalization:
    """What each value of a column becomes: `values[i]` becomes `labels[i]`.

    Values are distinct. No `values` at all mean that every value stays as it is. `missing` is what
    a missing value becomes, None if it stays missing. A value that is not listed is an error, never
    a null.
    """

    values: tuple[str, ...]
    labels: tuple[str, ...]
    missing: str | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes anything: level 0 keeps values and missing values as they are."""
        return bool(self.values) or self.missing is not None


@dataclass(frozen=True)
class Question:
    """What an engine is to count; `Question.of` is the form that engines get.

    There `generalized` has only those of `columns` that change, and `missing` has no empty text,
    since that is missing anyway. `Source.count_by` explains all of it.
    """

    columns: tuple[str, ...]
    missing: tuple[str, ...] = ()
    generalized: Mapping[str, Generalization] = field(default_factory=dict, hash=False)
    complete: tuple[str, ...] = ()
    at_most: int | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        missing: Sequence[str] = (),
        generalized: Mapping[str, Generalization] | None = None,
        complete: Sequence[str] = (),
        at_most: int | None = None,
    ) -> Question:
        """The question in the one form that engines get."""
        given = generalized or {}
        changed = {name: given[name] for name in columns if name in given and given[name].changes}
        texts = tuple(text for text in missing if text)
        return cls(tuple(columns), texts, changed, tuple(complete), at_most)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the answer: those counted, then COUNT, made unlike all of them."""
        count = COUNT
        while count in self.columns:
            count += "_"
        return (*self.columns, count)


class CountOptions(TypedDict, total=False):
    """The options of `Source.count_by` and `Source.count_distinct`."""

    generalized: Mapping[str, Generalization] | None
    complete: Sequence[str]
    at_most: int | None


@dataclass(frozen=True)
class Recoding:
    """What an engine has to release.

    `columns` are released, in this order. A record passes only when its generalized
    quasi-identifiers (the keys of `generalized`, in order) are in `classes`, a table of label
    columns of the same names: a list of what may pass, so that a record not judged stays out.
    With `mark` the others stay too, with every column of `blanked` null. `complete` leaves out
    the records with a missing quasi-identifier altogether.

    With `labels`, a table with the rows and columns of `classes`, each class is released under
    these labels in place of its own. That is local recoding: `classes` are tuples of values, each
    in one row, and a record is released as text. A record that does not pass has no labels, so it
    shows no quasi-identifier when it is marked.

    Keys in `texts` are released as text even if they are not generalized, so that the type of a
    column does not depend on its level.
    """

    columns: tuple[str, ...]
    generalized: Mapping[str, Generalization]
    classes: pa.Table
    blanked: tuple[str, ...]
    missing: tuple[str, ...] = ()
    mark: bool = False
    complete: bool = False
    labels: pa.Table | None = None
    texts: Collection[str] = ()

    def is_unchanged(self, name: str) -> bool:
        """Whether a column is released in its own type: not generalized, or to level 0."""
        generalization = self.generalized.get(name)
        if generalization is None:
            return True
        return self.labels is None and not generalization.changes and name not in self.texts

    def is_spelled(self, name: str) -> bool:
        """Whether a key is released as the text of its value, which its class has."""
        return name in self.texts and not self.generalized[name].values

    @property
    def blanks(self) -> Collection[str]:
        """The columns that may be null in a record that is marked."""
        return self.blanked if self.mark else ()

    def same_in_class(self) -> list[str]:
        """The released keys that are the same in all records of a class, and blank in the others.

        Keys that marked records show are not among them.
        """
        keys = [name for name in self.columns if name in self.generalized]
        if self.labels is not None or not self.mark:
            return keys
        return [name for name in keys if name in self.blanked]

    @property
    def released_classes(self) -> pa.Table:
        """The labels under which each class is released."""
        return self.classes if self.labels is None else self.labels


@dataclass(frozen=True)
class TableJoin:
    """Joins the table `new` to the table `known` by pairs of columns, that of `known` first.

    With `optional` rows of `known` without a partner stay.
    """

    known: str
    new: str
    keys: tuple[tuple[str, str], ...]
    optional: bool


class Fetchable(ABC):
    """Records that leave their engine as they are: those of a table, or of tables it joins."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call it in messages."""

    @abstractmethod
    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        """The records whose values are listed, as a stream of batches, in no particular order.

        A record passes when each column of `only`, which need not be among `columns`, has one of
        the listed texts, by the texts of `count_by`; None lists missing values. The columns have
        their real names and their values are unchanged in their own types, but empty text and
        NaN are null. `missing` texts stay as they are. At least one column is needed. These are
        raw records: for code that links sources, never for a release.
        """


class Source(Fetchable):
    """A table that an engine can count and recode; a context that closes it."""

    @property
    def resources(self) -> Resources:
        """What may be used on this machine to write its release."""
        return Resources()

    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order; an error for no columns or a repeated name."""

    def count_by(
        self, columns: Sequence[str], missing: Sequence[str] = (), **options: Unpack[CountOptions]
    ) -> pa.Table:
        """Distinct combinations as text columns of these names, and a last column of counts.

        Empty text and the `missing` texts become null. The rows come in no particular order. The
        last column is called COUNT, with underscores added where a data column has that name. No
        columns: one row, the number of records.

        A column in `generalized` is counted by its labels: after missing values became null, each
        value becomes its label and null becomes `Generalization.missing`; a label is never taken
        for missing. As in a recoding, no `values` mean unchanged, and a value that is not listed is
        an error, never a null. Keys that are not among `columns` have no effect. Records with a
        missing value in a column of `complete`, which need not be among `columns`, are not counted.
        With `at_most` the answer has no more than `at_most` + 1 rows, any of them: that many mean
        that there are more than `at_most`.
        """
        return self.count(Question.of(columns, missing, **options))

    def count_distinct(
        self, columns: Sequence[str], missing: Sequence[str] = (), **options: Unpack[CountOptions]
    ) -> int:
        """How many rows `count_by` would give, or `at_most` + 1 once there are more than that."""
        question = Question.of(columns, missing, **options)
        return self.distinct(question) if question.columns else 1

    @abstractmethod
    def count(self, question: Question) -> pa.Table:
        """The answer of `count_by`: one pass over the records, where they are."""

    @abstractmethod
    def distinct(self, question: Question) -> int:
        """The answer of `count_distinct`, for at least one column."""

    def columns_with_nul(self, names: Collection[str]) -> list[str]:  # noqa: ARG002
        """Those of these columns with a NUL character in a text, where the engine can tell."""
        return []

    def columns_with_other_years(self, names: Collection[str]) -> list[str]:  # noqa: ARG002
        """Those that have a date or time outside of the years 1 to 9999, where it can tell."""
        return []

    def count_formulas(self) -> dict[str, int]:
        """How many cells of each column a spreadsheet would run, where the engine can tell."""
        return {}

    def parsed_once(self, columns: Sequence[str]) -> AbstractContextManager[Source]:  # noqa: ARG002
        """A source for many questions about these columns: itself, or a copy that is faster."""
        return nullcontext(self)

    @abstractmethod
    def recoded(self, recoding: Recoding) -> AbstractContextManager[pa.RecordBatchReader]:
        """The recoded table as a stream of batches, in an order of its own values.

        All released values take part in the order and nothing else does, so it shows nothing of the
        order in the source. The columns have their real names; generalized ones are text.
        """

    def can_join(self, other: Source, keys: Sequence[tuple[str, str]]) -> bool:  # noqa: ARG002
        """Whether the engine can join another source by these pairs of columns, where they are."""
        return False

    def joined(
        self,
        tables: Mapping[str, Source],
        joins: Sequence[TableJoin],
        columns: Mapping[str, tuple[str, str]],
    ) -> Fetchable:
        """Tables that this one `can_join`, as one; the first is where the joins begin.

        `columns` says of which table, and which column of it, each column of the join is.
        """
        raise NotImplementedError

    def fingerprint(self) -> str | None:
        """SHA-256 of the bytes read where the source is a file, else None."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Give back connections and temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Staged(ABC):
    """A written output that is not visible yet; a context that discards it unless published."""

    @abstractmethod
    def source(self) -> Source:
        """The staged output, opened afresh from what is stored, to be verified."""

    @abstractmethod
    def publish(self) -> str:
        """Put it in place of what was there, in one step; returns where."""

    @abstractmethod
    def discard(self) -> None:
        """Remove it; the old output stays. Harmless after publish or when called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


class StagedFrame(Staged):
    """A release in memory: there is nothing to put in place, the caller takes `frame()`."""

    @abstractmethod
    def frame(self) -> Any:
        """The release."""

    def publish(self) -> str:
        """Nothing to do."""
        return "memory"


class GivenFrame(Source):
    """A frame of the caller's, whose release without a target is a frame of the same kind."""

    @abstractmethod
    def stage_frame(self, recoding: Recoding) -> StagedFrame:
        """The release, as the kind of frame that was given."""


LAST_RANK = 2**31 - 1
"""The rank of a class of which nothing is released, and of records of no class."""


def class_ranks(codes: Sequence[pa.Array | pa.ChunkedArray], classes: int) -> pa.Array:
    """The rank of each class in the order of its codes; null means missing, and comes last.

    It is their order in a release, so nothing but what is released of them decides it. Classes with
    equal codes share a rank. It is LAST_RANK where every code is missing, as for a record of no
    class, so that the order of a release does not distinguish the two.
    """
    if not codes:
        return from_numpy(np.full(classes, LAST_RANK, np.int32))
    filled = [pc.fill_null(code.cast(pa.int64()), LAST_RANK) for code in codes]
    table = np.column_stack([to_numpy(code) for code in filled])
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    changes = np.any(np.diff(ordered, axis=0, prepend=ordered[:1]), axis=1)
    ranks = np.empty(classes, np.int32)
    ranks[order] = np.cumsum(changes)
    ranks[np.all(table == LAST_RANK, axis=1)] = LAST_RANK
    return from_numpy(ranks)

"""A source without the records that have an unknown value: one without a label.

Such records are never counted, so they are in no class, and what is recoded leaves them out. The
engine maps their values to a label of their own that no class has; no value is lost silently.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.base import Generalization, Question, Source
from shoal.engines.opening import recode_into

if TYPE_CHECKING:
    from shoal.engines.base import Column, Recoding, Staged
    from shoal.engines.options import Resources, Target

KNOWN, UNKNOWN = "known", "no label"
TIMES = 4
"""So many times the rows that a caller allows are counted before unknown values are left out."""


def without_unknown(
    source: Source,
    values: Mapping[str, Collection[str]],
    unknown: Mapping[str, Collection[str]],
    missing: Sequence[str],
) -> Source:
    """The source without records with a value in `unknown`; itself where there are none.

    `values` are all values of the columns in `unknown`, where the texts in `missing` are none.
    """
    columns = {name: frozenset(texts) for name, texts in unknown.items() if texts}
    if not columns:
        return source
    every = {name: tuple(values[name]) for name in columns}
    return KnownRecords(source, every, columns, tuple(missing))


def recode_known(
    source: Source, recoding: Recoding, target: Target | None, *, spark: Any = None
) -> Staged:
    """Stage the recoded table, where the data is: the engine maps unknown values to a label that no
    class has."""
    if isinstance(source, KnownRecords):
        return recode_into(source.whole, source.widened(recoding), target, spark=spark)
    return recode_into(source, recoding, target, spark=spark)


class KnownRecords(Source):
    """The records of the `whole` source whose values all have a label."""

    def __init__(
        self,
        source: Source,
        values: Mapping[str, tuple[str, ...]],
        unknown: Mapping[str, frozenset[str]],
        missing: tuple[str, ...],
    ) -> None:
        self.whole = source
        self._values, self._unknown, self._missing = values, unknown, missing

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self.whole.name

    @property
    def resources(self) -> Resources:
        """What may be used on this machine to write its release."""
        return self.whole.resources

    def columns(self) -> tuple[Column, ...]:
        """The columns of the source."""
        return self.whole.columns()

    def columns_with_nul(self, names: Collection[str]) -> list[str]:
        """Those of the source."""
        return self.whole.columns_with_nul(names)

    def columns_with_other_years(self, names: Collection[str]) -> list[str]:
        """Those of the source."""
        return self.whole.columns_with_other_years(names)

    def fingerprint(self) -> str | None:
        """That of the source."""
        return self.whole.fingerprint()

    def close(self) -> None:
        """Close the source."""
        self.whole.close()

    @contextmanager
    def parsed_once(self, columns: Sequence[str]) -> Iterator[Source]:
        """The same for a source that is faster for many questions."""
        needed = tuple(dict.fromkeys((*columns, *self._unknown)))
        with self.whole.parsed_once(needed) as once:
            yield KnownRecords(once, self._values, self._unknown, self._missing)

    def count(self, question: Question) -> pa.Table:
        """Count by the unknown columns too, leave out their rows, and add up the others."""
        allowed = None if question.at_most is None else question.at_most * TIMES
        counted = self.whole.count(self._inside(question, allowed))
        if allowed is not None and counted.num_rows > allowed:
            counted = self.whole.count(self._inside(question, None))
        keys = [f"k{i}" for i in range(counted.num_columns - 1)]
        table = counted.rename_columns([*keys, "n"])
        for key, name in zip(keys, (*question.columns, *self._beside(question)), strict=True):
            table = table.filter(self._is_known(table.column(key), name, question))
        kept = keys[: len(question.columns)]
        summed = table.group_by(kept).aggregate([("n", "sum")]).select([*kept, "n_sum"])
        if not kept:
            total = pc.sum(table.column("n")).as_py() or 0
            summed = pa.table({"n_sum": pa.array([total], pa.int64())})
        found = summed.rename_columns(list(question.names))
        return found if question.at_most is None else found.slice(0, question.at_most + 1)

    def distinct(self, question: Question) -> int:
        """How many combinations there are."""
        return int(self.count(question).num_rows)

    def recoded(self, recoding: Recoding) -> AbstractContextManager[pa.RecordBatchReader]:
        """The recoded table: no class has the label of unknown values."""
        return self.whole.recoded(self.widened(recoding))

    def fetched(
        self,
        columns: Sequence[str],
        only: Mapping[str, Collection[str | None]],
        missing: Sequence[str] = (),
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        """Those of the source, without unknown values."""
        narrowed = {**only}
        for name, unknown in self._unknown.items():
            allowed = only.get(name, (None, *self._values[name]))
            narrowed[name] = [text for text in allowed if text not in unknown]
        return self.whole.fetched(columns, narrowed, (*missing, *self._missing))

    def widened(self, recoding: Recoding) -> Recoding:
        """The recoding with a label for unknown values."""
        generalized = {
            name: self._with_unknown(name, each) for name, each in recoding.generalized.items()
        }
        return replace(recoding, generalized=generalized)

    def _with_unknown(self, name: str, each: Generalization) -> Generalization:
        """A generalization that maps unknown values to a label that no known value has.

        One that changes no value leaves them as they are: no class has them.
        """
        if name not in self._unknown or not each.values:
            return each
        texts = tuple(sorted(self._unknown[name] - set(each.values)))
        return replace(
            each,
            values=(*each.values, *texts),
            labels=(*each.labels, *(_label(each) for _ in texts)),
        )

    def _beside(self, question: Question) -> tuple[str, ...]:
        """The columns with unknown values that the question does not name."""
        return tuple(name for name in self._unknown if name not in question.columns)

    def _inside(self, question: Question, at_most: int | None) -> Question:
        """The question to the source: unknown values of every column can be told apart."""
        generalized = {
            name: self._with_unknown(name, each) for name, each in question.generalized.items()
        }
        for name in self._beside(question):
            labels = [UNKNOWN if t in self._unknown[name] else KNOWN for t in self._values[name]]
            generalized[name] = Generalization(self._values[name], tuple(labels))
        return replace(
            question,
            columns=(*question.columns, *self._beside(question)),
            missing=tuple(dict.fromkeys((*question.missing, *filter(None, self._missing)))),
            generalized=generalized,
            at_most=at_most,
        )

    def _is_known(self, column: pa.ChunkedArray, name: str, question: Question) -> pa.ChunkedArray:
        """For each row whether the value of a column has a label; a missing one has."""
        if name not in self._unknown:
            return pa.chunked_array([pa.array([True] * len(column), pa.bool_())])
        texts = [UNKNOWN]
        if name in question.columns:
            each = question.generalized.get(name)
            is_raw = each is None or not each.values
            texts = sorted(self._unknown[name]) if is_raw or each is None else [_label(each)]
        return pc.invert(pc.is_in(column.cast(pa.string()), pa.array(texts, pa.string())))


def _label(each: Generalization) -> str:
    """A label for unknown values that no value of a generalization has."""
    label, taken = UNKNOWN, {*each.labels, each.missing}
    while label in taken:
        label += "_"
    return label

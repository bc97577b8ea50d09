"""New records together with an earlier release: the union of both must meet the demands.

New records hide in the classes of the earlier release. So the classes of both are counted as one
table, by their labels, and a class of new records is released only if the class of the union meets
every demand. The union is counted again from what was written, by the verifier.

This protects against people who know that somebody is in one of the two releases, and not in which.
Whoever knows in which sees only the classes of that one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.applying.covering import classes_of, labels_in
from shoal.definition.demands import models_of
from shoal.definition.hierarchies.base import natural
from shoal.definition.model import Missing, Suppress
from shoal.encode.table import codes_in, encode, tuples_of
from shoal.engines.failures import source_changed
from shoal.engines.united import Table as Member
from shoal.engines.united import UnitedSource
from shoal.errors import BadData, Infeasible, quoted
from shoal.recoding.local.solution import SUPPRESSED
from shoal.release.recode import generalization
from shoal.report.result import demands_met
from shoal.search.problem import Partition, partition, select
from shoal.steps.releasing import judge_alone
from shoal.verify.judge import verify

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Table
    from shoal.engines.base import Generalization, Source
    from shoal.measure.classes import Values
    from shoal.recoding.local.solution import Recoding
    from shoal.report.result import ShownResult
    from shoal.steps.releasing import Judge, Prepared
    from shoal.values import Bools, Demand, Node, StatedLevels, Verdict
    from shoal.verify.assignment import Assignment

RECORDS = "#records"
"""The column of counts while both tables are joined."""
OF_THE_NEW = ("columns", "levels", "suppression", "missing values", "level of ")
"""The findings that are about the new release by itself; the others are about the union."""


@dataclass(frozen=True)
class Together:
    """The union of a release and an earlier one: its records, classes and smallest class."""

    records: int
    classes: int
    smallest_class: int


@dataclass(frozen=True, eq=False)
class Union:
    """The classes of new records and of an earlier release as one table.

    `classes` are those of the new records, kept where the union may be released. `together` is what
    both releases have then, `demands` what the classes of new records reach in the union, and
    `smallest` is the smallest of these.
    """

    classes: Partition
    together: Together
    demands: tuple[Demand, ...]
    smallest: int

    def in_result(self, result: ShownResult) -> ShownResult:
        """A result that says of the demands what holds for the union."""
        return replace(result, privacy=self.demands, smallest_class=self.smallest, after=None)


def refuse_persons(definition: Definition) -> None:
    """Refuse demands that count persons: a release does not say whose its records are."""
    if definition.person:
        raise BadData(
            "whether a person is in both releases cannot be known, so persons of the two together"
            " cannot be counted",
            code="persons-together",
            hint="apply the transformation without the earlier release: then the new release meets"
            " the demands by itself",
        )


def refuse_same_data(source: Source, made_from: str | None) -> None:
    """Refuse the data that the transformation was made from: its release has the same records."""
    if made_from is not None and source.fingerprint() == made_from:
        raise BadData(
            f"{source.name} is the data that the transformation was made from: together with its"
            " release every record would count twice",
            code="same-records",
            hint="apply the transformation to new records, or without the earlier release",
        )


def check_release(definition: Definition, release: Source) -> None:
    """Refuse an earlier release with other columns than the new one will have."""
    released = set(definition.names("quasi-identifier", "sensitive", "keep"))
    columns = {column.name for column in release.columns()}
    if columns != released:
        raise BadData(
            f"{release.name} is no release of this transformation: look at the columns "
            f"{quoted(sorted(columns ^ released))}",
            code="other-columns",
            hint="give a release that was made with this transformation",
        )


@dataclass(frozen=True, eq=False)
class Recoded:
    """New records as they are recoded, before anything is suppressed for the union.

    `classes` are their classes, `labels` those of each tuple. A tuple that is not `covered` has no
    class in the release. `counted` has the records by labels and sensitive values.
    """

    classes: Partition
    labels: pa.Table
    covered: Bools
    counted: pa.Table


def recoded_at(prepared: Prepared, source: Source, node: Node) -> Recoded:
    """The new records at a node."""
    table = prepared.table
    return Recoded(
        prepared.problem.partition(node),
        pa.table(
            {
                attribute.name: attribute.labels(level).take(
                    pa.array(attribute.groups[level][codes])
                )
                for attribute, codes, level in zip(table.attributes, table.codes, node, strict=True)
            }
        ),
        np.ones(table.tuples, np.bool_),
        _counted(
            prepared,
            source,
            {
                attribute.name: generalization(attribute, level)
                for attribute, level in zip(table.attributes, node, strict=True)
            },
        ),
    )


def recoded_locally(prepared: Prepared, source: Source, recoding: Recoding) -> Recoded:
    """The new records in the classes that cover them."""
    table = prepared.table
    labels, covered = labels_in(table, recoding), recoding.class_of != SUPPRESSED
    counted = _counted(prepared, source, {})
    tuple_of = tuples_of(table, codes_in(table.attributes, counted))
    if (tuple_of < 0).any():
        raise source_changed(source.name)
    for attribute in table.attributes:
        index = counted.column_names.index(attribute.name)
        column = labels.column(attribute.name).take(pa.array(tuple_of))
        counted = counted.set_column(index, attribute.name, column)
    counted = counted.filter(pa.array(covered[tuple_of]))
    return Recoded(classes_of(prepared.problem, recoding), labels, covered, counted)


def unite(prepared: Prepared, new: Recoded, release: Source) -> Union:
    """Count the new records and the earlier release as one table, and judge its classes."""
    definition = _by_labels(prepared.definition)
    names = (*definition.quasi_identifiers, *definition.sensitive)
    old = _counted_old(prepared.definition, release, names)
    refuse_other_spellings(new.counted, old, definition.sensitive)
    columns = [*names, RECORDS]
    tables = (each.rename_columns(columns) for each in (new.counted, old))
    both = encode(definition, pa.concat_tables(tables))
    models = models_of(definition)
    union = partition(both, models, (0,) * len(both.attributes))
    class_of = dict(zip(_tuples(both), union.class_of.tolist(), strict=True))

    mine, covered = new.classes, new.covered
    rows = zip(*(column.to_pylist() for column in new.labels.columns), strict=True)
    of_tuple = np.array(
        [class_of[each] for each, is_in in zip(rows, covered, strict=True) if is_in],
        dtype=np.int64,
    )
    kept = np.zeros(len(mine.kept), dtype=np.bool_)
    kept[mine.class_of[covered]] = union.kept[of_tuple]
    weights = (prepared.table.weights * kept[mine.class_of])[covered]
    sizes = np.bincount(of_tuple, weights=weights, minlength=len(union.kept)).astype(np.int64)
    has_new = sizes > 0
    texts = [column.to_pylist() for column in old.columns]
    attributes = len(definition.quasi_identifiers)
    for *labels, records in zip(*texts[:attributes], texts[-1], strict=True):
        sizes[class_of[tuple(labels)]] += records
    there = sizes[sizes > 0]
    return Union(
        Partition(mine.class_of, mine.counts, kept),
        Together(int(there.sum()), len(there), int(there.min()) if len(there) else 0),
        demands_met(models, select(union.counts, has_new)),
        int(sizes[has_new].min()) if has_new.any() else 0,
    )


def _by_labels(definition: Definition) -> Definition:
    """The same demands on a table of labels: each quasi-identifier stays as it is."""
    as_it_is = {"hierarchy": Suppress(), "lowest": 0, "limit": 0, "information_loss": None}
    attributes = {
        name: attribute.model_copy(update=as_it_is)
        if attribute.role == "quasi-identifier"
        else attribute
        for name, attribute in definition.attributes.items()
    }
    missing = Missing(sensitive=definition.missing.sensitive)
    return definition.model_copy(update={"attributes": attributes, "missing": missing})


def _counted(
    prepared: Prepared, source: Source, generalized: Mapping[str, Generalization]
) -> pa.Table:
    """The new records by their quasi-identifiers, some generalized, and sensitive values."""
    definition = prepared.definition
    basic = definition.missing.match == "basic"
    return source.count_by(
        (*definition.quasi_identifiers, *definition.sensitive),
        definition.missing.values,
        generalized=generalized,
        complete=definition.quasi_identifiers if basic else (),
    )


def _counted_old(definition: Definition, release: Source, names: Sequence[str]) -> pa.Table:
    """The earlier release by the same columns, without records that it marks as suppressed.

    Texts that mean missing are missing in sensitive columns only: a label may have such a text.
    """
    counted = release.count_by(names)
    texts = pa.array(definition.missing.values, pa.string())
    for name in definition.sensitive:
        column = counted.column(name)
        known = pc.if_else(pc.is_in(column, texts), pa.scalar(None, pa.string()), column)
        counted = counted.set_column(counted.column_names.index(name), name, known)
    if definition.suppressed != "mark":
        return counted
    blank = pc.is_null(counted.column(0))
    for column in counted.columns[1:-1]:
        blank = pc.and_(blank, pc.is_null(column))
    return counted.filter(pc.invert(blank))


def _tuples(table: Table) -> list[tuple[str | None, ...]]:
    """The labels of each tuple of a table of labels."""
    columns = [
        attribute.labels(0).take(pa.array(codes)).to_pylist()
        for attribute, codes in zip(table.attributes, table.codes, strict=True)
    ]
    return list(zip(*columns, strict=True))


def refuse_other_spellings(new: pa.Table, old: pa.Table, sensitive: Sequence[str]) -> None:
    """Refuse sensitive values that both tables have, but write differently, such as 1 and 1.0.

    Counted as different values they would make classes look more diverse than they are.
    """
    for name in sensitive:
        spelling: dict[object, str] = {}
        for table in (new, old):
            for text in filter(None, pc.unique(table.column(name)).to_pylist()):
                if spelling.setdefault(_meaning(text), text) != text:
                    raise BadData(
                        f"{name!r} has a value that the new data and the earlier release write"
                        " differently",
                        code="other-spelling",
                        hint="give both tables the same types, as two CSV files or two Parquet"
                        " files have",
                    )


def _meaning(text: str) -> object:
    """What a value means, however it is written: its number, or its text without case."""
    is_text, number, _ = natural(text)
    return text.strip().casefold() if is_text else number


def judge_together(release: Source) -> Judge:
    """The verdict on what was written, together with an earlier release as it is stored."""

    def judge(
        prepared: Prepared,
        source: Source,
        written: Source,
        levels: Mapping[str, StatedLevels],
        assignment: Assignment | None,
    ) -> Verdict:
        alone = judge_alone(prepared, source, written, levels, assignment)
        names = [column.name for column in written.columns()]
        united = UnitedSource([_member(written, names), _member(release, names)], source.resources)
        definition = prepared.definition
        reference = {
            name: _added(
                _values(source, name, definition.missing.values),
                _values(release, name, definition.missing.values),
            )
            for name in definition.sensitive
        }
        both = verify(_without_hierarchies(definition), united, records=None, reference=reference)
        failing = [each.name for each in both.failures]
        if failing:
            raise _not_safe(failing)
        own = [each for each in alone.findings if each.name.startswith(OF_THE_NEW)]
        return replace(alone, findings=(*own, *both.findings))

    return judge


def _not_safe(failing: Sequence[str]) -> Infeasible:
    return Infeasible(
        "the new release and the earlier one together do not meet the demands; nothing was "
        f"released: {', '.join(failing)}",
        code="not-safe-together",
        hint="see that the earlier release meets the demands by itself (`shoal verify`); or apply"
        " the transformation without it",
    )


def _without_hierarchies(definition: Definition) -> Definition:
    """The definition for the union: levels were judged in the new release."""
    attributes = {
        name: attribute.model_copy(update={"hierarchy": None})
        if attribute.role == "quasi-identifier"
        else attribute
        for name, attribute in definition.attributes.items()
    }
    return definition.model_copy(update={"attributes": attributes})


def _member(source: Source, names: Sequence[str]) -> Member:
    is_text = {column.name: column.is_text for column in source.columns()}
    return Member(source, {name: name for name in names}, is_text)


def _values(source: Source, name: str, missing: Sequence[str]) -> Values:
    """The records of each value of a column, None for missing."""
    texts, numbers = (column.to_pylist() for column in source.count_by((name,), missing).columns)
    return dict(zip(texts, numbers, strict=True))


def _added(one: Values, other: Values) -> Values:
    total = Counter(one)
    total.update(other)
    return dict(total)

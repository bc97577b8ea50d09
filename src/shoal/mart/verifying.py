"""Is the written release of a mart safe? Judged source by source from what was written.

The verifier of single releases judges every source: exactly the declared columns, labels of the
stated levels, k persons in each class, and what is demanded of sensitive columns, with nothing left
to suppress. Where random ids were released, it is counted from the written ids that they tie no
person's rows together in a way that fewer than k persons share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.mart.passing import labelled, passing_rows
from shoal.values import Finding, Verdict
from shoal.verify.judge import verify
from shoal.verify.sources import generalizations, source_facts

if TYPE_CHECKING:
    from collections.abc import Collection

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.values import Bools, StatedLevels
    from shoal.verify.assignment import Assignment


@dataclass(frozen=True, eq=False)
class Claim:
    """What a release claims of one source: its definition, its levels, and the source's values.

    In local recoding the `assignment` has the labels of each released tuple.
    """

    name: str
    definition: Definition
    levels: Mapping[str, StatedLevels]
    values: Mapping[str, Collection[str]]
    assignment: Assignment | None = None

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return list(self.definition.quasi_identifiers)

    def labelled(self, values: pa.Table) -> tuple[pa.Table, Bools]:
        """The labels of rows with the quasi-identifiers, and which of them have labels."""
        if self.assignment is not None:
            return self.assignment.relabel(values.select(self.names))
        levels = {name: each for name, each in self.levels.items() if isinstance(each, int)}
        labels = generalizations(self.definition, levels, self.values)
        return labelled(values.select(self.names), labels), np.ones(len(values), np.bool_)


@dataclass(frozen=True)
class Claims:
    """What a release claims: its columns, rows and persons, and something of each source.

    `ids` is the column of random ids, if there is one. `tied` is the column of persons in the
    linked table, if kept columns can tie the rows of a person together. `removed` are rows of the
    linked table that are not in the release.
    """

    columns: tuple[str, ...]
    rows: int
    persons: int
    removed: int
    sources: tuple[Claim, ...]
    ids: str | None
    tied: str | None
    k: int


def judge(claims: Claims, linked: Source, written: Source) -> tuple[Finding, ...]:
    """Every finding about the written release, with the source that it is about."""
    findings = [*_shape(claims, written)]
    with ExitStack() as stack:
        passing = linked
        if claims.removed and claims.sources:
            names = [name for each in claims.sources for name in each.definition.counted]
            missing = claims.sources[0].definition.missing.values
            labellings = [(each.names, each.labelled) for each in claims.sources]
            passing = stack.enter_context(passing_rows(linked, written, labellings, names, missing))
        for each in claims.sources:
            findings += _of_source(claims, each, passing, written)
        if claims.ids is not None:
            findings.append(_number_of_ids(claims, claims.ids, written))
            findings += _tied(claims, claims.ids, written, has_values=False)
        if claims.tied is not None:
            findings += _tied(claims, claims.tied, passing, has_values=True)
    return tuple(findings)


def _shape(claims: Claims, written: Source) -> Iterator[Finding]:
    """The columns in their order, and the number of rows."""
    seen = tuple(column.name for column in written.columns())
    said = f"{len(seen):,} columns"
    yield Finding("columns", sorted(seen) == sorted(claims.columns), said)
    rows = int(written.count_by(()).column(0)[0].as_py())
    yield Finding("rows", rows == claims.rows, f"{rows:,} rows; {claims.rows:,} stated")


def _of_source(claims: Claims, claim: Claim, passing: Source, written: Source) -> Iterator[Finding]:
    """The findings of the verifier of single releases, with nothing left to suppress."""
    definition = claim.definition.model_copy(update={"suppression": 0})
    verdict: Verdict = verify(
        definition,
        written,
        levels=claim.levels,
        columns=claims.columns,
        values=claim.values,
        source=passing,
        assignment=claim.assignment,
        numbers={"records": claims.rows, "persons": claims.persons},
        **source_facts(definition, passing, claim.values),
    )
    for each in verdict.findings:
        yield replace(each, name=f"{claim.name}: {each.name}")


def _number_of_ids(claims: Claims, ids: str, written: Source) -> Finding:
    """As many ids as persons."""
    counted = written.count_by((ids,))
    fits = len(counted) == claims.persons and not counted.column(0).null_count
    return Finding("ids", fits, f"{len(counted):,} ids for {claims.persons:,} persons")


def _tied(claims: Claims, column: str, rows: Source, *, has_values: bool) -> Iterator[Finding]:
    """In each source the rows that a column ties together are, class by class, those of k others.

    The column has ids or persons. The rows have values, or labels.
    """
    for each in claims.sources:
        missing = each.definition.missing.values if has_values else ()
        counted = rows.count_by((column, *each.names), missing)
        if has_values:
            counted = _by_labels(each, counted)
        alone = _singled_out(counted, claims.k)
        saw = f"{alone:,} have rows that fewer than {claims.k} have"
        yield Finding(f"{each.name}: rows tied together", alone == 0, saw)


def _by_labels(claim: Claim, counted: pa.Table) -> pa.Table:
    """Rows that were counted by a first column and values, counted by that column and labels."""
    keys = [f"k{i}" for i in range(counted.num_columns - 1)]
    labels, known = claim.labelled(counted.rename_columns(["", *claim.names, "#rows"]))
    columns = [counted.column(0), *labels.columns, counted.column(counted.num_columns - 1)]
    table = pa.table(columns, names=[*keys, "n"]).filter(pa.array(known))
    return table.group_by(keys).aggregate([("n", "sum")]).select([*keys, "n_sum"])


def _singled_out(counted: pa.Table, k: int) -> int:
    """Of the values of the first column, those whose other cells fewer than k of them have."""
    rows: dict[str | None, list[tuple[object, ...]]] = {}
    for each, *cells in zip(*(column.to_pylist() for column in counted.columns), strict=True):
        rows.setdefault(each, []).append(tuple(cells))
    same = [frozenset(each) for each in rows.values()]
    number = Counter(same)
    return sum(number[each] < k for each in same)

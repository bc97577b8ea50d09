"""What the verifier counts in the source itself, to compare its release with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.base import Generalization

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.measure.classes import Values


class SourceFacts(TypedDict):
    """The records of a source, those that basic match removes first, and the blank ones.

    A blank record has no quasi-identifier and no sensitive value, so it looks like a marked one.
    `reference` has how often each value of a sensitive attribute occurs. `records` and `reference`
    are None when nothing is known.
    """

    records: int | None
    removed: int
    blank: int
    reference: Mapping[str, Values] | None


PRESENT, ABSENT = "present", "absent"

UNKNOWN: SourceFacts = {"records": None, "removed": 0, "blank": 0, "reference": None}


def source_facts(
    definition: Definition, source: Source, values: Mapping[str, Collection[str]]
) -> SourceFacts:
    """Count in the source what its release is compared with, and nothing more.

    `values` are the distinct values of each quasi-identifier. No query here returns more rows than
    a column has values, however many combinations the source has.
    """
    missing, names = definition.missing.values, definition.quasi_identifiers
    known = names if definition.missing.match == "basic" else ()
    reference = {
        name: _values(source.count_by((name,), missing, complete=known))
        for name in definition.sensitive
    }
    records = _records(source.count_by(()))
    removed = blank = 0
    if known:
        removed = records - _records(source.count_by((), missing, complete=known))
    elif definition.suppressed == "mark":
        blank = _blank(definition, source, values, reference)
    return {"records": records, "removed": removed, "blank": blank, "reference": reference}


def _records(counted: pa.Table) -> int:
    """The number that a count of no columns gives."""
    return int(counted.column(0)[0].as_py())


def _values(counted: pa.Table) -> Values:
    """The values of one column with their records, None for missing."""
    return dict(zip(*(column.to_pylist() for column in counted.columns), strict=True))


def _blank(
    definition: Definition,
    source: Source,
    values: Mapping[str, Collection[str]],
    reference: Mapping[str, Values],
) -> int:
    """Records without any quasi-identifier and sensitive value.

    Every column is generalized to `present` or `absent`. The texts that mean missing do so in
    quasi-identifiers alone: a sensitive value is released unchanged.
    """
    tokens = dict.fromkeys(definition.missing.values, ABSENT)
    there: dict[str, Generalization] = {}
    for name in definition.quasi_identifiers:
        presence = {**dict.fromkeys(values[name], PRESENT), **tokens}
        there[name] = Generalization(tuple(presence), tuple(presence.values()), ABSENT)
    for name in definition.sensitive:
        texts = tuple(dict.fromkeys((*filter(None, reference[name]), *tokens)))
        there[name] = Generalization(texts, (PRESENT,) * len(texts), ABSENT)
    counted = source.count_by(tuple(there), generalized=there)
    for name in there:
        # A column without any value is not generalized: all of it is absent.
        if there[name].values:
            counted = counted.filter(pc.equal(counted[name], ABSENT))
    return int(pc.sum(counted.column(counted.num_columns - 1)).as_py() or 0)

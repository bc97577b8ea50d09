"""What the verifier counts in the source itself, to hold its release against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from shoal.verify.recount import recount

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.verify.recount import Values


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


UNKNOWN: SourceFacts = {"records": None, "removed": 0, "blank": 0, "reference": None}


def source_facts(definition: Definition, source: Source) -> SourceFacts:
    """Count in the source what its release is held against, and no more than that needs."""
    basic = definition.missing.match == "basic"
    reference = {name: _reference(definition, source, name) for name in definition.sensitive}
    if not basic and definition.suppressed == "drop":
        records = recount(source, ()).records
        return {"records": records, "removed": 0, "blank": 0, "reference": reference}
    found = recount(
        source,
        definition.quasi_identifiers,
        sensitive=() if basic else definition.sensitive,
        mark=not basic,
        missing=definition.missing.values,
    )
    return {
        "records": found.records + found.marked,
        "removed": found.incomplete if basic else 0,
        "blank": found.marked,
        "reference": reference,
    }


def _reference(definition: Definition, source: Source, name: str) -> Values:
    """The values of an attribute in all records, under basic match in those that it keeps."""
    known = definition.quasi_identifiers if definition.missing.match == "basic" else ()
    counted = source.count_by((*known, name), definition.missing.values)
    for i in range(len(known)):
        counted = counted.filter(pc.is_valid(counted.column(i)))
    summed = pa.table([counted.column(len(known)), counted.column(len(known) + 1)], ["v", "n"])
    summed = summed.group_by("v").aggregate([("n", "sum")])
    return dict(
        zip(summed.column("v").to_pylist(), summed.column("n_sum").to_pylist(), strict=True)
    )

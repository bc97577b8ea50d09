"""Columns that a release of a mart has unchanged: what to warn of, and what to refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.cautions.examine import how_many, in_batches, not_comparable, not_examined
from shoal.cautions.kept import Hidden, examine_kept
from shoal.definition.model import Definition, Files
from shoal.errors import Infeasible
from shoal.mart.subrequests import demanded
from shoal.measure.classes import SIZE, ClassTable
from shoal.verify.demands import judge_demands

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.mart.releasing import Making
    from shoal.mart.subrequests import Resolved
    from shoal.measure.classes import Values
    from shoal.values import Caution, StatedLevels


def kept_cautions(making: Making) -> tuple[Caution, ...]:
    """What kept columns disclose of generalized ones, and whether they are nearly unique.

    Columns of an untransformed source are not examined: the catalog says why they are safe.
    """
    resolved, source = making.resolved, making.source
    missing = resolved.catalog.missing.values
    kept = [
        name
        for name, ref in resolved.columns.items()
        if not resolved.is_counted(name)
        and resolved.catalog.sources[ref.source].untransformed is None
    ]
    hidden = [
        Hidden.of(attribute, *levels)
        for each in making.found.found
        for attribute in each.at_levels.attributes
        if (levels := _levels_above(making.levels(each)[attribute.name]))
    ]
    most = how_many(resolved.columns)
    found: list[Caution] = []
    for once, names in in_batches(source, [each.name for each in hidden], kept[:most]):
        for name in names:
            column = examine_kept(once, name, hidden, missing, records=making.table.rows)
            found += [not_comparable(name, making.table.rows)] if column is None else column[1]
    return (*found, *not_examined(kept[most:]))


def _levels_above(levels: StatedLevels) -> list[int]:
    """The released levels above 0."""
    return [each for each in ([levels] if isinstance(levels, int) else levels) if each > 0]


def refuse_uniform(resolved: Resolved, source: Source, person: str) -> None:
    """Judge sensitive columns where no quasi-identifier is released.

    All rows are one class then: who knows that a person was selected knows that they are in it.
    Persons are counted, each once with each of their values.
    """
    sensitive = demanded(resolved)
    if resolved.quasi_identifiers or not sensitive:
        return
    whole = Definition(
        source=Files(path="linked"),
        k=resolved.k,
        missing=resolved.catalog.missing,
        attributes=sensitive,
    )
    values = {name: _persons_by_value(source, name, person) for name in sensitive}
    persons = len(source.count_by((person,)))
    table = pa.table({SIZE: pa.array([persons], pa.int64())})
    found = ClassTable((), table, values={name: [each] for name, each in values.items()})
    failing = [each for each in judge_demands(whole, found, values) if not each.holds]
    if failing:
        reasons = tuple(each.name for each in failing)
        raise Infeasible(
            "without quasi-identifiers all selected rows are one class, and it does not meet what "
            "is demanded; nothing was released" + "".join(f"\n  {each}" for each in reasons),
            code="infeasible",
            hint="select more records, or leave out the sensitive column",
            reasons=reasons,
        )


def _persons_by_value(source: Source, name: str, person: str) -> Values:
    """How many persons have each value of a column."""
    counts: dict[str | None, int] = {}
    for value in source.count_by((name, person)).column(0).to_pylist():
        counts[value] = counts.get(value, 0) + 1
    return counts

"""`shoal.risk`: the risk of a file or frame, or of the source and the release of a definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.analysis.attribute_disclosure import attribute_disclosure
from shoal.analysis.identifiers import identifiers
from shoal.analysis.mixed_release import MixedRelease
from shoal.analysis.released import find_release, open_release
from shoal.analysis.risk import (
    THRESHOLD,
    Demands,
    released_risk_by_persons,
    risk_by_persons,
    risk_of,
)
from shoal.analysis.risk_report import RiskReport
from shoal.calling.argument_types import names_of
from shoal.calling.opened import open_given
from shoal.calling.public import public
from shoal.cautions.examine import examine_release, examine_table
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions
from shoal.errors import BadData, BadDefinition, Mistake
from shoal.pipeline import load

if TYPE_CHECKING:
    from shoal.analysis.risk import Risk
    from shoal.calling.argument_types import DefinitionLike, Names, SourceLike, SparkSession
    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.engines.options import SourceOptions


@dataclass(frozen=True)
class Roles:
    """The columns to measure by, and which values are missing.

    `released` are the other columns that are released, None for all of them.
    """

    quasi_identifiers: tuple[str, ...]
    person: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    missing_as_value: bool = False
    released: tuple[str, ...] | None = None


@public("risk")
def risk(
    data: SourceLike | Definition,
    quasi_identifiers: Names = (),
    *,
    person: Names = (),
    sensitive: Names = (),
    missing_values: str | Iterable[str] = (),
    threshold: float = THRESHOLD,
    fraction: float | None = None,
    population: int | str | Path | None = None,
    largest_set: int = 2,
    key_distinction: float = 1.0,
    spark: SparkSession | None = None,
) -> RiskReport:
    """How likely people are recognised in a table.

    Args:
        data: With `quasi_identifiers`, records: a path, what a definition says of a source, or a
            frame. Without them a definition: its source is measured, and its release where that is
            there.
        quasi_identifiers: The columns that others may know.
        person: The columns that identify a person, who may have several records; as the next two,
            a definition has its own.
        sensitive: The columns that nobody may learn: classes that disclose them are counted.
        missing_values: Texts that mean missing, besides empty ones.
        threshold: A record with a risk above this is at risk.
        fraction: The share of the population that the table is, to estimate population uniques.
        population: The number of people in the population, or a file with all of them: then the
            journalist's risk is counted there.
        largest_set: Distinction and separation are measured for sets of up to so many columns.
        key_distinction: Minimal keys are sets of columns with at least this distinction.
        spark: The session for what is read in Spark, else one is made.

    Returns:
        The report: `before`, and `after` for a definition whose release is there.

    Example:
        >>> found = shoal.risk("patients.csv", ["birth", "sex", "zip"])
        >>> round(found.before.prosecutor.highest, 2)
        1.0
    """
    number = population if isinstance(population, int) else None
    demands = Demands(
        threshold=_share(threshold, "threshold"),
        fraction=None if fraction is None else _share(fraction, "fraction"),
        population=number,
        largest_set=largest_set,
        key_distinction=_share(key_distinction, "key_distinction"),
    )
    people = None if population is None or number is not None else FileOptions(str(population))
    quasi = tuple(names_of(quasi_identifiers))
    if not quasi and hasattr(data, "columns"):
        remedy = 'name what others may know: shoal.risk(frame, ["zip", "birth"])'
        raise BadDefinition("risk", [Mistake("quasi_identifiers", "are missing", remedy)])
    if not quasi:
        file = str(data) if isinstance(data, str | Path) else "definition"
        return _of_definition(load(cast("DefinitionLike", data)), demands, people, file, spark)
    roles = Roles(
        quasi,
        tuple(names_of(person)),
        tuple(names_of(sensitive)),
        tuple(names_of(missing_values)),
    )
    for name in roles.sensitive:
        if name in roles.quasi_identifiers:
            what, remedy = f"{name!r} is a quasi-identifier", "name other columns"
            raise BadDefinition("risk", [Mistake("sensitive", what, remedy)])
    names = (*roles.quasi_identifiers, *roles.person, *roles.sensitive)
    with closing(open_given(cast("SourceLike", data), names, spark=spark)) as source:
        return RiskReport(_measured(source, roles, demands, people))


def _share(value: float, name: str) -> float:
    if not 0 < value <= 1:
        what, remedy = f"{value:g} is no share", "give a number above 0 and at most 1"
        raise BadDefinition("risk", [Mistake(name, what, remedy)])
    return value


def _of_definition(
    definition: Definition, demands: Demands, people: SourceOptions | None, file: str, spark: Any
) -> RiskReport:
    """The source by its quasi-identifiers, and the release where it can be read."""
    roles = Roles(
        tuple(definition.quasi_identifiers),
        tuple(definition.person),
        tuple(definition.sensitive),
        tuple(definition.missing.values),
        definition.missing.sensitive == "value",
        None if definition.others == "keep" else tuple(definition.names("keep", "sensitive")),
    )
    options, expect = definition.source.options(), set(definition.attributes)
    with closing(open_source(options, expect, spark=spark)) as source:
        before = _measured(source, roles, demands, people)
    written = open_release(definition, spark=spark)
    if written is None:
        return RiskReport(before)
    size = None if before.population is None else before.population.size
    same = replace(demands, population=size, fraction=None)
    blank = definition.suppressed == "mark"
    with closing(written):
        after = risk_of(written, roles.quasi_identifiers, demands=same, without_blank=blank)
        after = _with_sensitive(after, written, roles, without_blank=blank)
    if roles.person or roles.released != ():
        after = _found_again(after, definition, file, spark)
    return RiskReport(before, after)


def _found_again(after: Risk, definition: Definition, file: str, spark: Any) -> Risk:
    """The release with what must be counted in its source: persons, and the warnings of the run.

    After local recoding persons cannot be counted: which records are in which class is not known.
    """
    try:
        with find_release(definition, file=file, spark=spark) as found:
            if isinstance(found, MixedRelease):
                persons, levels = None, [list(each) for each in found.records_at().values()]
            else:
                persons = released_risk_by_persons(found, after.threshold)
                levels = [[level] for level in found.node]
            filled = found.prepared.definition
            warnings = examine_release(filled, found.source, found.table, levels)
    except BadData as error:
        if error.code != "other-release":
            raise
        return replace(after, warnings=None)
    return replace(after, persons=persons, warnings=warnings)


def _measured(source: Source, roles: Roles, demands: Demands, people: SourceOptions | None) -> Risk:
    """The risk of a table, and what its columns look like."""
    names, missing = roles.quasi_identifiers, roles.missing
    if people is None:
        found = risk_of(source, names, missing, demands=demands)
    else:
        with closing(open_source(people, names)) as everybody:
            found = risk_of(source, names, missing, demands=demands, people=everybody)
    found = _with_sensitive(found, source, roles)
    if roles.person:
        persons = risk_by_persons(source, names, roles.person, missing, demands.threshold)
        found = replace(found, persons=persons)
    warnings = examine_table(source, names, missing, found.records, roles.person)
    return replace(
        found,
        identifiers=tuple(identifiers(_columns(source, missing))),
        warnings=tuple(
            each
            for each in warnings
            if roles.released is None or each.attribute is None or each.attribute in roles.released
        ),
    )


def _with_sensitive(
    found: Risk, source: Source, roles: Roles, *, without_blank: bool = False
) -> Risk:
    """The same with what classes disclose of each sensitive column."""
    disclosed = (
        attribute_disclosure(
            source,
            roles.quasi_identifiers,
            name,
            roles.missing,
            missing_as_value=roles.missing_as_value,
            without_blank=without_blank,
        )
        for name in roles.sensitive
    )
    return replace(found, sensitive=tuple(disclosed))


MOST_VALUES = 2_000
"""So many distinct values of a column are looked at to tell what it holds."""


def _columns(source: Source, missing: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each column with some of its distinct values."""
    for column in source.columns():
        counted = source.count_by([column.name], missing, at_most=MOST_VALUES)
        yield column.name, [text for text in counted.column(0).to_pylist() if text is not None]

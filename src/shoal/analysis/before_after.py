"""`shoal.risk`: the risk of a file or frame, or of the source and the release of a definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.analysis.identifiers import identifiers
from shoal.analysis.released import open_release
from shoal.analysis.risk import THRESHOLD, Demands, risk_of
from shoal.engines.base import FileOptions
from shoal.engines.frames.source import open_frame
from shoal.engines.opening import open_source
from shoal.errors import BadDefinition, Mistake
from shoal.pipeline import load

if TYPE_CHECKING:
    from shoal.analysis.population import Estimates
    from shoal.analysis.risk import Attacker, Risk
    from shoal.definition.model import Definition
    from shoal.engines.base import Source, SourceOptions


@dataclass(frozen=True)
class RiskReport:
    """The risk of a table, or of a source and its release; `after` is None where there is none."""

    before: Risk
    after: Risk | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal risk --json` writes them."""
        after = None if self.after is None else _plain(self.after)
        return {"before": _plain(self.before), "after": after}

    def rows(self) -> list[tuple[str, ...]]:
        """What was measured, line by line: the name, then before, then after."""
        measured = [dict(_facts(each)) for each in (self.before, self.after) if each is not None]
        return [(name, *(each.get(name, "") for each in measured)) for name in measured[0]]

    def reasons(self) -> list[str]:
        """Why estimates are not available, a line each."""
        population = self.before.population
        if population is None:
            return []
        named = _named(population.uniques)
        return [f"{name}: {each.reason}" for name, each in named if each.uniques is None]

    def __str__(self) -> str:
        return "\n".join("  ".join(row) for row in self.rows())


def risk(
    data: Any,
    quasi_identifiers: str | Sequence[str] = (),
    *,
    missing_values: str | Sequence[str] = (),
    threshold: float = THRESHOLD,
    fraction: float | None = None,
    population: int | str | Path | None = None,
    largest_set: int = 2,
    key_distinction: float = 1.0,
) -> RiskReport:
    """How likely people are recognised in a table.

    Args:
        data: With `quasi_identifiers`, a file (a path or glob) or a frame. Without them a
            definition: its source is measured, and its release where that is there.
        quasi_identifiers: The columns that others may know.
        missing_values: Texts that mean missing, besides empty ones; a definition has its own.
        threshold: A record with a risk above this is at risk.
        fraction: The share of the population that the table is, to estimate population uniques.
        population: The number of people in the population, or a file with all of them: then the
            journalist's risk is counted there.
        largest_set: Distinction and separation are measured for sets of up to so many columns.
        key_distinction: Minimal keys are sets of columns with at least this distinction.

    Returns:
        The report: `before`, and `after` for a definition whose release is there.
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
    if not quasi_identifiers:
        return _of_definition(load(data), demands, people)
    names = [quasi_identifiers] if isinstance(quasi_identifiers, str) else quasi_identifiers
    missing = [missing_values] if isinstance(missing_values, str) else missing_values
    path = isinstance(data, str | Path)
    source = open_source(FileOptions(str(data)), names) if path else open_frame(data)
    with closing(source):
        return RiskReport(_measured(source, names, missing, demands, people))


def _share(value: float, name: str) -> float:
    if not 0 < value <= 1:
        what, remedy = f"{value:g} is no share", "give a number above 0 and at most 1"
        raise BadDefinition("risk", [Mistake(name, what, remedy)])
    return value


def _of_definition(
    definition: Definition, demands: Demands, people: SourceOptions | None
) -> RiskReport:
    """The source by its quasi-identifiers, and the release where it can be read."""
    names, missing = definition.quasi_identifiers, definition.missing.values
    with closing(open_source(definition.source.options(), set(definition.attributes))) as source:
        before = _measured(source, names, missing, demands, people)
    written = open_release(definition)
    if written is None:
        return RiskReport(before)
    size = None if before.population is None else before.population.size
    same = replace(demands, population=size, fraction=None)
    with closing(written):
        after = risk_of(written, names, demands=same, without_blank=definition.suppressed == "mark")
    return RiskReport(before, after)


def _measured(
    source: Source,
    names: Sequence[str],
    missing: Sequence[str],
    demands: Demands,
    people: SourceOptions | None,
) -> Risk:
    """The risk of a table, and what its columns look like."""
    if people is None:
        found = risk_of(source, names, missing, demands=demands)
    else:
        with closing(open_source(people, names)) as everybody:
            found = risk_of(source, names, missing, demands=demands, people=everybody)
    return replace(found, identifiers=tuple(identifiers(_columns(source, missing))))


MOST_VALUES = 2_000
"""So many distinct values of a column are looked at to tell what it holds."""


def _columns(source: Source, missing: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each column with some of its distinct values."""
    for column in source.columns():
        counted = source.count_by([column.name], missing, at_most=MOST_VALUES)
        yield column.name, [text for text in counted.column(0).to_pylist() if text is not None]


def _plain(found: Risk) -> dict[str, Any]:
    """A risk as plain values: estimates as numbers, with the reason where there is none."""
    plain: dict[str, Any] = asdict(found)
    if found.population is not None:
        plain["population"] = {
            "size": found.population.size,
            "fraction": found.population.fraction,
            "uniques": {name: each.uniques for name, each in _named(found.population.uniques)},
            "not_available": {
                name: each.reason
                for name, each in _named(found.population.uniques)
                if each.uniques is None
            },
            "dankar_uses": found.population.uniques.dankar_uses,
        }
    return plain


def _named(estimates: Estimates) -> list[tuple[str, Any]]:
    return [(name, getattr(estimates, name)) for name in ("zayatz", "pitman", "snb", "dankar")]


def _facts(found: Risk) -> Iterator[tuple[str, str]]:
    """What was measured, as pairs to be shown."""
    yield "records", f"{found.records:,}"
    yield "classes", f"{found.classes:,}"
    yield "smallest class (k)", f"{found.smallest_class:,}"
    yield "average class", f"{found.average_class:,.1f}"
    yield "sample uniques", f"{found.sample_uniques:,} ({found.sample_uniques / found.records:.2%})"
    above = f"records with a risk above {found.threshold:.0%}"
    attackers: Mapping[str, Attacker] = {
        "prosecutor": found.prosecutor,
        "journalist": found.journalist,
    }
    for name, attacker in attackers.items():
        yield f"{name}: highest risk", f"{attacker.highest:.2%}"
        yield f"{name}: average risk", f"{attacker.average:.2%}"
        yield f"{name}: {above}", f"{attacker.records_above:.2%}"
    yield "marketer: share of records recognised", f"{found.marketer.average:.2%}"
    if found.population is not None:
        yield "people in the population", f"{found.population.size:,}"
        yield "share of them in the table", f"{found.population.fraction:.3%}"
        for name, each in _named(found.population.uniques):
            shown = "not available" if each.uniques is None else f"{each.uniques:,.1f}"
            yield f"population uniques by {name}", shown

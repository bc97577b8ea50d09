"""The risk before and after as people see it: sections, a data frame, a picture, plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.report.drawing import arrange
from shoal.report.pictures import bars
from shoal.report.sections import Section
from shoal.report.shown import Picture, Shown

if TYPE_CHECKING:
    from shoal.analysis.keys import Identifying
    from shoal.analysis.population import Estimates
    from shoal.analysis.risk import Attacker, Risk

MOST_SETS = 8
"""So many sets of columns are shown; JSON has them all."""

DISCLOSES = (
    "One value: all records of the class have it. Skewed: one value has at least 80% of them, and "
    "fewer in the whole table."
)


@dataclass(frozen=True, repr=False)
class RiskReport(Shown):
    """The risk of a table, or of a source and its release; `after` is None where there is none."""

    before: Risk
    after: Risk | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal risk --json` writes them."""
        after = None if self.after is None else _plain(self.after)
        return {"before": _plain(self.before), "after": after}

    def rows(self) -> list[tuple[str, ...]]:
        """What was measured, line by line: the name, then before, then after."""
        measured = [dict(_facts(each)) for each in self._tables]
        names = dict.fromkeys(name for each in measured for name in each)
        return [(name, *(each.get(name, "") for each in measured)) for name in names]

    def reasons(self) -> list[str]:
        """Why estimates are not available, a line each."""
        population = self.before.population
        if population is None:
            return []
        named = _named(population.uniques)
        return [f"{name}: {each.reason}" for name, each in named if each.uniques is None]

    def sections(self) -> Sequence[Section]:
        """The measures, sensitive attributes, warnings, then the columns that identify."""
        shown = self._measures(), self._sensitive(), *self._warnings(), *_columns(self.before)
        return [each for each in shown if each.lines or each.rows]

    def records(self) -> list[dict[str, Any]]:
        """A row for each measure, with its numbers before and after."""
        columns = {word: dict(_numbers(each)) for word, each in self._columns.items()}
        names = dict.fromkeys(name for each in columns.values() for name in each)
        return [
            {"measure": name, **{word: each.get(name) for word, each in columns.items()}}
            for name in names
        ]

    def plot(self) -> Picture:
        """The risks, and how many records have which risk, as a picture."""
        risks = {word: _shares(each) for word, each in self._columns.items()}
        ranges = {word: _ranges(each) for word, each in self._columns.items()}
        drawn = [bars("Risk of the records", risks), bars("Records by their risk", ranges)]
        return Picture(arrange(drawn, f"Risk of {self.before.name}", drawn[0].shows).svg)

    @property
    def _tables(self) -> list[Risk]:
        return [each for each in (self.before, self.after) if each is not None]

    @property
    def _columns(self) -> dict[str, Risk]:
        """The measured tables by what they are called."""
        if self.after is None:
            return {"measured": self.before}
        return {"before": self.before, "after": self.after}

    def _measures(self) -> Section:
        risks = {word: _shares(each) for word, each in self._columns.items()}
        heading = ("measure", *self._columns)
        return Section(
            f"Risk of {self.before.name}",
            tuple(f"Not available by {reason}." for reason in self.reasons()),
            heading,
            tuple(self.rows()),
            tuple(range(1, len(heading))),
            pictures=(bars("Risk of the records", risks),),
        )

    def _sensitive(self) -> Section:
        """What classes disclose of each sensitive attribute."""
        rows = [
            (
                each.attribute,
                word,
                f"{each.homogeneous_classes:,} of {each.classes:,}",
                f"{each.homogeneous_records:,}",
                f"{each.skewed_classes:,} of {each.classes:,}",
                f"{each.skewed_records:,}",
            )
            for word, table in self._columns.items()
            for each in table.sensitive
        ]
        return Section(
            "What classes disclose of sensitive attributes",
            (DISCLOSES,) if rows else (),
            ("attribute", "table", "one value", "records", "skewed", "records there"),
            tuple(sorted(rows, key=lambda row: row[0])),
            (2, 3, 4, 5),
        )

    def _warnings(self) -> Iterator[Section]:
        """What kept columns tell besides."""
        table = self.before if self.after is None else self.after
        if table.warnings is None:
            said = (
                "The release is not one of this source by this definition any more, so persons and "
                "kept columns were not counted for it."
            )
            yield Section("Warnings", (said,), kind="warning")
        elif self.after is not None and self.before.persons and self.after.persons is None:
            said = (
                "Persons were not counted for the release: with labels of several levels it does "
                "not say which record is in which class. The run counted and verified them: "
                "see `smallest_class_persons` of its result."
            )
            lines = (said, *(f"{each.text} [{each.code}]" for each in table.warnings))
            yield Section("Warnings", lines, kind="warning")
        elif table.warnings:
            lines = tuple(f"{each.text} [{each.code}]" for each in table.warnings)
            yield Section("Warnings", lines, kind="warning")


def _columns(found: Risk) -> Iterator[Section]:
    """The columns of the source that tell records apart, keys, and identifiers."""
    heading = ("columns", "distinction", "separation")
    rows = tuple(_row(each) for each in found.attributes[:MOST_SETS])
    title = "Columns that tell records apart (of the source)"
    yield Section(title, (), heading, rows, (1, 2))
    keys = found.keys
    what = f"Minimal keys: sets of columns with a distinction of at least {keys.least:.0%}"
    what = what if keys.complete else f"{what} (some of them)"
    yield Section(what, (), heading, tuple(_row(each) for each in keys.sets[:MOST_SETS]), (1, 2))
    named = tuple((each.column, each.kind, each.why) for each in found.identifiers)
    title = "Columns that look like identifiers of persons"
    yield Section(title, (), ("column", "kind", "because of"), named)


def _row(each: Identifying) -> tuple[str, ...]:
    return ", ".join(each.columns), f"{each.distinction:.4%}", f"{each.separation:.4%}"


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


def _shares(found: Risk) -> dict[str, float]:
    """The risks that a picture shows, each a share."""
    shares = {
        "highest risk of a record": found.prosecutor.highest or 0.0,
        "average risk of a record": found.prosecutor.average,
        f"records with a risk above {found.threshold:.0%}": found.prosecutor.records_above or 0.0,
        "records alone in their class": found.sample_uniques / found.records,
    }
    if found.persons is not None:
        shares["highest risk of a person"] = found.persons.highest
        shares["average risk of a person"] = found.persons.average
    return shares


def _ranges(found: Risk) -> dict[str, float]:
    """The share of the records in each range of risk."""
    return {
        f"above {each.low:.1%} up to {each.high:.1%}": each.records for each in found.distribution
    }


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
    if found.persons is not None:
        by = found.persons
        yield "persons", f"{by.persons:,}"
        yield "fewest persons in a class", f"{by.smallest_class:,}"
        yield "persons alone in a class", f"{by.alone:,} ({by.alone / by.persons:.2%})"
        yield "by persons: highest risk", f"{by.highest:.2%}"
        yield "by persons: average risk", f"{by.average:.2%}"
        yield f"by persons: {above}", f"{by.records_above:.2%}"
    if found.population is not None:
        yield "people in the population", f"{found.population.size:,}"
        yield "share of them in the table", f"{found.population.fraction:.3%}"
        for name, each in _named(found.population.uniques):
            shown = "not available" if each.uniques is None else f"{each.uniques:,.1f}"
            yield f"population uniques by {name}", shown


def _numbers(found: Risk) -> Iterator[tuple[str, float | None]]:
    """What was measured, as numbers."""
    yield "records", found.records
    yield "classes", found.classes
    yield "smallest class", found.smallest_class
    yield "sample uniques", found.sample_uniques
    for name in ("prosecutor", "journalist", "marketer"):
        attacker: Attacker = getattr(found, name)
        yield f"{name}: highest risk", attacker.highest
        yield f"{name}: average risk", attacker.average
        yield f"{name}: records above", attacker.records_above
    if found.persons is not None:
        yield "persons", found.persons.persons
        yield "by persons: highest risk", found.persons.highest
        yield "by persons: average risk", found.persons.average
        yield "by persons: records above", found.persons.records_above
    for each in found.sensitive:
        yield f"{each.attribute}: homogeneous classes", each.homogeneous_classes
        yield f"{each.attribute}: skewed classes", each.skewed_classes
    if found.population is not None:
        for name, estimate in _named(found.population.uniques):
            yield f"population uniques by {name}", estimate.uniques

"""What a request to a mart led to: as JSON for scripts, and as sections for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.engines.local_files import write_whole
from shoal.mart.recipe import JOINT
from shoal.mart.rows import single_rows, unique_before
from shoal.recoding.local.run import LocalSearch
from shoal.report.render import html_page, markdown
from shoal.report.result import finite, versions
from shoal.report.sections import Section
from shoal.report.shown import Shown

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.mart.anonymise import Anonymised, Found, Step
    from shoal.mart.overlap import Overlap
    from shoal.mart.recipe import Recipe
    from shoal.mart.releasing import Checked, Making
    from shoal.mart.subrequests import Limit
    from shoal.report.result import Stopwatch
    from shoal.values import Caution, StatedLevels

WITHSTANDS = {
    "source": (
        "Withstands a party, or an intruder, who holds one of the sources and the release: in each "
        "source every released row has at least {k} persons. It does not withstand somebody who "
        "knows columns of two sources; `scope: joint` does."
    ),
    "joint": (
        "Withstands somebody who knows the quasi-identifiers of all sources: every released row "
        "shares all of them with at least {k} persons."
    ),
}
"""Which adversary each scope withstands."""


@dataclass(frozen=True)
class SourceResult:
    """What was done to one source, or to all together with `scope: joint`.

    `loss`, `bound`, `gap` and `status` are those of the search, which might suppress `budget` rows.
    In local recoding `levels` has the released rows at each level, and the strategy is `local`.
    `classes_before` and `singles_before`, those of one person, are of the linked rows; `classes`
    and `smallest_class`, in persons, of the release. `steps` are those of the strategy
    priority-path.
    """

    columns: tuple[str, ...]
    limits: Mapping[str, Limit]
    levels: Mapping[str, StatedLevels]
    status: str
    strategy: str
    loss: float
    bound: float
    gap: float
    budget: int
    classes_before: int
    singles_before: int
    classes: int
    smallest_class: int
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, repr=False)
class MartResult(Shown):
    """A verified release of a mart, and what it rests on.

    `rows_unique_before` and `rows_unique` are the rows whose quasi-identifiers of all sources
    together only one person has, before and in the release. `digest` is that of the log's entry.
    """

    mart: str
    asker: str | None
    purpose: str | None
    select: tuple[str, ...]
    status: str
    scope: str
    k: int
    columns: tuple[str, ...]
    sources: Mapping[str, SourceResult]
    joined: tuple[str, ...]
    rows_selected: int
    persons_selected: int
    rows_released: int
    persons_released: int
    rows_suppressed: int
    rows_unique_before: int
    rows_unique: int
    withstands: str
    notes: tuple[str, ...]
    warnings: tuple[Caution, ...]
    overlaps: tuple[Overlap, ...]
    digest: str | None
    output: str | None
    output_sha256: str | None
    seconds: Mapping[str, float]
    versions: Mapping[str, str]
    verified: bool = True

    @property
    def levels(self) -> dict[str, StatedLevels]:
        """The level of each quasi-identifier; in local recoding the rows at each level."""
        return {name: n for each in self.sources.values() for name, n in each.levels.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal mart request --json` writes them."""
        overlaps = [each.to_dict() for each in self.overlaps]
        more = {"levels": self.levels, "overlaps": overlaps}
        plain: dict[str, Any] = finite({**asdict(self), **more})
        return plain

    def to_json(self) -> str:
        """The result as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each quasi-identifier."""
        return [
            {
                "source": source,
                "column": column,
                "level": _shown_level(level),
                "limit": each.limits[column].level if column in each.limits else None,
                "limited by": each.limits[column].reason if column in each.limits else None,
            }
            for source, each in self.sources.items()
            for column, level in each.levels.items()
        ]

    def sections(self) -> Sequence[Section]:
        """The verdict, numbers, what was done to each source, notes, and where the release is."""
        shown = (
            Section("", (self._verdict(),)),
            Section("What was asked", rows=tuple(self._asked())),
            Section("In numbers", rows=tuple(self._numbers())),
            *self._treated(),
            *self._steps(),
            Section("Notes", self.notes),
            Section("Warnings", tuple(each.text for each in self.warnings), kind="warning"),
            Section(
                "Overlaps with earlier releases", tuple(map(str, self.overlaps)), kind="warning"
            ),
            Section("Where it is", tuple(self._where())),
        )
        return [each for each in shown if each.lines or each.rows]

    def _verdict(self) -> str:
        return f"Released and verified. {self.withstands}"

    def _asked(self) -> Iterator[tuple[str, str]]:
        yield "asker", self.asker or "nobody is named"
        if self.purpose:
            yield "purpose", self.purpose
        yield "columns", ", ".join(self.columns)
        yield "conditions", "; ".join(self.select) or "none: all linked rows"
        yield "k", f"{self.k} persons in each class of {_shown_scope(self.scope)}"

    def _numbers(self) -> Iterator[tuple[str, str]]:
        yield "rows selected", f"{self.rows_selected:,} of {self.persons_selected:,} persons"
        yield "rows released", f"{self.rows_released:,} of {self.persons_released:,} persons"
        yield "rows suppressed", f"{self.rows_suppressed:,}"
        yield (
            "rows that all quasi-identifiers together make unique",
            f"{self.rows_unique:,} (before: {self.rows_unique_before:,})",
        )

    def _treated(self) -> Iterator[Section]:
        """The columns with their levels, then the sources with their classes."""
        if not self.sources:
            said = "No quasi-identifier was asked for, so nothing was generalized."
            yield Section("What was done to each column", (said,))
            return
        heading = ("source", "column", "level", "limit", "limited by")
        columns = tuple(
            (_shown_source(source), *("" if cell is None else str(cell) for cell in cells))
            for source, *cells in (each.values() for each in self.records())
        )
        yield Section("What was done to each column", (), heading, columns, (2, 3))
        rows = tuple(
            (
                _shown_source(name),
                f"{each.loss:.4f}",
                each.status,
                f"{each.budget:,}",
                f"{each.classes_before:,}",
                f"{each.classes:,}",
                f"{each.smallest_class:,}",
            )
            for name, each in self.sources.items()
        )
        names = ("source", "loss", "search", "might suppress", "classes before", "after", "persons")
        said = "The last column has the persons of the smallest class."
        yield Section("What was done to each source", (said,), names, rows, (1, 3, 4, 5, 6))

    def _steps(self) -> Iterator[Section]:
        """The path of each source, where it has one."""
        rows = []
        for source, each in self.sources.items():
            name = _shown_source(source)
            if each.steps:
                before = (f"{each.classes_before:,}", f"{each.singles_before:,}")
                rows.append((name, "as selected", "", *before))
            for step in each.steps:
                counts = (f"{step.classes:,}", f"{step.singles:,}")
                rows.append((name, step.column, str(step.level), *counts))
        heading = ("source", "raised", "to level", "classes", "of one person")
        if rows:
            yield Section("Steps of the path", (), heading, tuple(rows), (2, 3, 4))

    def _where(self) -> Iterator[str]:
        yield f"Output: {self.output or 'not published'}"
        if self.output_sha256 is not None:
            yield f"SHA-256 of the output: {self.output_sha256}"
        if self.digest is not None:
            yield f"Digest of the log entry: {self.digest}"


def _shown_level(level: StatedLevels) -> int | str:
    """A level, or those of a local recoding: `0 to 2`."""
    if isinstance(level, int):
        return level
    least, most = min(level), max(level)
    return least if least == most else f"{least} to {most}"


def _shown_source(name: str) -> str:
    """What people see of a source, or of all together."""
    return "all" if name == JOINT else name


def _shown_scope(scope: str) -> str:
    return "all sources together" if scope == "joint" else "each source"


def write_report(result: MartResult, path: Path) -> None:
    """Write a report in one step: JSON, Markdown, text or HTML by the ending of the path."""
    title = f"Release of the data mart {result.mart}"
    match path.suffix.lower():
        case ".json":
            text = result.to_json()
        case ".md":
            text = markdown(title, result.sections())
        case ".txt":
            text = f"{title}\n{'=' * len(title)}\n\n{result}\n"
        case _:
            made = f"Made by Shoal {result.versions['shoal']}. This page needs no network."
            text = html_page(title, result.sections(), footer=made)
    write_whole(text, path)


def build_result(making: Making, checked: Checked, watch: Stopwatch) -> MartResult:
    """What was done, before it is logged and published."""
    resolved, found, table = making.resolved, making.found, making.table
    proved = all(each.is_proved for each in found.found)
    return MartResult(
        mart=resolved.catalog.name,
        asker=resolved.request.asker,
        purpose=resolved.request.purpose,
        select=tuple(str(condition) for condition in resolved.request.select),
        status="optimal" if proved else "feasible",
        scope=resolved.request.scope,
        k=resolved.k,
        columns=making.columns,
        sources={each.name: _source_result(each, found) for each in found.found},
        joined=table.sources,
        rows_selected=table.rows,
        persons_selected=table.persons,
        rows_released=found.released.number,
        persons_released=found.released.persons,
        rows_suppressed=found.removed,
        rows_unique_before=_unique_before(making),
        rows_unique=found.released.unique() if resolved.quasi_identifiers else 0,
        withstands=WITHSTANDS[resolved.request.scope].format(k=resolved.k),
        notes=(*resolved.selection.notes, *resolved.without_effect()),
        warnings=checked.warnings,
        verified=True,
        overlaps=(),
        digest=None,
        output=None,
        output_sha256=checked.sha256,
        seconds=watch.seconds(),
        versions=versions(),
    )


def _unique_before(making: Making) -> int:
    """The selected rows whose quasi-identifiers of all sources together only one person has."""
    names, missing = making.resolved.quasi_identifiers, making.resolved.catalog.missing.values
    if not names:
        return 0
    if making.table.rows == making.table.persons:
        return single_rows(making.source, names, missing)
    return unique_before(making.source, names, making.table.person, missing)


def _source_result(found: Found, anonymised: Anonymised) -> SourceResult:
    subrequest = found.counted.subrequest
    _, classes = anonymised.released.classes(found.at_levels)
    local = found.at_levels.local
    before = found.step(found.counted.prepared.problem.lattice.bottom)
    return SourceResult(
        columns=subrequest.columns,
        limits=subrequest.limits,
        levels=found.levels(anonymised.released),
        status="optimal" if found.is_proved else "feasible",
        strategy=subrequest.definition.search.strategy if local is None else LocalSearch.name,
        loss=found.best.loss,
        bound=found.last.bound,
        gap=found.last.gap,
        budget=found.budget,
        classes_before=before.classes,
        singles_before=before.singles,
        classes=len(classes.kept),
        smallest_class=int(classes.counts.members[None].min()),
        steps=found.steps(),
    )


def entry_of(result: MartResult, recipe: Recipe) -> dict[str, Any]:
    """What the log keeps of a release."""
    names = (
        *("status", "rows_selected", "persons_selected", "rows_released", "persons_released"),
        *("rows_suppressed", "rows_unique"),
    )
    numbers = {name: getattr(result, name) for name in names}
    return {
        "recipe": recipe.to_json(),
        "result": {**numbers, "levels": _plain_levels(result)},
        "output_sha256": result.output_sha256,
    }


def _plain_levels(result: MartResult) -> dict[str, Any]:
    """The levels with texts as keys, as JSON has them: the log spells what it reads again."""
    return {
        name: level if isinstance(level, int) else {str(each): n for each, n in level.items()}
        for name, level in result.levels.items()
    }

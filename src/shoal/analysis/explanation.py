"""The value that `shoal.explain` gives, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.report.drawing import arrange
from shoal.report.pictures import bars
from shoal.report.result import finite
from shoal.report.sections import Section, count
from shoal.report.shown import Picture, Shown

if TYPE_CHECKING:
    from shoal.values import StatedLevels

COLUMNS = (
    "Saved: suppressed records that one level more of this column would keep, all else the same "
    "(<{k}: fewer than {k}). Others now, without it: what the other columns lose now, and at best "
    "if this one were no quasi-identifier."
)
LOCAL_COLUMNS = (
    "Others now, without it: what the other columns lose now, and in a local recoding that was "
    "found quickly as if this one were no quasi-identifier (?: another one may lose less)."
)
MOST_LABELS = 5
"""So many labels of a column are printed; JSON has them all."""


@dataclass(frozen=True)
class DemandRefusal:
    """A demand, and the suppressed classes and records that it refuses, alone or with others."""

    demand: str
    classes: int
    records: int


@dataclass(frozen=True)
class WithoutColumn:
    """The optimum if a column were no quasi-identifier.

    `others_now` is what the other columns lose in the explained node, `others_best` what they would
    lose at best; None where no node is safe even then. It is `proved` unless a time limit ended the
    search.
    """

    others_now: float | None
    others_best: float | None
    levels: Mapping[str, int] | None
    proved: bool


@dataclass(frozen=True)
class ColumnCost:
    """What a column costs at a node.

    `loss` is what its cells lost and `share` its part of the whole loss; both are None for a loss
    of classes. `saved` are the suppressed records that would be kept one level higher: None at the
    limit, and where they are fewer than k (`few_saved`). `without` is None where it cannot be told.
    A result of a run alone tells neither of both, nor the `limit`. In local recoding `records_at`
    has the released records at each level, `level` is the highest, and `saved` is not known.
    """

    column: str
    level: int
    height: int
    limit: int | None
    loss: float | None
    share: float | None
    saved: int | None = None
    few_saved: bool = False
    without: WithoutColumn | None = None
    records_at: Mapping[int, int] | None = None


@dataclass(frozen=True)
class LabelGroup:
    """The suppressed records with a label of the release, of all records with it."""

    column: str
    label: str | None
    suppressed: int
    records: int


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Why a definition releases what it does, or why it releases nothing (`reasons`, `remedies`).

    `levels` and `loss` are None where no node is safe. `notes` are further sentences. In local
    recoding `levels` has the released records at each level of each column.
    """

    source: str
    source_records: int
    k: int
    levels: Mapping[str, StatedLevels] | None
    loss: float | None
    loss_model: str
    suppressed: int | None
    limit: int
    demands: tuple[DemandRefusal, ...] = ()
    columns: tuple[ColumnCost, ...] = ()
    labels: tuple[LabelGroup, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:  # type: ignore[override]
        """Whether there is something to release; the card has that colour."""
        return self.levels is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal explain --json` writes them."""
        plain: dict[str, Any] = finite(asdict(self))
        return {"records" if key == "source_records" else key: each for key, each in plain.items()}

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each column."""
        return [
            {
                "column": each.column,
                "level": each.level,
                "loss": each.loss,
                "share": each.share,
                "saved": each.saved,
                "best_without": None if each.without is None else each.without.others_best,
            }
            for each in self.columns
        ]

    def sections(self) -> Sequence[Section]:
        """Why records are suppressed, by which column, and what each column costs."""
        return tuple(self._sections())

    def plot(self) -> Picture:
        """The part of each column in the loss, and what it lost itself, as a picture."""
        parts = {each.column: each.share for each in self.columns if each.share is not None}
        losses = {each.column: each.loss for each in self.columns if each.loss is not None}
        drawn = [
            bars("Part of the loss", {"part": parts}),
            bars("Loss of its own", {"loss": losses}),
        ]
        return Picture(arrange(drawn, f"Columns of {self.source}", drawn[0].shows).svg)

    def _sections(self) -> Iterator[Section]:
        if self.levels is None:
            yield Section("", self.reasons[:1])
            if self.reasons[1:]:
                yield Section("What stands in the way", self.reasons[1:])
            if self.remedies:
                rows = tuple((remedy,) for remedy in self.remedies)
                yield Section("What would be enough", ("Each of these by itself:",), rows=rows)
            return
        levels = ", ".join(f"{name}={level}" for name, level in self.levels.items())
        where = "by local recoding" if self._is_local else f"at {levels}"
        answer = (
            f"{self.suppressed or 0:,} of {count(self.source_records, 'record')} are suppressed "
            f"{where} (loss {self.loss or 0:.6f}, {self.loss_model}; {self.limit:,} allowed)."
        )
        yield Section("", (answer,))
        if self.demands:
            yield Section(
                "Which demand suppresses",
                (),
                ("demand", "classes", "records"),
                tuple((d.demand, f"{d.classes:,}", f"{d.records:,}") for d in self.demands),
                (1, 2),
            )
        yield from self._of_columns()
        if self.labels:
            yield self._of_labels()
        if self.notes:
            yield Section("What else is known", self.notes)

    @property
    def _is_local(self) -> bool:
        return any(each.records_at is not None for each in self.columns)

    def _of_columns(self) -> Iterator[Section]:
        if not self.columns:
            return
        yield from self._of_levels()
        title, rows = "What each column costs", [_column_row(x, self.k) for x in self.columns]
        heading = ("column", "level", "loss", "share", "saved", "others now", "without it")
        known = any(each.without is not None for each in self.columns)
        if self._is_local and known:
            chosen = tuple((*row[:4], *row[5:]) for row in rows)
            yield Section(
                title, (LOCAL_COLUMNS,), (*heading[:4], *heading[5:]), chosen, (2, 3, 4, 5)
            )
            return
        if self._is_local or all(each.limit is None for each in self.columns):
            few = tuple(row[:4] for row in rows)
            yield Section(title, (), heading[:4], few, (1, 2, 3))
            return
        meaning = COLUMNS.format(k=self.k)
        yield Section(title, (meaning,), heading, tuple(rows), (1, 2, 3, 4, 5, 6))

    def _of_levels(self) -> Iterator[Section]:
        """The records at each level, where a column has several."""
        if not self._is_local:
            return
        most = max(each.height for each in self.columns)
        rows = []
        for each in self.columns:
            at = each.records_at or {}
            cells = (f"{at.get(level, 0):,}" for level in range(each.height + 1))
            rows.append((each.column, *cells, *[""] * (most - each.height)))
        yield Section(
            "How many released records are at each level",
            (),
            ("column", *(f"level {level}" for level in range(most + 1))),
            tuple(rows),
            tuple(range(1, most + 2)),
        )

    def _of_labels(self) -> Section:
        rows = []
        for column in dict.fromkeys(each.column for each in self.labels):
            most = sorted(
                (each for each in self.labels if each.column == column),
                key=lambda each: -each.suppressed,
            )
            rows += [
                (
                    column,
                    "missing" if each.label is None else each.label,
                    f"{each.suppressed:,}",
                    f"{each.suppressed / each.records:.1%}",
                )
                for each in most[:MOST_LABELS]
            ]
        return Section(
            "Where suppressed records are",
            (f"Labels of the release that at least {self.k} suppressed records have.",),
            ("column", "label", "suppressed", "of the label"),
            tuple(rows),
            (2, 3),
        )


def _column_row(each: ColumnCost, k: int) -> tuple[str, ...]:
    saved = (
        f"<{k}" if each.few_saved else "at its limit" if each.saved is None else f"{each.saved:,}"
    )
    now = best = ""
    if each.without is not None:
        now = "" if each.without.others_now is None else f"{each.without.others_now:.4f}"
        best = "none safe"
        if each.without.others_best is not None:
            best = f"{each.without.others_best:.4f}{'' if each.without.proved else '?'}"
    lowest = each.level if each.records_at is None else min(each.records_at)
    levels = str(each.level) if lowest == each.level else f"{lowest} to {each.level}"
    return (
        each.column,
        f"{levels} of {each.height}",
        "" if each.loss is None else f"{each.loss:.1%}",
        "" if each.share is None else f"{each.share:.1%}",
        saved,
        now,
        best,
    )


def loss_shares(losses: Sequence[float], priorities: Sequence[float]) -> Iterator[float]:
    """The part of each attribute in the sum of losses times priorities."""
    weighted = [loss * priority for loss, priority in zip(losses, priorities, strict=True)]
    total = sum(weighted)
    return (each / total if total else 0.0 for each in weighted)

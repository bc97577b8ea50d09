"""`shoal.utility`: what a release is still good for, measured against its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.analysis.classifier import check_target, classify
from shoal.analysis.columns import compare_columns
from shoal.analysis.measures import LossOf, measures_of
from shoal.analysis.mixed_quality import NOT_KNOWN
from shoal.analysis.mixed_release import MixedRelease
from shoal.analysis.released import find_release
from shoal.calling.public import public
from shoal.pipeline import load
from shoal.report.drawing import arrange
from shoal.report.pictures import bars
from shoal.report.sections import Section, count, share
from shoal.report.shown import Picture, Shown
from shoal.steps.local_release import full_domain_only

if TYPE_CHECKING:
    from shoal.analysis.classifier import Classification
    from shoal.analysis.columns import Dependence
    from shoal.analysis.distributions import Distribution
    from shoal.analysis.quality import Quality
    from shoal.analysis.released import Measured
    from shoal.calling.argument_types import DefinitionLike, SparkSession
    from shoal.values import StatedLevels

MOST_LABELS = 8
"""So many labels of a column are drawn."""

MOST_PAIRS = 10
"""So many pairs of columns are printed; JSON has them all."""

MIXED = (
    "A column with labels of several levels is compared at the lowest level that half of its "
    "released records are at or below. The others have more general labels, and count as moved. "
    "What labels of several levels tell of each other is in part the choice of their levels."
)
PAIRS = "Cramer's V, corrected for chance, and mutual information in bits, before and after."


@dataclass(frozen=True, repr=False)
class UtilityReport(Shown):
    """What a release lost, by every loss and measure, column by column and pair by pair.

    `loss_model` is the loss that the definition minimises. `left_out` names the columns that were
    not compared, with the reason. `classification` is there where a target was named. After local
    recoding `levels` has the released records at each level, and `not_measured` names the losses
    and measures that cannot be known from such a release.
    """

    source: str
    release: str
    source_records: int
    removed: int
    suppressed: int
    levels: Mapping[str, StatedLevels]
    loss_model: str
    losses: tuple[LossOf, ...]
    qualities: tuple[Quality, ...]
    distributions: tuple[Distribution, ...]
    dependences: tuple[Dependence, ...]
    left_out: Mapping[str, str]
    classification: Classification | None = None
    not_measured: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal utility --json` writes them."""
        return {
            "source": self.source,
            "release": self.release,
            "records": self.source_records,
            "removed": self.removed,
            "suppressed": self.suppressed,
            "levels": dict(self.levels),
            "loss_model": self.loss_model,
            "losses": {
                each.name: {
                    "loss": each.loss,
                    "at_most": each.loss if each.at_most is None else each.at_most,
                    "attributes": dict(each.attributes),
                }
                for each in self.losses
            },
            "quality": {each.name: _plain_quality(each) for each in self.qualities},
            "distributions": [_plain_distribution(each) for each in self.distributions],
            "dependence": [{**asdict(each), "kept": each.kept} for each in self.dependences],
            "left_out": dict(self.left_out),
            "not_measured": list(self.not_measured),
            "classification": None if self.classification is None else asdict(self.classification),
        }

    def sections(self) -> Sequence[Section]:
        """What was lost in all, of each column, and of pairs of columns."""
        return tuple(self._sections())

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each column: its level, its losses, the distance of its distributions."""
        rows = []
        for each in self.distributions:
            row: dict[str, Any] = {"column": each.column, "level": each.level}
            for loss in self.losses:
                if loss.attributes:
                    row[loss.name] = loss.attributes.get(each.column)
            rows.append({**row, "distance": each.distance})
        return rows

    def plot(self) -> Picture:
        """The most frequent labels of each column, before and after, as a picture."""
        drawn = [bars(each.column, _most_frequent(each)) for each in self.distributions]
        said = "Share of the most frequent labels of each column, before and after."
        return Picture(arrange(drawn, f"Columns of {self.release}", said).svg)

    def _sections(self) -> Iterator[Section]:
        records, released = self.source_records, self.source_records - self.suppressed
        chosen = [each.shown(".6f") for each in self.losses if each.name == self.loss_model]
        loss = f", with a loss of {chosen[0]} ({self.loss_model})" if chosen else ""
        answer = (
            f"{released:,} of {count(records, 'record')} are released "
            f"({share(released, records)}){loss}."
        )
        yield Section("", (answer,))
        if self.classification is not None:
            yield _prediction(self.classification)
        yield _measures(self)
        yield _columns(self)
        yield from _pairs(self)
        if self.left_out:
            rows = tuple((name, why) for name, why in self.left_out.items())
            yield Section("Columns that were not compared", (), ("column", "because"), rows)
        if self.not_measured:
            said = f"{NOT_KNOWN} {', '.join(self.not_measured)}."
            yield Section("What was not measured", (said,))


@public("utility")
def utility(
    definition: DefinitionLike,
    target: str | None = None,
    *,
    spark: SparkSession | None = None,
) -> UtilityReport:
    """What the release of a definition is still good for.

    The source and the written release are counted where they are. A definition that was not
    released yet is an error that says so.

    Args:
        definition: A path, a mapping or a model.
        target: A released column that is to be predicted from the quasi-identifiers, by a
            classifier trained on the release and by one trained on the source.
        spark: The session for what the definition reads or writes in Spark, else one is made.

    Returns:
        The report: losses, quality measures, distributions and dependence before and after.

    Example:
        >>> measured = shoal.utility("patients.yaml")
        >>> measured.source_records
        2000
    """
    file = str(definition) if isinstance(definition, str | Path) else "definition"
    loaded = load(definition)
    if target is not None:
        check_target(loaded, target)
    with find_release(loaded, file=file, spark=spark) as measured:
        return _report(measured, target)


def _report(measured: Measured | MixedRelease, target: str | None) -> UtilityReport:
    table = measured.table
    if target is not None and isinstance(measured, MixedRelease):
        raise full_domain_only("a target to predict")
    columns = compare_columns(measured)
    return UtilityReport(
        source=measured.source.name,
        release=measured.release.name,
        source_records=table.records,
        removed=table.removed,
        suppressed=measured.suppressed,
        loss_model=measured.prepared.definition.loss.name,
        distributions=columns.distributions,
        dependences=columns.dependences,
        left_out=columns.left_out,
        classification=None if target is None else classify(cast("Measured", measured), target),
        **measures_of(measured),
    )


def _most_frequent(each: Distribution) -> dict[str, dict[str, float]]:
    """The shares of the most frequent labels before and after, as they are drawn."""
    pairs = zip(each.labels, each.before_shares(), each.after_shares(), strict=False)
    chosen = sorted(pairs, key=lambda pair: -pair[2])[:MOST_LABELS]
    names = ["missing" if label.label is None else label.label for label, _, _ in chosen]
    return {
        "before": {name: pair[1] for name, pair in zip(names, chosen, strict=True)},
        "after": {name: pair[2] for name, pair in zip(names, chosen, strict=True)},
    }


def _prediction(found: Classification) -> Section:
    """The three accuracies side by side."""
    used = f"{found.records:,} records"
    if found.records < found.available:
        used = f"a random sample of {found.records:,} of {found.available:,} records"
    how = (
        f"Share of right predictions from {', '.join(found.features)} by logistic regression, "
        f"on average over {len(found.baseline.folds)} folds of {used}."
    )
    accuracies = {
        "trained on the source": found.original,
        "trained on the release": found.release,
        "always the most frequent value": found.baseline,
    }
    rows = tuple(
        (name, f"{each.mean:.2%}", f"{min(each.folds):.2%}", f"{max(each.folds):.2%}")
        for name, each in accuracies.items()
    )
    heading = ("", "accuracy", "worst fold", "best fold")
    return Section(f"How well {found.target} is predicted", (how,), heading, rows, (1, 2, 3))


def _measures(report: UtilityReport) -> Section:
    """Every measure of the whole release in a line."""
    losses = [(f"{each.name} loss", each.shown(".6g"), "") for each in report.losses]
    measures = [
        (each.name.replace("_", " "), "", f"{each.quality:.4f}") for each in report.qualities
    ]
    return Section(
        "What was lost in all",
        ("A loss is better the smaller it is; a quality is 1 at best and 0 at worst.",),
        ("measure", "loss", "quality"),
        (*losses, *measures),
        (1, 2),
    )


def _columns(report: UtilityReport) -> Section:
    """Each column in a line: its losses, and how far its distribution moved."""
    losses = [each for each in report.losses if each.attributes]
    rows = []
    for each in report.distributions:
        of_losses = [
            f"{loss.attributes[each.column]:.1%}" if each.column in loss.attributes else ""
            for loss in losses
        ]
        rows.append((each.column, _level(report, each), *of_losses, f"{each.distance:.2%}"))
    heading = ("column", "level", *(loss.name for loss in losses), "moved")
    meaning = (
        "Moved: the share of records that would have to change their label so that the release "
        "had the distribution of the source (total variation distance)."
    )
    mixed = any(isinstance(each, Mapping) for each in report.levels.values())
    return Section(
        "What each column lost",
        (meaning, MIXED) if mixed else (meaning,),
        heading,
        tuple(rows),
        tuple(range(1, len(heading))),
    )


def _level(report: UtilityReport, each: Distribution) -> str:
    """The level of a column as people read it; the lowest and the highest of several."""
    if each.level is None:
        return "as it is"
    levels = report.levels[each.column]
    if isinstance(levels, Mapping) and len(levels) > 1:
        return f"{min(levels)}-{max(levels)} at {each.level}"
    return str(each.level)


def _pairs(report: UtilityReport) -> Iterator[Section]:
    """The pairs of columns that depend most on each other, and what is left of that."""
    strongest = sorted(report.dependences, key=lambda each: -each.before.corrected_v)
    if not strongest:
        return
    rows = tuple(
        (
            " and ".join(each.columns),
            f"{each.before.corrected_v:.3f}",
            f"{each.after.corrected_v:.3f}",
            f"{each.before.mutual_information:.3f}",
            f"{each.after.mutual_information:.3f}",
        )
        for each in strongest[:MOST_PAIRS]
    )
    more = (
        "" if len(strongest) <= MOST_PAIRS else f" The strongest {MOST_PAIRS} of {len(strongest)}."
    )
    yield Section(
        "What columns tell of each other",
        (f"{PAIRS}{more}",),
        ("columns", "V", "V after", "bits", "bits after"),
        rows,
        (1, 2, 3, 4),
    )


def _plain_quality(each: Quality) -> dict[str, Any]:
    plain: dict[str, Any] = {"quality": each.quality}
    if each.table is not None:
        plain |= asdict(each.table)
    if each.attributes:
        plain["attributes"] = {
            name: {"quality": one.quality, **asdict(one)} for name, one in each.attributes.items()
        }
        plain["aggregates"] = dict(each.aggregates)
    return plain


def _plain_distribution(each: Distribution) -> dict[str, Any]:
    labels = [
        {**asdict(one), "before": before, "exact": one.before is not None}
        for one, before in zip(each.entries, each.befores, strict=True)
    ]
    others = None if each.others is None else labels.pop()
    return {
        "column": each.column,
        "level": each.level,
        "distance": each.distance,
        "labels": labels,
        "others": others,
        "more_general": each.more_general,
    }

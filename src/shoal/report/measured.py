"""The measured sections of a report, each as pictures and as a table with the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.report import pictures
from shoal.report.sections import Section, count, share, treatments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.values import Exposure, Result, Treatment


LEVELS = (
    "Each column is released at one level of its hierarchy, the framed one. An example is only "
    "shown where enough released records have it."
)
LOCAL_LEVELS = (
    "Every class has its own levels, so a column holds labels of several levels. A bar is the "
    "share of the released records that have the column at that level, with a label of it beside."
)
CLASSES = (
    "A class is the set of all records with the same quasi-identifiers. The risk of a record is "
    "the chance of somebody who knows the quasi-identifiers of a person to pick that person's "
    "record:"
)
SHARES = (
    "The share of the records that have each label of the released level: before among the records "
    "of the source, after among the released ones."
)


LOCAL_SHARES = (
    "The most frequent labels of each column as they are released. Where a column has labels of "
    "several levels, one may lie within another, so they are not compared with the source."
)


def loss_section(result: Result, lines: tuple[str, ...]) -> Section:
    """What was lost, with what each column lost of it."""
    return Section("What was lost", lines, pictures=(pictures.losses(result.treatments),))


def level_sections(result: Result) -> Iterator[Section]:
    """What was done to each attribute, then the levels of each with the released one marked."""
    yield replace(treatments(result), bars=())
    if result.recoding == "local":
        yield _mixed_levels(result)
        return
    treated = result.treatments.items()
    yield Section(
        "The levels that were chosen",
        (LEVELS,),
        ("attribute", "level", "example", "labels in the source"),
        tuple(
            (
                name,
                f"{level.level}{' (released)' if level.level == each.level else ''}",
                "not shown: too rare" if level.example is None else level.example,
                f"{level.labels:,}",
            )
            for name, each in treated
            for level in reversed(each.levels)
        ),
        (3,),
        pictures=tuple(pictures.ladder(name, each) for name, each in treated),
        folded=True,
    )


def _mixed_levels(result: Result) -> Section:
    """How many records have each level of each attribute."""
    released = result.records - result.removed - result.suppressed
    rows = []
    for name, each in result.treatments.items():
        for level in reversed(each.levels):
            records = (each.records_at or {}).get(level.level, 0)
            example = pictures.level_example(each, level)
            numbers = (f"{records:,}", share(records, released), f"{level.labels:,}")
            rows.append((name, str(level.level), example, *numbers))
    return Section(
        "The levels of each column",
        (LOCAL_LEVELS,),
        ("attribute", "level", "example", "records", "share", "labels in the source"),
        tuple(rows),
        (1, 3, 4, 5),
        pictures=tuple(pictures.levels(name, each) for name, each in result.treatments.items()),
        folded=True,
    )


def risk_section(result: Result) -> Iterator[Section]:
    """How easily people are recognised before and after."""
    before, after = result.before, result.after
    if after is None:
        return
    unit = "persons" if result.smallest_class_persons is not None else "records"
    lines = [f"{CLASSES} 1 divided by the {unit} in its class."]
    if before is None:
        lines.append("The source has too many different combinations to measure its own risk.")
    columns = [each for each in (before, after) if each is not None]
    yield Section(
        "Risk before and after",
        tuple(lines),
        ("measure", "after") if before is None else ("measure", "before", "after"),
        tuple(
            (name, *(values[name] for values in map(_exposure, columns)))
            for name in _exposure(after)
        ),
        (1, 2),
        pictures=(pictures.risk(before, after),),
    )


def _exposure(each: Exposure) -> dict[str, str]:
    return {
        "records": f"{each.records:,}",
        "classes": f"{each.classes:,}",
        "smallest class": f"{each.smallest_class:,}",
        "highest risk of a record": f"{each.highest:.2%}",
        "average risk of a record": f"{each.average:.2%}",
        "records alone in their class": f"{each.alone:,} ({share(each.alone, each.records)})",
        "records in classes below k": f"{each.below_k:,} ({share(each.below_k, each.records)})",
    }


def class_section(result: Result) -> Section:
    """The classes of the release by their size."""
    if not result.class_sizes:
        return Section("Classes")
    released = sum(each.records for each in result.class_sizes)
    said = (
        f"{count(result.classes, 'class', 'classes')} (partitions) with "
        f"{count(released, 'released record')}; the smallest has {result.smallest_class:,}, "
        f"on average they have {released / result.classes:,.1f}."
    )
    drawn = () if result.after is None else (pictures.class_sizes(result.before, result.after),)
    return Section(
        "Classes",
        (said,),
        ("records in a class", "classes", "records", "share of the records"),
        tuple(
            (
                f"{each.least:,} to {each.most:,}" if each.most > each.least else f"{each.least:,}",
                f"{each.classes:,}",
                f"{each.records:,}",
                share(each.records, released),
            )
            for each in result.class_sizes
        ),
        (1, 2, 3),
        tuple(each.records / released for each in result.class_sizes),
        pictures=drawn,
    )


def distribution_section(result: Result) -> Section:
    """How often each label occurs before and after."""
    treated = {name: each for name, each in result.treatments.items() if each.labels}
    known = all(each.before is not None for t in treated.values() for each in t.labels)
    if any(len(each.records_at or ()) > 1 for each in treated.values()):
        return _distributions("Labels of the release", treated, (LOCAL_SHARES,))
    if not known:
        said = "Only the release is counted: the source would tell of the few who were left out."
    elif result.suppressed:
        said = (
            "A difference is due to records left out. Labels that lost only a few of them are "
            "counted with all others, so that no count tells of a few persons."
        )
    else:
        said = "No record was left out, so shares are the same before and after."
    return _distributions("Distributions before and after", treated, (f"{SHARES} {said}",))


def _distributions(title: str, treated: Mapping[str, Treatment], lines: tuple[str, ...]) -> Section:
    """The most frequent labels of each attribute, with their records."""
    return Section(
        title,
        lines,
        ("attribute", "label", "before", "after"),
        tuple(
            (
                name,
                "all other labels" if each.label is None else each.label,
                "not shown" if each.before is None else f"{each.before:,}",
                f"{each.after:,}",
            )
            for name, treatment in treated.items()
            for each in treatment.labels
        ),
        (2, 3),
        pictures=tuple(pictures.shares(name, each) for name, each in treated.items()),
        folded=True,
    )


def with_progress(section: Section, result: Result) -> Section:
    """How it was found, with the best loss and the bound over time."""
    drawn = pictures.progress(result.progress, result.seconds.get("search", 0.0))
    if drawn is None:
        return section
    said = (
        "The search finds better and better recodings, and raises what no recoding can stay below. "
        "Where the two lines meet, the best is proved."
    )
    return replace(section, lines=(said,), pictures=(drawn,))

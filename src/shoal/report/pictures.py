"""The pictures of a run, drawn from its result alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shoal.report.drawing import WIDTH, Drawing, Line, box, chart, colour, line, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shoal.values import Exposure, LabelCount, Level, Moment, Result, Sizes, Treatment

BAR = 11
SHARE_WIDTH = 52


def percent(share: float) -> str:
    """A share as text; never 0% for something."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def risk(before: Exposure | None, after: Exposure) -> Drawing:
    """Highest and average risk, and the records that are easy to recognise, as pairs of bars."""
    then = {} if before is None else {"before": risks(before)}
    return bars("Risk of the records", {**then, "after": risks(after)})


def bars(title: str, columns: Mapping[str, Mapping[str, float]]) -> Drawing:
    """Shares of the same names from several tables: a bar for each table under each name.

    `columns` are called before and after, or anything else where there is only one.
    """
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    marks, y = [], 0.0
    for name in names:
        marks.append(text(0, y + 12, name, bold=True))
        y += 18
        for word, shares in columns.items():
            if name in shares:
                marks.append(_bar(y, word, shares[name]))
                y += 17
        y += 9
    shows = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{percent(each[name])} {word}" for word, each in columns.items() if name in each
        )
        for name in names
    )
    return Drawing(title, f"{shows}.", "".join(marks), y)


def risks(exposure: Exposure) -> dict[str, float]:
    """The risks of a table, each a share."""
    return {
        "highest risk of a record": exposure.highest,
        "average risk of a record": exposure.average,
        "records alone in their class": exposure.alone / exposure.records,
        "records in classes below k": exposure.below_k / exposure.records,
    }


def _bar(y: float, word: str, share: float) -> str:
    """A word, a bar of its colour on a track, and the share."""
    left, width = 58, WIDTH - 58 - SHARE_WIDTH
    tone = word if word == "before" else "after"
    return (
        text(0, y + 10, word, tone="soft")
        + box(left, y + 1, width, BAR, "line")
        + box(left, y + 1, width * min(share, 1), BAR, tone)
        + text(WIDTH, y + 10, percent(share), anchor="end", width=SHARE_WIDTH)
    )


def class_sizes(before: Exposure | None, after: Exposure) -> Drawing:
    """The share of records in classes of each size, before and after; sizes on a log scale."""
    top, height, left = 30, 150, 40
    groups = [each for each in (before, after) if each is not None]
    last = max(each.most for group in groups for each in group.sizes) + 1
    reach = math.log10(max(last, 10))
    most = max(each.records / group.records for group in groups for each in group.sizes)

    def x(size: float) -> float:
        return left + math.log10(size) / reach * (WIDTH - left - 8)

    marks = [*_legend([("before", "before"), ("after", "after")][2 - len(groups) :])]
    for share in (0.0, most / 2, most):
        y = top + height * (1 - share / most)
        marks.append(line(f"M{left} {y:.1f}H{WIDTH}", "line"))
        marks.append(text(left - 6, y + 4, f"{share:.0%}", anchor="end", tone="soft", width=left))
    for group, tone in zip(reversed(groups), ("after", "before"), strict=False):
        opaque = "" if tone == "after" else 'fill-opacity=".55"'
        for each in group.sizes:
            high = height * each.records / group.records / most
            wide = x(each.most + 1) - x(each.least) - 1
            marks.append(box(x(each.least), top + height - high, wide, high, tone, opaque))
    for power in range(math.floor(reach) + 1):
        at = x(10**power)
        anchor = "start" if power == 0 else "end" if at > WIDTH - 30 else "middle"
        marks.append(line(f"M{at:.1f} {top + height}v5", "soft"))
        label = f"{10**power:,}"
        marks.append(text(at, top + height + 18, label, anchor=anchor, tone="soft"))
    middle = left + (WIDTH - left) / 2
    marks.append(
        text(middle, top + height + 36, "records in a class", anchor="middle", tone="soft")
    )
    shows = (
        f"After, classes have {_range(after.sizes)} records"
        f"{'' if before is None else f', before {_range(before.sizes)}'}. "
        "The height is the share of all records."
    )
    return Drawing("Sizes of classes", shows, "".join(marks), top + height + 42)


def _range(sizes: Sequence[Sizes]) -> str:
    return f"{sizes[0].least:,} to {sizes[-1].most:,}" if sizes else "no"


def losses(treatments: Mapping[str, Treatment]) -> Drawing:
    """What each column lost; the part that the records left out lost is set off."""
    divided = any(each.left_out for each in treatments.values())
    words = [("by recoding", "after"), ("with the records left out", "out")]
    marks, y = [*_legend(words)] if divided else [], 30.0 if divided else 0.0
    for name, each in treatments.items():
        width, whole = WIDTH - SHARE_WIDTH, min(max(each.loss, 0.0), 1.0)
        out = min(each.left_out, whole)
        marks.append(text(0, y + 12, name, width=width))
        marks.append(text(WIDTH, y + 27, percent(each.loss), anchor="end", width=SHARE_WIDTH))
        marks.append(box(0, y + 18, width, BAR, "line"))
        marks.append(box(0, y + 18, width * (whole - out), BAR, "after"))
        marks.append(box(width * (whole - out), y + 18, width * out, BAR, "out"))
        y += 38
    shows = "; ".join(f"{name} {percent(each.loss)}" for name, each in treatments.items())
    return Drawing("Loss of each column", f"{shows}.", "".join(marks), y)


def ladder(name: str, treatment: Treatment) -> Drawing:
    """The levels of a column, the most general on top, each with an example; one is released."""
    marks, y, step = [], 0.0, 30
    for each in reversed(treatment.levels):
        released = each.level == treatment.level
        edge = f'rx="4" stroke="{colour("best" if released else "line")}" '
        edge += f'stroke-width="{2.5 if released else 1}"'
        marks.append(box(2, y + 2, WIDTH - 4, step - 5, "panel", edge))
        marks.append(text(12, y + 19, str(each.level), tone="soft", bold=released))
        example = "not shown: too rare" if each.example is None else each.example
        tone = "soft" if each.example is None else "ink"
        width = WIDTH - 34 - (166 if released else 96)
        marks.append(text(34, y + 19, example, tone=tone, bold=released, width=width))
        count = f"{each.labels:,} {'label' if each.labels == 1 else 'labels'}"
        said = f"released · {count}" if released else count
        marks.append(text(WIDTH - 12, y + 19, said, anchor="end", tone="soft", bold=released))
        y += step
    shows = (
        f"{name} is released at level {treatment.shown_level}, "
        f"where values look like: {treatment.levels[treatment.level].example}."
    )
    return Drawing(name, shows, "".join(marks), y + 2)


def levels(name: str, treatment: Treatment) -> Drawing:
    """The share of the released records at each level of a column, the most general on top.

    Local recoding mixes levels in a column. The example beside a level is a label of that level.
    """
    at = treatment.records_at or {treatment.level: 1}
    released, width = sum(at.values()), WIDTH - SHARE_WIDTH - 18
    marks, y = [], 0.0
    for each in reversed(treatment.levels):
        share = at.get(each.level, 0) / released
        tone = "ink" if share else "soft"
        marks.append(text(0, y + 12, str(each.level), tone="soft", bold=bool(share)))
        marks.append(text(18, y + 12, level_example(treatment, each), tone=tone, width=width))
        marks.append(box(18, y + 17, width, BAR, "line"))
        marks.append(box(18, y + 17, width * share, BAR, "after"))
        marks.append(text(WIDTH, y + 27, percent(share), anchor="end", width=SHARE_WIDTH))
        y += 36
    said = (f"{percent(n / released)} at level {level}" for level, n in at.items())
    return Drawing(name, f"Of the released records {', '.join(said)}.", "".join(marks), y)


def level_example(treatment: Treatment, level: Level) -> str:
    """A label of a level where levels are mixed, or why there is none."""
    if treatment.records_at is None or treatment.records_at.get(level.level):
        return "not shown: too rare" if level.example is None else level.example
    return "no record at this level"


def shares(name: str, treatment: Treatment) -> Drawing:
    """The most frequent labels of the release, as shares of the records before and after."""
    labels = treatment.labels
    known = all(each.before is not None for each in labels)
    after = sum(each.after for each in labels)
    before = sum(each.before or 0 for each in labels)
    words = [("before", "before"), ("after", "after")] if known else [("after", "after")]
    marks, y = [*_legend(words)], 28.0
    for each in labels:
        label = "all other labels" if each.label is None else each.label
        pair = [(each.after / after if after else 0.0, "after")]
        if known and each.before is not None:
            pair.insert(0, (each.before / before if before else 0.0, "before"))
        width = WIDTH - SHARE_WIDTH
        tone = "soft" if each.label is None else "ink"
        marks.append(text(0, y + 12, label, tone=tone, width=width))
        y += 17
        for share, tone in pair:
            marks.append(box(0, y, width, 9, "line"))
            marks.append(box(0, y, width * share, 9, tone))
            marks.append(text(WIDTH, y + 9, percent(share), anchor="end", size=11))
            y += 13
        y += 8
    return Drawing(name, f"{_said(labels, before, after)}.", "".join(marks), y)


def _said(labels: Iterable[LabelCount], before: int, after: int) -> str:
    """The shares as a sentence."""
    return "; ".join(
        f"{'all other labels' if each.label is None else each.label}: "
        f"{'' if each.before is None else f'{percent(each.before / max(before, 1))} before, '}"
        f"{percent(each.after / max(after, 1))} after"
        for each in labels
    )


def progress(moments: Sequence[Moment], seconds: float) -> Drawing | None:
    """The best loss and the bound over time; None where nothing was found."""
    found = [(each.seconds, each.best) for each in moments if each.best is not None]
    bounds = [(each.seconds, each.bound) for each in moments if math.isfinite(each.bound)]
    if not found:
        return None
    end = max(seconds, moments[-1].seconds)
    best = Line("best found", tuple((at, loss) for at, loss in found), end)
    lines = [best, Line("no recoding can lose less", tuple(bounds), end)] if bounds else [best]
    shows = (
        f"The first solution lost {found[0][1]:.4f}, the last {found[-1][1]:.4f}. "
        f"The search took {end:.3g} seconds."
    )
    return chart(lines, "Search progress", shows)


def of_result(result: Result) -> list[Drawing]:
    """The pictures that say most of a release: risk, class sizes, loss of each column, progress."""
    drawings = [losses(result.treatments)] if result.treatments else []
    if result.after is not None:
        drawings = [
            risk(result.before, result.after),
            class_sizes(result.before, result.after),
            *drawings,
        ]
    if result.recoding == "local":
        drawings += [levels(f"Levels of {name}", each) for name, each in result.treatments.items()]
    over_time = progress(result.progress, result.seconds.get("search", 0.0))
    return [*drawings, over_time] if over_time else drawings


def _legend(words: Sequence[tuple[str, str]]) -> Iterable[str]:
    """A square of each colour with what it means."""
    x = 0.0
    for word, tone in words:
        yield box(x, 4, 12, 12, tone)
        yield text(x + 18, 14, word, tone="soft")
        x += 34 + 7.2 * len(word)

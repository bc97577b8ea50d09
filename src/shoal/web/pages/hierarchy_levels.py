"""The levels of a hierarchy below its editor: a row of labels with their records for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.web.pages.components import attributes, box, note, text

if TYPE_CHECKING:
    from shoal.web.hierarchies.levels import LevelLabels, Levels
    from shoal.web.numbers import Numbers


def show_levels(levels: Levels, numbers: Numbers) -> None:
    """A row for each level, from the values up; of many labels those with most records."""
    if not levels.levels:
        note("There are no levels to show until the hierarchy is corrected.")
        return
    with attributes(box("", "ol"), aria_label="Levels"):
        for number, level in enumerate(levels.levels):
            _show_level(number, level, numbers)
    if levels.missing:
        text(
            "p",
            f"{numbers.things(levels.missing, 'record')} without a value: they stay without one "
            "up to the last level.",
            "quiet small",
        )


def _show_level(number: int, level: LevelLabels, numbers: Numbers) -> None:
    with box("level-row", "li"):
        with box():
            text("div", f"Level {number}", "strong")
            noun = "value" if number == 0 else "label"
            text("div", numbers.things(level.labels, noun), "quiet small")
        with box("level-labels"):
            for label, records in level.shown:
                with box("level-label", "span"):
                    text("bdi", label)
                    text("span", numbers.count(records), "n")
            if level.more:
                text("span", f"and {numbers.count(level.more)} more", "quiet small")


def coverage_words(levels: Levels, numbers: Numbers) -> str:
    """Whether all values are covered, in a few words."""
    if levels.uncovered:
        return f"{numbers.of(levels.uncovered, levels.values, 'values')} not covered"
    if levels.problem is not None:
        return "must be corrected"
    if levels.values == 1:
        return "the one value is covered"
    return f"all {numbers.count(levels.values)} values covered"

"""The levels of a hierarchy below its editor: a row of labels with their records for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from shoal.web.pages.components import note, text

if TYPE_CHECKING:
    from shoal.web.hierarchies.levels import Levels
    from shoal.web.numbers import Numbers


class LevelRows(ui.element, component="../static/hierarchy_levels.js"):
    """A row for each level, from the values up; of many labels those with most records."""

    def __init__(self, levels: Levels, numbers: Numbers) -> None:
        super().__init__()
        self.props["levels"] = [
            {
                "name": f"Level {number}",
                "size": numbers.things(level.labels, "label" if number else "value"),
                "labels": [(label, numbers.count(records)) for label, records in level.shown],
                "more": f"and {numbers.count(level.more)} more" if level.more else "",
            }
            for number, level in enumerate(levels.levels)
        ]


def show_levels(levels: Levels, numbers: Numbers) -> None:
    """What the levels make of the values, and of the records without a value."""
    if not levels.levels:
        note("There are no levels to show until the hierarchy is corrected.")
        return
    LevelRows(levels, numbers)
    if levels.missing:
        text(
            "p",
            f"{numbers.things(levels.missing, 'record')} without a value: they stay without one "
            "up to the last level.",
            "quiet small",
        )


def coverage_words(levels: Levels, numbers: Numbers) -> str:
    """Whether all values are covered, in a few words."""
    if levels.uncovered:
        return f"{numbers.of(levels.uncovered, levels.values, 'values')} not covered"
    if levels.problem is not None:
        return "must be corrected"
    if levels.values == 1:
        return "the one value is covered"
    return f"all {numbers.count(levels.values)} values covered"

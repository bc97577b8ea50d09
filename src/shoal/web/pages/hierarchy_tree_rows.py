"""The rows of a tree in the browser, and how a row is sent there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

if TYPE_CHECKING:
    from shoal.web.hierarchies.outline import OutlineRow
    from shoal.web.numbers import Numbers

LONGEST = 200
"""Longer labels are cut in the rows."""
LONGEST_NAME = 1_000
"""A group that is renamed begins with this much of its label."""
KEYS = (
    "Arrow keys walk, Space selects, Enter opens and closes, F2 renames, G makes a group of the "
    "selected, M merges groups, S splits, V moves to another group, Delete dissolves a group. "
    "Alt with arrow keys moves up, down, out of and into a group. Ctrl Z undoes."
)
"""What the keys do; see static/hierarchy_tree.js."""


class TreeRows(ui.element, component="../static/hierarchy_tree.js"):
    """Rows that are selected, dragged and renamed; every edit comes back as an event."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.props["label"] = label
        self.props["rows"] = []
        self.props["focus"] = 0


def sent_row(row: OutlineRow, number: int, records: int, numbers: Numbers) -> dict[str, Any]:
    """What the browser gets of a row: texts to show, and the number that events name it by."""
    node, label = row.node, row.node.label
    sent = {
        "id": number,
        "depth": row.depth,
        "label": label if len(label) <= LONGEST else f"{label[:LONGEST]}…",
        "values": numbers.things(node.values, "value"),
        "count": numbers.things(records, "record"),
        "group": not node.is_value,
        "open": row.is_open,
        "number": row.number,
        "siblings": row.siblings,
        "empty": records == 0,
    }
    return sent if len(label) <= LONGEST else {**sent, "name": label[:LONGEST_NAME]}

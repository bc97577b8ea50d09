"""How values are generalized: one level for each column, or levels by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.edits import with_value
from shoal.web.pages.components import attributes, box, choice, hint, text

if TYPE_CHECKING:
    from shoal.web.pages.demand_editor import DemandEditor

FULL_DOMAIN, LOCAL = "full-domain", "local"
TITLES = {
    FULL_DOMAIN: "One level per column (full-domain)",
    LOCAL: "Levels by class (local)",
}
MEANINGS = {
    FULL_DOMAIN: (
        "Every value of a column is released at the same level, so the column is easy to count "
        "and to compare."
    ),
    LOCAL: (
        "Each class of similar records has its own levels: much less detail is lost, but a column "
        "holds labels of several levels, such as 34 beside 30-39."
    ),
}
EFFORTS = {"low": "Quick", "normal": "Normal", "high": "Thorough"}


class RecodingChoice:
    """The choice, and for local recoding how long to search."""

    def __init__(self, editor: DemandEditor) -> None:
        self._editor = editor

    def build(self) -> None:
        """Both ways with a sentence each; full-domain, the default, is not written down."""
        said = self._editor.get("recoding")
        made = ui.radio(TITLES, value=said if said in TITLES else FULL_DOMAIN)
        attributes(made.classes("recodings"), aria_label="How values are generalized")
        for number, (name, title) in enumerate(TITLES.items()):
            with made.add_slot(f"label-{number}"), box("recoding"):
                text("span", title, "strong")
                text("span", MEANINGS[name], "quiet")
        made.on_value_change(lambda: self._save(made.value))
        self._editor.mistakes_here("recoding")
        self._effort = box("line")
        self._show_effort()

    def _save(self, recoding: str) -> None:
        """The effort is one of local recoding alone."""
        definition: dict[str, Any] = dict(self._editor.frame.project.definition)
        if recoding == LOCAL:
            definition = with_value(definition, ("recoding",), LOCAL)
        else:
            definition = with_value(definition, ("recoding",), None)
            definition = with_value(definition, ("search", "effort"), None)
        self._editor.replace(definition)
        self._show_effort()

    def _show_effort(self) -> None:
        self._effort.clear()
        if self._editor.get("recoding") != LOCAL:
            return
        said = self._editor.get("search", "effort")
        with self._effort:
            with box("with-hint"):
                text("span", "How long to search")
                hint("effort")
            choice(
                EFFORTS,
                said if said in EFFORTS else "normal",
                lambda event: self._editor.set(
                    ("search", "effort"), None if event.value == "normal" else event.value
                ),
                label="How long to search",
            )

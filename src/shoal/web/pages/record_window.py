"""The table of a project in a page: a header with numbers for each column, records on request.

The header never shows a value. Records are shown after a click that says what they are; the click
is in the audit log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.components import ROLE_SIGNS, attributes, box, button, note
from shoal.web.project_data import persons_of

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers
    from shoal.web.pages.frame import StepFrame
    from shoal.web.projects import Project


class RecordWindow:
    """The table; `recolour` shows other roles."""

    def __init__(self, frame: StepFrame, profile: Mapping[str, Any]) -> None:
        self._frame, self._profile = frame, profile

    def build(self, *, colour: bool = True) -> None:
        """Show the header, and a button for the records."""
        columns = [_column(each, self._profile, self._frame.numbers) for each in self._columns]
        self._element = ui.element("record-window")
        attributes(
            self._element,
            columns=json.dumps(columns),
            rows=str(self._profile["records"]),
            label=f"Records of {self._frame.project.name}",
            signs=json.dumps(ROLE_SIGNS),
            roles=json.dumps(roles_of(self._frame.project) if colour else {}),
            language=self._frame.numbers.language,
        )
        self._ask = box("stack tight")
        about = "The records are those of real persons. They are shown to you alone."
        with self._ask, note(about), box("line"):
            button("Show the records", self._show, icon="visibility", small=True)
        self._shown = box("line")
        self._shown.visible = False
        with self._shown:
            self._go_to()
            button("Hide the records", self._hide, kind="quiet", icon="visibility_off", small=True)

    @property
    def _columns(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self._profile["columns"]
        return found

    def recolour(self) -> None:
        """Show the roles of the project as they are now."""
        attributes(self._element, roles=json.dumps(roles_of(self._frame.project))).update()

    def _show(self) -> None:
        project = self._frame.project
        self._frame.services.audit.record(
            self._frame.user.name, "looked at raw records", f"project {project.id}"
        )
        self._switch(f"/project/{project.id}/records")

    def _hide(self) -> None:
        self._switch("")

    def _switch(self, address: str) -> None:
        attributes(self._element, address=address).update()
        self._ask.visible, self._shown.visible = not address, bool(address)

    def _go_to(self) -> None:
        field = ui.number("Go to record", min=1, max=self._profile["records"], precision=0)
        field.props("outlined dense").classes("go-to")

        def go() -> None:
            if field.value is not None:
                self._element.run_method("goTo", int(field.value))

        field.on("keydown.enter", go)
        button("Go", go, small=True)


def roles_of(project: Project) -> dict[str, str]:
    """The role of each column; `person` for identifiers that say which person a record is of."""
    persons = persons_of(project.definition)
    return {
        name: "person" if role == "identifier" and name in persons else role
        for name in project.attributes
        if (role := project.role_of(name)) is not None
    }


def _column(
    column: Mapping[str, Any], profile: Mapping[str, Any], numbers: Numbers
) -> dict[str, Any]:
    """What the header says of a column."""
    missing = numbers.percent(column["missing"] / profile["records"], 1)
    return {
        "name": column["name"],
        "kind": column["type"],
        "distinct": f"{numbers.count(column['distinct'])} distinct",
        "missing": f"{missing if column['missing'] else 'none'} missing",
        "spread": spread_in_words(column, profile, numbers),
        "bars": [] if column["unique"] == profile["records"] else column["histogram"],
    }


def spread_in_words(column: Mapping[str, Any], profile: Mapping[str, Any], numbers: Numbers) -> str:
    """What the tiny histogram shows, for those who do not see it."""
    bars: Sequence[int] = column["histogram"]
    if not bars:
        return "no values"
    if column["unique"] == profile["records"]:
        return "every record has a value of its own"
    ordered = column["type"] in ("whole numbers", "numbers", "dates", "times")
    if ordered and len(bars) > 1:
        fullest = bars.index(max(bars)) + 1
        share = numbers.percent(max(bars) / profile["records"], 0)
        return f"{len(bars)} ranges of equal width; range {fullest} has most records, {share}"
    share = numbers.percent(bars[0] / profile["records"], 0)
    shown = numbers.things(len(bars), "most frequent value")
    return f"the {shown}; the first has {share} of the records"

"""The conditions of a request: a column, an operator in words, and values from the hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from nicegui import ui
from pydantic import ValidationError

from shoal.mart.conditions import Condition
from shoal.web.pages.components import attributes, box, button, icon_button, text

if TYPE_CHECKING:
    from nicegui.elements.mixins.text_element import TextElement

    from shoal.mart.describe import Column
    from shoal.web.mart.catalog import CatalogView

OPERATORS: Mapping[str, str] = {
    "=": "is",
    "in": "is one of",
    "!=": "is not",
    ">=": "is at least",
    "<=": "is at most",
    ">": "is above",
    "<": "is below",
    "between": "is between",
    "==": "is exactly the value",
    "missing": "is missing",
    "present": "is not missing",
}
"""The operators of conditions, in words."""
WITHOUT_VALUE = ("missing", "present")
LISTED = ("=", "in", "!=", "==")
"""Operators whose values are picked from the hierarchy, where the catalog states it."""
Editor = Literal["none", "range", "labels", "label", "text"]
"""The fields for the values of a condition: none, from and to, several labels, one, any text."""


class Row:
    """One condition that is being written."""

    def __init__(self, column: str, operator: str = "=", values: Sequence[str] = ()) -> None:
        self.column, self.operator, self.values = column, operator, list(values)
        self.error: TextElement | None = None

    @property
    def is_begun(self) -> bool:
        """Whether there is enough of it to be checked."""
        return self.operator in WITHOUT_VALUE or any(self.values)

    @property
    def condition(self) -> str:
        """The condition as a request writes it; what is missing in it is found by the mart."""
        values = () if self.operator in WITHOUT_VALUE else tuple(filter(None, self.values))
        try:
            return str(Condition(column=self.column, operator=self.operator, values=values))
        except ValidationError:
            return f"{self.column} {self.operator} {' and '.join(values)}"


class Conditions:
    """The list of conditions. `changed` is called after every change."""

    def __init__(self, view: CatalogView, rows: list[Row], changed: Callable[[], None]) -> None:
        self._columns = {column.name: column for column in view.description.columns}
        self.rows, self._changed = rows, changed

    def build(self) -> None:
        """Show the rows, and a button for another one."""
        self._list()
        with box("line"):
            button("Add a condition", self._add, icon="add", small=True)

    def _add(self) -> None:
        self.rows.append(Row(next(iter(self._columns))))
        self._list.refresh()

    def _remove(self, row: Row) -> None:
        self.rows.remove(row)
        self._list.refresh()
        self._changed()

    @ui.refreshable_method
    def _list(self) -> None:
        if not self.rows:
            text("p", "Without a condition you ask for all linked records.", "quiet")
        for number, row in enumerate(self.rows, start=1):
            group = attributes(
                box("mart-condition"), role="group", aria_label=f"Condition {number}"
            )
            with group:
                self._row(row)

    def _row(self, row: Row) -> None:
        """The fields of a condition.

        A choice replaces only the fields for values, and only where other ones are needed: what
        somebody opens or types meanwhile stays.
        """

        def choose_column(event: Any) -> None:
            was_empty_text = self._editor(row) == "text" and not row.values
            row.column, row.values = event.value, []
            if not (was_empty_text and self._editor(row) == "text"):
                show_values()
            self._changed()

        def choose_operator(event: Any) -> None:
            before = self._editor(row)
            row.operator = event.value
            row.values = row.values[: 2 if row.operator == "between" else None]
            if self._editor(row) != before:
                show_values()
            self._changed()

        def show_values() -> None:
            values.clear()
            with values:
                self._values(row)

        ui.select(
            list(self._columns), value=row.column, label="Column", on_change=choose_column
        ).props("outlined dense").classes("wide")
        ui.select(
            dict(OPERATORS), value=row.operator, label="Condition", on_change=choose_operator
        ).props("outlined dense").classes("wide")
        values = box("stack tight")
        show_values()
        icon_button("close", "Remove this condition", lambda: self._remove(row))
        row.error = attributes(text("div", "", "field-error"), role="status")

    def _editor(self, row: Row) -> Editor:
        if row.operator in WITHOUT_VALUE:
            return "none"
        if row.operator == "between":
            return "range"
        if row.operator in LISTED and labels_of(self._columns[row.column]):
            return "labels" if row.operator == "in" else "label"
        return "text"

    def _values(self, row: Row) -> None:
        editor = self._editor(row)
        if editor == "range":
            with box("line tight"):
                self._text(row, 0, "From")
                self._text(row, 1, "To")
        elif editor == "text":
            self._text(row, 0, "Value")
        elif editor != "none":
            self._picked(row, several=editor == "labels")

    def _text(self, row: Row, number: int, label: str) -> None:
        def write(event: Any) -> None:
            row.values += [""] * (number + 1 - len(row.values))
            row.values[number] = str(event.value or "").strip()
            self._changed()

        value = row.values[number] if number < len(row.values) else ""
        field = ui.input(label, value=value, on_change=write)
        field.props("outlined dense debounce=300 maxlength=500").classes("grow")

    def _picked(self, row: Row, *, several: bool) -> None:
        """Labels of the hierarchy; other values can be written where it does not state all."""

        def pick(event: Any) -> None:
            chosen = event.value if isinstance(event.value, list) else [event.value]
            row.values = [str(each) for each in chosen if each]
            self._changed()

        column = self._columns[row.column]
        known = {**{value: value for value in row.values}, **labels_of(column)}
        value: Any = row.values if several else (row.values[0] if row.values else None)
        is_whole = column.levels[0].labels is not None
        ui.select(
            known,
            value=value,
            label="Values" if several else "Value or label",
            multiple=several,
            with_input=True,
            new_value_mode=None if is_whole else "add-unique",
            on_change=pick,
        ).props("outlined dense use-chips" if several else "outlined dense").classes("grow")


def labels_of(column: Column) -> dict[str, str]:
    """The labels of a column that the catalog states, the most general first, with their levels."""
    found: dict[str, str] = {}
    for level in reversed(column.levels[:-1] or column.levels):
        for label in level.labels or ():
            found.setdefault(label, label if level.level == 0 else f"{label} (level {level.level})")
    return found

"""The request builder: columns, records, protection and purpose, checked while it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.errors import BadDefinition, Mistake, ShoalError
from shoal.web.mart.model import FORMATS
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    choice,
    labelled,
    note,
    panel,
    problem_card,
    role_chip,
    text,
)
from shoal.web.pages.mart_words import mart_page
from shoal.web.pages.request_conditions import Conditions
from shoal.web.pages.request_draft import Draft
from shoal.web.pages.request_estimate import EstimateCard
from shoal.web.pages.request_status import StatusPage
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from nicegui.elements.mixins.text_element import TextElement

    from shoal.mart.describe import Column
    from shoal.web.mart.catalog import CatalogView
    from shoal.web.mart.model import MartRequest
    from shoal.web.pages.frame import Frame
    from shoal.web.services import Services

RECODINGS = {"full-domain": "One level per column", "local": "Levels by class"}
SCOPES = {"source": "Who holds one source", "joint": "Who knows all sources"}
PRIORITIES = {-1: "as the catalog says", 1: "matters most", 0.5: "matters", 0.1: "matters least"}
"""How much the detail of a column matters; the search generalizes first what matters least."""
MANY = 5
"""From so many columns of a source on, there is a button to choose all."""
NOT_YET = ("purpose", "project")
"""Parts that are empty at first: that is a mistake only when somebody sends the request so."""


def register(services: Services) -> None:
    """Define the pages of a new request and of one that exists."""

    @ui.page("/request/new")
    def new(request: Request) -> None:
        user = user_of(request)
        require(user, "researcher")
        with mart_page(services, user, "New request") as frame:
            Builder(frame, services.mart.view(user, as_asker=True), None).build()

    @ui.page("/request/{id}")
    def one(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "researcher")
        found = services.mart.get(user, id)
        if found.asker != user.name:
            ui.navigate.to(f"/inbox/{id}")
            return
        title = "New request" if found.state == "draft" else "Request"
        with mart_page(services, user, title) as frame:
            if found.state == "draft":
                Builder(frame, services.mart.view(user, as_asker=True), found).build()
            else:
                StatusPage(frame, found).build()


class Builder:
    """A request that is being written. Every change is checked and kept as a draft."""

    def __init__(self, frame: Frame, view: CatalogView, draft: MartRequest | None) -> None:
        self._frame, self._view, self._draft = frame, view, draft
        self._mart, self._user = frame.services.mart, frame.user
        columns = [each.name for each in view.description.columns]
        saved = Draft(self._mart.catalog(self._user), draft.body if draft else {}, columns)
        self._stated: dict[str, Any] = saved.stated
        self._chosen = saved.columns
        self._conditions = Conditions(view, saved.rows, self._changed)
        self._errors: dict[str, TextElement] = {}
        self._boxes: dict[str, ui.checkbox] = {}
        self._is_sending = False

    def build(self) -> None:
        """The parts of a request in the order in which one thinks of them."""
        text("p", self._lead(), "quiet lead")
        self._show_error_slot("asker")
        with panel("Columns", "level"):
            self._columns()
        with panel("Records"):
            text("p", "All conditions must hold. A label stands for all values below it.", "quiet")
            self._conditions.build()
        with panel("Protection", "k-anonymity"):
            self._protection()
        with panel("Purpose"):
            self._purpose()
        EstimateCard(self._frame, self.body, self._show_mistakes)
        self._problem = box("stack tight")
        with box("mart-actions"):
            label = "Send for approval" if self._mart.needs_approval else "Send and release"
            button(label, self._send, kind="primary", icon="send")
            button("Delete the draft", self._delete, kind="quiet")
            self._saved = attributes(text("span", "", "quiet small"), role="status")
        self._show_mistakes(self._mistakes())

    def _lead(self) -> str:
        if self._mart.needs_approval:
            return "A custodian looks at your request and decides. Nothing is released before that."
        return "The rules of the mart decide at once. Every request is in the mart's log."

    # Parts

    def _columns(self) -> None:
        columns = self._view.description.columns
        text(
            "p", "Generalized columns become more general until enough persons are alike.", "quiet"
        )
        for source, group in groupby(columns, lambda each: each.source):
            of_source = list(group)
            with box("line tight"):
                text("h3", source, "break")
                if len(of_source) >= MANY:
                    button("Choose all", self._choose_all(of_source), kind="quiet", small=True)
            with attributes(box("mart-picks"), role="group", aria_label=f"Columns of {source}"):
                for column in of_source:
                    self._pick(column)
        self._show_error_slot("project")
        self._limits()
        self._show_error_slot("limits")

    def _choose_all(self, columns: Sequence[Column]) -> Callable[[], None]:
        def choose() -> None:
            for column in columns:
                self._boxes[column.name].value = True

        return choose

    def _pick(self, column: Column) -> None:
        def choose(event: Any) -> None:
            (self._chosen.add if event.value else self._chosen.discard)(column.name)
            self._limits.refresh()
            self._changed()

        with box("mart-pick"):
            with box("line tight"):
                is_chosen = column.name in self._chosen
                self._boxes[column.name] = ui.checkbox(
                    column.name, value=is_chosen, on_change=choose
                )
                role_chip(column.role)
            if column.derive is not None:
                text("code", column.derive, "small quiet break")

    @ui.refreshable_method
    def _limits(self) -> None:
        """How general each chosen column may become."""
        columns = [
            each
            for each in self._view.description.columns
            if each.name in self._chosen and len(each.levels) > 1
        ]
        if not columns:
            return
        with ui.expansion("How general each column may become, and what matters most"), box("two"):
            for column in columns:
                levels = {each.level: f"at most level {each.level}" for each in column.levels}
                self._of_column(column, "limits", "level", {-1: "as far as needed", **levels})
                self._of_column(column, "priorities", "priority", PRIORITIES)

    def _of_column(self, column: Column, key: str, what: str, options: Mapping[Any, str]) -> None:
        """A choice for one column; -1 states nothing."""

        def choose(event: Any) -> None:
            stated = {**self._stated.get(key, {})}
            stated.pop(column.name, None)
            if event.value >= 0:
                stated[column.name] = event.value
            self._state(key, stated)

        value = self._stated.get(key, {}).get(column.name, -1)
        known = {**options, value: options.get(value, str(value))}
        label = f"{column.name}: {what}"
        ui.select(known, value=value, label=label, on_change=choose).props("outlined dense")

    def _protection(self) -> None:
        policy = self._view.description.policy
        least, most = int(policy["k"]), policy.get("suppression", 0)
        with box("two"):
            with box("stack tight"):
                field = ui.number(
                    "Persons alike in every class (k)",
                    value=self._stated.get("k", least),
                    min=least,
                    step=1,
                    precision=0,
                    on_change=lambda event: self._state("k", event.value and int(event.value)),
                )
                field.props(f'outlined hint="at least {least}, by the rules of the mart"')
                self._show_error_slot("k")
            with box("stack tight"):
                said = "none may be left out" if most == 0 else f"at most {most}"
                left_out = ui.input(
                    "Records that may be left out",
                    value=str(self._stated.get("suppression", "0")),
                    on_change=lambda event: self._state("suppression", event.value or 0),
                )
                left_out.props(f'outlined debounce=300 maxlength=20 hint="{said}"')
                left_out.set_enabled(most != 0)
                self._show_error_slot("suppression")
        labelled("Must withstand", None)
        choice(
            SCOPES,
            self._stated.get("scope", "source"),
            lambda event: self._state("scope", event.value),
            label="Must withstand",
        )
        self._show_error_slot("scope")
        labelled("How columns are generalized", "recoding")
        choice(
            RECODINGS,
            self._stated.get("recoding", "full-domain"),
            lambda event: self._state("recoding", event.value if event.value == "local" else None),
            label="How columns are generalized",
        )
        self._show_error_slot("recoding")
        ui.checkbox(
            "Give each person a random id, which ties their rows together",
            value=self._stated.get("keys") == "random",
            on_change=lambda event: self._state("keys", "random" if event.value else None),
        )
        self._show_error_slot("keys")
        for line in ("diversity", "priorities", "format", "select"):
            self._show_error_slot(line)

    def _purpose(self) -> None:
        area = ui.textarea(
            "What the data is for",
            value=self._stated.get("purpose", ""),
            on_change=lambda event: self._state("purpose", event.value or ""),
        )
        area.props("outlined autogrow debounce=300 maxlength=2000")
        self._show_error_slot("purpose")
        labelled("Format of the release", None)
        choice(
            FORMATS,
            self._stated.get("format", "csv"),
            lambda event: self._state("format", event.value),
            label="Format of the release",
        )

    # Checking and sending

    def body(self) -> dict[str, Any]:
        """The request as it is now, as a client of the API would state it."""
        columns = self._view.description.columns
        rows = [row for row in self._conditions.rows if row.is_begun or self._is_sending]
        found = {
            **self._stated,
            "project": [each.name for each in columns if each.name in self._chosen],
            "select": [row.condition for row in rows],
        }
        for key in ("limits", "priorities"):
            stated = self._stated.get(key, {}).items()
            found[key] = {name: value for name, value in stated if name in self._chosen}
        return {key: value for key, value in found.items() if value not in (None, "", [], {})}

    def _state(self, key: str, value: Any) -> None:
        self._stated[key] = value
        self._changed()

    def _changed(self) -> None:
        """Check the request, and keep it as a draft."""
        self._show_mistakes(self._mistakes())
        try:
            if self._draft is None:
                self._draft = self._mart.draft(self._user, self.body())
                ui.navigate.history.replace(f"/request/{self._draft.id}")
            else:
                self._draft = self._mart.save(self._user, self._draft.id, self.body())
        except ShoalError as error:
            self._show_problem(error)
            return
        self._saved.text = "Saved as a draft"

    def _mistakes(self) -> Sequence[Mistake]:
        found = self._mart.mistakes(self._user, self.body())
        if self._is_sending:
            return found
        empty = {key for key in NOT_YET if not self.body().get(key)}
        return [each for each in found if each.key not in empty]

    def _show_error_slot(self, key: str) -> None:
        """A place for the mistakes of one part."""
        slot = text("div", "", "field-error")
        attributes(slot, role="status")
        self._errors[key] = slot

    def _show_mistakes(self, mistakes: Sequence[Mistake]) -> None:
        """Put each mistake where it is made."""
        rows = [row for row in self._conditions.rows if row.is_begun or self._is_sending]
        said: dict[Any, list[str]] = {}
        for mistake in mistakes:
            part, _, rest = mistake.key.partition(".")
            where = f"{part}: " if mistake.what.startswith("is ") else ""
            code = mistake.code or "bad-definition"
            line = f"{where}{mistake.what}; {mistake.remedy} [{code}]"
            number = rest.partition(".")[0]
            is_row = part == "select" and number.isdigit() and int(number) < len(rows)
            place = rows[int(number)] if is_row else part if part in self._errors else "select"
            said.setdefault(place, []).append(line)
        for key, slot in self._errors.items():
            slot.text = "\n".join(said.get(key, ()))
        for row in self._conditions.rows:
            if row.error is not None:
                row.error.text = "\n".join(said.get(row, ()))
        self._problem.clear()
        if self._is_sending and mistakes:
            wrong = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
            with self._problem:
                note(f"Not sent: {wrong} to correct, marked above.", "problem")

    def _send(self) -> None:
        self._is_sending = True
        self._changed()
        if self._draft is None:
            return
        try:
            self._mart.send(self._user, self._draft.id)
        except BadDefinition as error:
            self._show_mistakes(error.mistakes)
        except ShoalError as error:
            self._show_problem(error)
        else:
            ui.navigate.to(f"/request/{self._draft.id}")

    def _delete(self) -> None:
        if self._draft is not None:
            self._mart.cancel(self._user, self._draft.id)
        ui.navigate.to("/requests")

    def _show_problem(self, error: ShoalError | Mapping[str, Any]) -> None:
        self._problem.clear()
        with self._problem:
            problem_card(error)

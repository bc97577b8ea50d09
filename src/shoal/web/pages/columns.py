"""Step 2, Columns: what each column is, with suggestions, their reasons and the risk.

The side says how many records the chosen quasi-identifiers single out; it is counted anew, in a
worker, a moment after each change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.web.cached_table import TABLE
from shoal.web.column_roles import ROLES, role_in, with_persons, with_role
from shoal.web.pages.column_card import ColumnCard
from shoal.web.pages.components import (
    ROLE_SIGNS,
    box,
    button,
    empty_state,
    fact,
    meter,
    note,
    panel,
    role_chip,
    text,
)
from shoal.web.pages.data import load_scripts
from shoal.web.pages.frame import StepFrame, step_page
from shoal.web.pages.record_window import RecordWindow
from shoal.web.project_data import PROFILE, current_data, missing_texts, persons_of
from shoal.web.security import user_of
from shoal.web.steps import quasi_identifiers, step_named
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.services import Services

AT_ONCE = 24
"""Cards in the page at a time."""
PAUSE = 0.4
"""Seconds after the last change before the records are counted again."""


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/project/{project_id}/columns")
    def columns(request: Request, project_id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        data = current_data(services, services.projects.get(project_id, user.name))
        load_scripts()
        with step_page(services, user, data.project, "columns") as frame:
            with frame.main:
                frame.title("Columns", "What does each column say about a person?")
            if data.state == "done" and data.job is not None:
                ColumnsPage(frame, services.jobs.result(data.job.id, user.name)).build()
            else:
                _no_data(frame)


def _no_data(frame: StepFrame) -> None:
    with (
        frame.main,
        empty_state(
            "table_chart", "No data yet", "Columns can be described once the data is read."
        ),
    ):
        path = step_named("data").path(frame.project)
        button("Go to Data", lambda: ui.navigate.to(path))
    frame.primary("Next: Hierarchies").enabled = False


class ColumnsPage:
    """Cards on the left, what they come to on the right."""

    def __init__(self, frame: StepFrame, profile: Mapping[str, Any]) -> None:
        self._frame, self._services = frame, frame.services
        self._records: int = profile["records"]
        self._profile = profile
        self._columns = [_suggesting(each, profile) for each in profile["columns"]]
        self._cards: dict[str, ColumnCard] = {}
        self._shown = AT_ONCE
        self._search, self._only = "", "all"
        self._counting = ""

    def build(self) -> None:
        """Make the page."""
        with self._frame.main:
            with panel("The table", classes="dense"):
                self._table = RecordWindow(self._frame, self._profile)
                self._table.build()
            if len(self._columns) > 8:
                self._filter()
            self._list = box("stack")
            self._show_cards()
        with self._frame.side:
            self._side()
        path = step_named("hierarchies").path(self._frame.project)
        self._next = self._frame.primary("Next: Hierarchies", to=path)
        self._frame.secondary("Use all suggestions", self._use_all)
        self._timer = ui.timer(PAUSE, self._count, active=True, once=False)
        self._refresh()

    # ---- the cards

    def _filter(self) -> None:
        with box("filter-bar"):
            field = ui.input("Find a column", on_change=lambda event: self._find(event.value or ""))
            field.props("outlined dense clearable debounce=200")
            options = {"all": "all roles", **{each: ROLE_SIGNS[each][1] for each in ROLES}}
            ui.select(
                options,
                value="all",
                label="Show",
                on_change=lambda event: self._show_only(event.value),
            ).props("outlined dense options-dense")

    def _find(self, words: str) -> None:
        self._search, self._shown = words.casefold(), AT_ONCE
        self._show_cards()

    def _show_only(self, role: str) -> None:
        self._only, self._shown = role, AT_ONCE
        self._show_cards()

    def _show_more(self) -> None:
        self._shown += AT_ONCE
        self._show_cards()

    def _matching(self) -> list[Mapping[str, Any]]:
        definition = self._frame.project.definition
        return [
            each
            for each in self._columns
            if self._search in each["name"].casefold()
            and self._only in ("all", role_in(definition, each["name"]))
        ]

    def _show_cards(self) -> None:
        found = self._matching()
        self._list.clear()
        self._cards = {}
        with self._list:
            with box("cards", "ul"):
                for each in found[: self._shown]:
                    self._card(each)
            if not found:
                text("p", "No column matches.", "quiet")
            if len(found) > self._shown:
                left = self._frame.numbers.things(len(found) - self._shown, "more column")
                button(f"Show {min(AT_ONCE, len(found) - self._shown)} of {left}", self._show_more)

    def _card(self, column: Mapping[str, Any]) -> None:
        name = column["name"]
        card = ColumnCard(
            column,
            self._records,
            self._frame.numbers,
            lambda role: self._change(column, role),
        )
        card.build(role_in(self._frame.project.definition, name))
        self._cards[name] = card

    def _change(self, column: Mapping[str, Any], role: str) -> None:
        self._save(with_role(self._frame.project.definition, column, role))

    def _use_all(self) -> None:
        definition: dict[str, Any] = dict(self._frame.project.definition)
        for each in self._columns:
            if role_in(definition, each["name"]) != each["suggested"]:
                definition = with_role(definition, each, each["suggested"])
        self._save(definition)

    def _save(self, definition: dict[str, Any]) -> None:
        with suppress(ShoalError):
            self._frame.save(definition=definition)
        self._refresh()

    def _refresh(self) -> None:
        """Show the definition as it is now: cards, table, side."""
        definition = self._frame.project.definition
        for name, card in self._cards.items():
            card.show(role_in(definition, name))
        self._table.recolour()
        self._show_side()
        self._timer.activate()

    # ---- the side

    def _side(self) -> None:
        text("h2", "Singled out")
        text(
            "p",
            "Mark as quasi-identifier what others may know about a person: these columns are "
            "generalized until nobody stands out.",
            "quiet",
        )
        self._unique = fact("Records alone on the chosen columns", "\N{HORIZONTAL ELLIPSIS}")
        self._meter = box()
        self._below = text("p", "", "quiet small")
        self._roles = box("stack tight")
        self._advice = box("stack tight")

    def _show_side(self) -> None:
        project = self._frame.project
        chosen = quasi_identifiers(project)
        self._next.enabled = bool(chosen)
        self._roles.clear()
        with self._roles, box("line tight"):
            self._summary()
        self._advice.clear()
        with self._advice:
            if not chosen:
                note("Choose at least one quasi-identifier to go on.", "warning")
            self._person_advice()

    def _summary(self) -> None:
        """How many columns have each role."""
        definition = self._frame.project.definition
        roles = [role_in(definition, each["name"]) for each in self._columns]
        for each in ROLES:
            if roles.count(each):
                with box("line tight role-count"):
                    text("span", self._frame.numbers.count(roles.count(each)), "small num")
                    role_chip(each)

    def _person_advice(self) -> None:
        """Offer to count persons where identifiers repeat; say so where they are counted."""
        numbers, found = self._frame.numbers, self._profile["person"]
        persons = persons_of(self._frame.project.definition)
        if persons:
            with note(f"k counts persons, told apart by {' and '.join(persons)}.", "info"):
                button("Count records instead", lambda: self._persons([]), small=True)
        elif found:
            names = " and ".join(found["columns"])
            about = (
                f"{numbers.count(found['records'])} records have {numbers.count(found['persons'])} "
                f"different values of {names}: one person may have several records."
            )
            columns = list(found["columns"])
            with note(about, "warning"):
                button("Count persons", lambda: self._persons(columns), small=True)

    def _persons(self, columns: list[str]) -> None:
        self._save(with_persons(self._frame.project.definition, columns))

    # ---- the live number

    async def _count(self) -> None:
        """Count the records that are alone, in a worker; a newer change makes this one void."""
        self._timer.deactivate()
        project = self._frame.project
        chosen = quasi_identifiers(project)
        if not chosen:
            self._show_count({"unique": 0, "below_k": 0, "records": self._records}, 0)
            return
        try:
            table = self._services.jobs.folder(project.jobs[PROFILE], project.owner) / TABLE
            k = int(project.definition.get("k", 5))
            arguments = {
                "table": str(table),
                "columns": chosen,
                "missing": missing_texts(project),
                "k": k,
            }
            if self._counting:
                self._services.jobs.cancel(self._counting, project.owner)
            job = self._services.jobs.submit(
                "uniqueness", arguments, owner=project.owner, project=project.id
            )
            self._counting = job.id
            background_tasks.create(self._wait_for(job, chosen, k), name="uniqueness")
        except ShoalError as error:
            self._unique.text = error.what

    async def _wait_for(self, job: Job, chosen: Sequence[str], k: int) -> None:
        ended = await self._services.jobs.finished(job.id, job.owner)
        if ended.state == "done" and chosen == quasi_identifiers(self._frame.project):
            self._show_count(self._services.jobs.result(job.id, job.owner), k)

    def _show_count(self, found: Mapping[str, Any], k: int) -> None:
        numbers = self._frame.numbers
        share = found["unique"] / max(1, found["records"])
        self._unique.text = numbers.of(found["unique"], found["records"])
        self._meter.clear()
        with self._meter:
            meter(share, f"{numbers.percent(share, 1)} of the records are alone")
        below = found["below_k"] / max(1, found["records"])
        self._below.text = (
            f"{numbers.percent(below, 1)} are in groups of fewer than {k} alike." if k else ""
        )


def _suggesting(column: Mapping[str, Any], profile: Mapping[str, Any]) -> dict[str, Any]:
    """The profile of a column with the suggested role, `person` included."""
    person = profile["person"]
    is_person = bool(person) and column["name"] in person["columns"]
    suggested = "person" if is_person and column["role"] == "identifier" else column["role"]
    return {**column, "suggested": suggested}

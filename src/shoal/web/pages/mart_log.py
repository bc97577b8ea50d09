"""The log of the mart: every request and what became of it, and whether its chain is whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import Request
from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.pages.components import (
    box,
    button,
    empty_state,
    note,
    panel,
    problem_card,
    record_table,
    text,
)
from shoal.web.pages.mart_words import mart_page
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.mart.log_view import LogCheck
    from shoal.web.pages.frame import Frame
    from shoal.web.services import Services

SHOWN = 200
"""So many entries are shown, the newest of them."""
HEADING = ("Entry", "Time (UTC)", "Asker", "What", "Records", "k", "Reason")


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/mart-log")
    async def log(request: Request) -> None:
        user = user_of(request)
        require(user, "custodian")
        with mart_page(services, user, "Log") as frame:
            page = LogPage(frame)
            page.build(await asyncio.to_thread(services.mart_results.check_log, user))
            await page.show_entries()


class LogPage:
    """The verdict on the chain, a check of digests, and the entries."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def build(self, found: LogCheck) -> None:
        """The verdict, and a field for digests that askers kept."""
        with panel("Is the log as it was written?"):
            self._verdict = box("stack tight")
            self._show(found)
            field = ui.input("Digest that an asker kept")
            field.props('outlined maxlength=64 hint="The result of every release states one."')

            async def check() -> None:
                wanted = [field.value.strip()] if field.value else []
                results = self._frame.services.mart_results
                found = await asyncio.to_thread(results.check_log, self._frame.user, wanted)
                self._show(found, has=bool(wanted))

            with box("line"):
                button("Check the chain", check, kind="primary", icon="verified")

    def _show(self, found: LogCheck, *, has: bool = False) -> None:
        self._verdict.clear()
        entries = self._frame.numbers.things(found.entries, "entry", "entries")
        with self._verdict:
            if found.verified:
                more = " It has an entry with this digest." if has else ""
                body = note("", "good", title=f"The log is whole: {entries}.{more}")
                with body:
                    if found.last:
                        text("div", f"The last digest is {found.last}", "mart-digest")
            elif found.faults:
                said = "The log is not as it was written, so every request is refused."
                body = note("", "problem", title=said)
                with body:
                    for each in found.faults:
                        text("div", f"{each!s}.")
                    text("div", "Restore the log and its head from a backup.")
            else:
                note("The log is a whole chain, but has no entry with this digest.", "problem")
            if found.unfinished:
                note("A crash left an unfinished entry. The next request removes it.", "warning")

    async def show_entries(self) -> None:
        """The newest entries as a table."""
        results, numbers = self._frame.services.mart_results, self._frame.numbers
        try:
            table = await asyncio.to_thread(results.log, self._frame.user)
        except ShoalError as error:
            problem_card(error)
            return
        records = table.records()[::-1]
        if not records:
            empty_state("history", "No entry yet", "Every request leaves an entry here.")
            return
        with panel("Requests, the newest first", classes="mart-log"):
            rows = [
                (
                    numbers.count(each["number"]),
                    each["time"],
                    each["asker"] or "",
                    each["kind"],
                    "" if each["rows"] is None else numbers.count(each["rows"]),
                    "" if each["k"] is None else numbers.count(each["k"]),
                    each["reason"] or "",
                )
                for each in records[:SHOWN]
            ]
            record_table(
                HEADING,
                rows,
                caption="Entries of the log",
                numbers=("Entry", "Records", "k"),
                height="560px",
            )
            if len(records) > SHOWN:
                text("p", f"The newest {SHOWN} of {numbers.count(len(records))}.", "quiet small")

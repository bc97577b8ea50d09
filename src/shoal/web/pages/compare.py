"""Step 7: the original beside the release, column by column, and the risk before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.web.found import Standing, is_about, result_of, standing_of
from shoal.web.laid_out import layout_of
from shoal.web.node_words import level_words, recoding_text
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    dialog,
    fact,
    meter,
    note,
    panel,
    text,
)
from shoal.web.pages.frame import step_page
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.risk_bars import show_risk
from shoal.web.pages.searched import say_search_first
from shoal.web.pages.theme import static
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.pages.frame import StepFrame
    from shoal.web.services import Services


def register(services: Services) -> None:
    """The page `/project/ID/compare`."""

    @ui.page("/project/{id}/compare")
    def compare(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        ui.add_head_html(
            f'<link rel="stylesheet" href="{static("nodes.css")}">'
            f'<script src="{static("compare.js")}" defer></script>'
        )
        with step_page(services, user, project, "compare") as frame:
            with frame.main:
                frame.title("Compare", "The original, and what would be released.")
            standing = standing_of(services, project)
            if standing is None:
                say_search_first(frame)
                return
            ComparePage(frame, standing).build()


class ComparePage:
    """The page for a project whose search is done."""

    def __init__(self, frame: StepFrame, standing: Standing) -> None:
        self._frame, self._standing = frame, standing

    def build(self) -> None:
        """What was compared before, or a new comparison."""
        frame = self._frame
        with frame.main:
            self._progress = JobProgress(
                frame.services, frame.user, frame.numbers, on_done=self._compared
            )
            self._content = box("stack")
        with frame.side:
            found = recoding_text(self._standing.levels)
            text("h2", found[:1].upper() + found[1:])
            said = "Values that are alike in every column form a class. Only their labels leave."
            text("p", said)
            self._facts = box("facts")
        frame.primary("Decide", to=f"/project/{frame.project.id}/decide")
        former = self._former()
        if former is not None:
            self._show(former)
        else:
            self._start(raw=False)

    def _former(self) -> dict[str, Any] | None:
        services, project = self._frame.services, self._frame.project
        if not is_about(services, project, "compare", self._standing):
            return None
        plain = result_of(services, project, "compare")
        same = plain is not None and plain["levels"] == dict(self._standing.levels)
        return plain if same else None

    def _start(self, *, raw: bool) -> None:
        """Compare. A comparison with original values is not kept as the project's own."""
        frame = self._frame
        arguments = {
            "layout": layout_of(frame.services, frame.project),
            **self._standing.arguments(),
            "raw": raw,
        }
        if raw:
            frame.services.audit.record(
                frame.user.name, "looked at original values", f"project {frame.project.id}"
            )
            job = frame.services.jobs.submit(
                "compare", arguments, owner=frame.user.name, project=frame.project.id
            )
        else:
            job = frame.submit("compare", arguments)
        self._progress.follow(job.id)

    def _compared(self, job: Job) -> None:
        self._show(self._frame.services.jobs.result(job.id, self._frame.user.name))

    def _show(self, plain: Mapping[str, Any]) -> None:
        self._content.clear()
        self._facts.clear()
        with self._facts:
            self._show_facts(plain)
        with self._content:
            with panel("Risk of being recognised"):
                show_risk(self._frame, plain)
            with panel("Side by side", "class"):
                self._show_sample(plain)
            with panel("Columns before and after"):
                self._show_columns(plain)

    def _show_facts(self, plain: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        fact("Records", numbers.count(plain["records"]))
        fact("Left out", numbers.count(plain["hidden"]), term="suppression")
        fact("Classes", numbers.count(plain["classes"]), term="class")

    def _show_sample(self, plain: Mapping[str, Any]) -> None:
        """Classes from the largest to the smallest; original values after one deliberate click."""
        numbers, names = self._frame.numbers, list(plain["levels"])
        shown = numbers.of(len(plain["sample"]), plain["classes"], "classes")
        text("p", f"{shown}, from the largest to the smallest.", "quiet")
        with box("line"):
            if plain["raw"]:
                note(
                    "Original values of persons are shown. Do not leave this screen alone.",
                    "warning",
                )
                button("Hide original values", self._hide, icon="visibility_off", small=True)
            else:
                button("Show original values", self._ask_raw, icon="visibility", small=True)
        left, right = [], []
        for each in plain["sample"]:
            labels = [*each["labels"], numbers.count(each["records"])]
            if not plain["raw"]:
                counted = [numbers.things(number, "value") for number in each["values"]]
                left.append([*counted, numbers.count(each["tuples"])])
                right.append(labels)
                continue
            for number, example in enumerate(each["examples"]):
                left.append([*example["values"], numbers.count(example["records"])])
                right.append(labels if not number else [*each["labels"], ""])
        with box("side-by-side"):
            over = "Original" if plain["raw"] else "Original: how many different values"
            last = "records" if plain["raw"] else "combinations"
            _table(over, [*names, last], left)
            _table("Released", [*names, "records"], right)

    def _ask_raw(self) -> None:
        def go() -> None:
            shown.close()
            self._start(raw=True)

        with dialog("Show original values?") as shown:
            said = "Some records of persons are shown as they are in the file."
            text("p", f"{said} That you looked is noted in the audit log.")
            with box("line"):
                button("Show them", go, kind="primary")
                button("Leave them hidden", shown.close, kind="quiet")
        shown.open()

    def _hide(self) -> None:
        former = self._former()
        if former is None:
            self._start(raw=False)
        else:
            self._show(former)

    def _show_columns(self, plain: Mapping[str, Any]) -> None:
        columns = {each["name"]: each for each in plain["columns"]}
        first = next(iter(columns))
        choice = ui.select(list(columns), value=first, label="Column").props("outlined dense")
        choice.classes("column-choice")
        drawn = box("stack tight")

        def draw() -> None:
            drawn.clear()
            with drawn:
                self._show_column(columns[choice.value])

        choice.on_value_change(draw)
        draw()

    def _show_column(self, column: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        values = numbers.things(column["values"], "value")
        labels = numbers.things(column["labels"], "label")
        text("p", self._about_column(column, values, labels), "quiet")
        with box("side-by-side"):
            with box("stack tight"):
                text("h3", "Before")
                if column["original"]:
                    self._bars(column["original"], "before", "Before")
                else:
                    text("p", "Single values are not shown for this table.", "quiet")
            with box("stack tight"):
                text("h3", "After")
                self._bars(column["released"], "after", "After")

    def _about_column(self, column: Mapping[str, Any], values: str, labels: str) -> str:
        """How far the column is generalized."""
        if not column["level"]:
            return f"Unchanged: {values}."
        mixed = column.get("records_at")
        if mixed is None:
            return f"Level {column['level']}: {values} become {labels}."
        height = self._standing.found.heights[column["name"]]
        return f"Levels {level_words(mixed, height)}, by class: {values} become {labels}."

    def _bars(self, bars: Sequence[Mapping[str, Any]], key: str, caption: str) -> None:
        numbers = self._frame.numbers
        total = sum(each[key] for each in bars) or 1
        most = max((each[key] for each in bars if not each["others"]), default=0) or total
        others = sum(each[key] for each in bars if each["others"])
        if others:
            share = numbers.percent(others / total, 1)
            text("p", f"Shown by name: what is frequent. All others: {share}.", "quiet small")
        outer = attributes(box("bars"), tabindex="0", role="region", aria_label=caption)
        with outer, box("", "ul"):
            for each in (bar for bar in bars if bar[key]):
                named = "all other values" if each["others"] else each["label"]
                name = "missing" if named is None else named
                share = numbers.percent(each[key] / total, 1)
                with box("bar-row", "li"):
                    text("span", name, "clip" if named is not None else "clip missing")
                    meter(min(each[key] / most, 1.0), f"{share}")
                    text("span", f"{numbers.count(round(each[key]))} ({share})", "num small")


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
    """One of two tables that scroll together."""
    with box("stack tight"):
        text("h3", caption)
        outer = attributes(box("records-box paired"), tabindex="0", role="region")
        attributes(outer, aria_label=caption, data_together="sample")
        with outer, box("records", "table"):
            with box("", "thead"), box("", "tr"):
                for name in columns:
                    attributes(text("th", name), scope="col")
            with box("", "tbody"):
                for row in rows:
                    with box("", "tr"):
                        for value in row:
                            look = "missing" if value is None else ""
                            text("td", "missing" if value is None else value, look)

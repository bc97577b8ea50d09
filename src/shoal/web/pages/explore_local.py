"""Explore for a local recoding: the levels of each column, the largest classes, the risk.

Each class has its own levels, so there is no lattice of nodes to walk through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.web.found import is_about, result_of
from shoal.web.laid_out import layout_of
from shoal.web.node_words import full_domain_words, loss_text
from shoal.web.pages.components import (
    attributes,
    badge,
    box,
    fact,
    hint,
    meter,
    note,
    panel,
    record_table,
    text,
)
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.risk_bars import show_risk

if TYPE_CHECKING:
    from shoal.web.found import Standing
    from shoal.web.jobs.model import Job
    from shoal.web.numbers import Numbers
    from shoal.web.pages.frame import StepFrame

NO_LATTICE = (
    "With local recoding each class has its own levels, so there is no lattice of nodes to choose "
    "from. You see here how far the records were generalized."
)


class ExploreLocal:
    """The page for a project whose search found a local recoding."""

    def __init__(self, frame: StepFrame, standing: Standing) -> None:
        self._frame, self._standing = frame, standing

    def build(self) -> None:
        """What the search found at once; classes and risk as soon as they are counted."""
        frame = self._frame
        with frame.main:
            note(NO_LATTICE)
            with panel("Levels of each column", "level"):
                said = "The released records at each level, with the most frequent label of each."
                text("p", said, "quiet")
                self._levels = box("mixed-levels", "ul")
                self._show_levels({})
            self._progress = JobProgress(
                frame.services, frame.user, frame.numbers, on_done=self._counted
            )
            self._content = box("stack loose")
        with frame.side:
            self._show_side()
        to = f"/project/{frame.project.id}"
        frame.primary("Compare before and after", to=f"{to}/compare")
        if is_about(frame.services, frame.project, "compare", self._standing):
            former = result_of(frame.services, frame.project, "compare")
            if former is not None:
                self._show(former)
                return
        layout = layout_of(frame.services, frame.project)
        arguments = {"layout": layout, **self._standing.arguments(), "raw": False}
        self._progress.follow(frame.submit("compare", arguments).id)

    def _counted(self, job: Job) -> None:
        self._show(self._frame.services.jobs.result(job.id, self._frame.user.name))

    def _show_levels(self, examples: Mapping[str, Mapping[str, str | None]]) -> None:
        found, numbers = self._standing.found, self._frame.numbers
        self._levels.clear()
        with self._levels:
            for name, levels in found.levels.items():
                lost = loss_text(numbers, found.losses[name], found.loss_model, 1)
                with box("stack tight", "li"):
                    with box("line between"):
                        text("h3", name, "clip")
                        text("span", f"{lost} lost", "num small")
                    shown = examples.get(name, {})
                    level_bars(numbers, name, levels, found.heights[name], shown)

    def _show_side(self) -> None:
        found, numbers = self._standing.found, self._frame.numbers
        with box("with-hint"):
            text("h2", "Levels by class")
            hint("recoding")
        with box("line tight"):
            badge("optimum" if found.proved else "best found", "best")
        with box("facts"):
            fact("At least alike (k)", numbers.count(found.k), term="k-anonymity")
            fact("Lost", loss_text(numbers, found.loss, found.loss_model), term="loss")
            bound = loss_text(numbers, found.bound, found.loss_model)
            fact("Bound", bound, "for any local recoding", term="bound")
            of = f"of {numbers.count(found.records)}"
            fact("Left out", numbers.count(found.suppressed), of, term="suppression")
        other = full_domain_words(numbers, found.full_domain, found.loss_model)
        if other:
            text("p", other, "small")
        text(
            "p",
            "For other levels change the demand: limits and priorities of the columns, or the "
            "records that may be left out.",
            "small",
        )

    def _show(self, plain: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        self._show_levels({each["name"]: each["examples"] for each in plain["columns"]})
        self._content.clear()
        with self._content:
            with panel("The largest classes", "class"):
                shown = numbers.of(len(plain["largest"]), plain["classes"], "classes")
                text("p", f"{shown}, with the labels that are released.", "quiet")
                rows = [
                    [*each["labels"], numbers.count(each["records"])] for each in plain["largest"]
                ]
                names = [*plain["levels"], "records"]
                record_table(names, rows, caption="Largest classes", numbers=["records"])
            with panel("Risk of being recognised"):
                show_risk(self._frame, plain)


def level_bars(
    numbers: Numbers,
    name: str,
    levels: Mapping[str, int],
    height: int,
    examples: Mapping[str, str | None],
) -> None:
    """A bar for each level of a column: the released records that have it, and one label."""
    total = sum(levels.values()) or 1
    with attributes(box("level-bars", "ul"), aria_label=f"Records at each level of {name}"):
        for level in range(height + 1):
            records = levels.get(str(level), 0)
            share = numbers.percent(records / total, 1)
            with box("bar-row" if records else "bar-row quiet", "li"):
                with box("level-name"):
                    text("span", f"level {level}")
                    text("span", _shown(examples.get(str(level), "")), "quiet small clip")
                meter(records / total, share)
                text("span", f"{numbers.count(records)} ({share})", "num small")


def _shown(label: str | None) -> str:
    return "missing" if label is None else label

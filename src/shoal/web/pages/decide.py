"""Step 8: one sentence, the warnings, accept or decline. Nothing is written before acceptance."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.web.found import Standing, is_about, is_current, result_of, standing_of
from shoal.web.laid_out import layout_of
from shoal.web.node_words import level_words, loss_text, node_text, release_sentence
from shoal.web.pages.components import (
    box,
    button,
    dialog,
    fact,
    local_time,
    note,
    panel,
    record_table,
    text,
)
from shoal.web.pages.frame import step_page
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.released import ReleasedPanel
from shoal.web.pages.searched import say_search_first
from shoal.web.pages.theme import static
from shoal.web.project_definition import RELEASE_FORMATS
from shoal.web.release_files import release_arguments, with_format
from shoal.web.security import user_of
from shoal.web.tasks.release import accepted_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.pages.frame import StepFrame
    from shoal.web.services import Services

LONGEST_REASON = 500


def register(services: Services) -> None:
    """The page `/project/ID/decide`."""

    @ui.page("/project/{id}/decide")
    def decide(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        ui.add_head_html(f'<link rel="stylesheet" href="{static("nodes.css")}">')
        with step_page(services, user, project, "decide") as frame:
            with frame.main:
                frame.title("Decide", "Nothing is written before you accept.")
            standing = standing_of(services, project)
            if standing is None:
                say_search_first(frame)
                with frame.main:
                    _show_former(frame, None)
                return
            DecidePage(frame, standing).build()


def _show_former(frame: StepFrame, standing: Standing | None) -> None:
    """A release that was made before can still be had; it says so where it is outdated."""
    plain = result_of(frame.services, frame.project, "release")
    if plain is not None:
        same = (
            standing is not None
            and is_about(frame.services, frame.project, "release", standing)
            and plain["result"]["levels"] == dict(standing.levels)
        )
        ReleasedPanel(frame, former=True, outdated=not same).build()


class DecidePage:
    """The page for a project whose search is done: propose, decide, release, download."""

    def __init__(self, frame: StepFrame, standing: Standing) -> None:
        self._frame, self._standing = frame, standing
        decision = frame.project.decision or {}
        wanted = str(decision.get("format"))
        self._format = wanted if wanted in RELEASE_FORMATS else "csv"
        self._ticks: list[ui.checkbox] = []
        self._accept: ui.button | None = None
        self._seen: dict[str, Any] = {}

    def build(self) -> None:
        """The release where there is one, else the proposal."""
        frame = self._frame
        with frame.main:
            self._content = box("stack")
            self._progress = JobProgress(
                frame.services,
                frame.user,
                frame.numbers,
                on_done=self._proposed,
                on_problem=self._cannot,
            )
            self._releasing = JobProgress(
                frame.services,
                frame.user,
                frame.numbers,
                on_done=self._released,
                on_problem=self._cannot,
                can_stop=True,
            )
        with frame.side:
            self._side = box("stack")
        if self._accepted_now():
            self._follow_release()
        elif self._declined_now():
            self._show_declined()
        else:
            self._propose()

    def _is_about_this(self) -> bool:
        """Whether the decision was about the project as it is now, and what was found."""
        frame, decision = self._frame, self._frame.project.decision or {}
        same = all(decision.get(key) == each for key, each in self._standing.subject().items())
        return same and is_current(frame.services, frame.project, "decision")

    def _accepted_now(self) -> bool:
        decision = self._frame.project.decision or {}
        return decision.get("accepted") is True and self._is_about_this()

    def _declined_now(self) -> bool:
        decision = self._frame.project.decision or {}
        return decision.get("accepted") is False and self._is_about_this()

    def _propose(self) -> None:
        """Compute what would be released; a former release is shown above it."""
        frame = self._frame
        self._content.clear()
        with self._content:
            _show_former(frame, self._standing)
        project = with_format(frame.project, self._format)
        arguments = {
            "layout": layout_of(frame.services, project),
            **self._standing.arguments(),
        }
        job = frame.services.jobs.submit(
            "propose", arguments, owner=frame.user.name, project=frame.project.id
        )
        self._progress.follow(job.id)

    def _cannot(self, job: Job) -> None:  # noqa: ARG002 the problem is shown by the progress
        frame = self._frame
        self._side.clear()
        with self._side:
            text("p", "Nothing was written.")
        frame.clear_actions()
        frame.primary("Change the demand", to=f"/project/{frame.project.id}/demand")
        if frame.project.decision is not None:
            frame.secondary("Decide again", self._decide_again)

    def _proposed(self, job: Job) -> None:
        frame = self._frame
        plain = frame.services.jobs.result(job.id, frame.user.name)
        self._seen = accepted_of(plain["result"])
        with self._content:
            self._show_proposal(plain)
        self._side.clear()
        with self._side:
            self._show_side(plain["result"])
        self._accept = frame.primary("Accept and release", self._on_accept)
        frame.secondary("Decline", self._ask_reason)
        self._enable()

    def _show_proposal(self, plain: Mapping[str, Any]) -> None:
        frame, result = self._frame, plain["result"]
        with panel(classes="decision"):
            text("p", release_sentence(frame.numbers, result), "sentence")
            self._show_choice()
        if result["warnings"]:
            with panel("Read these warnings first"):
                self._show_warnings(result["warnings"])
        with panel("What becomes of each column"):
            record_table(
                ["column", "level", "most frequent before", "becomes", "different values"],
                [self._example(each, result["levels"]) for each in plain["examples"]],
                caption="Columns",
            )
        with panel("The largest classes", "class"):
            names = [each["attribute"] for each in plain["examples"]]
            rows = [
                [*each["labels"], frame.numbers.count(each["records"])] for each in plain["largest"]
            ]
            record_table([*names, "records"], rows, caption="Largest classes", numbers=["records"])

    def _show_choice(self) -> None:
        """Whether it is the best, or a node that the custodian chose."""
        found, standing = self._standing.found, self._standing
        if standing.is_local:
            text("p", self._about_local(), "quiet")
        elif not standing.is_best:
            best = node_text(found.levels.values())
            text("p", f"You chose this node. The best one is {best}.", "quiet")
        elif found.proved:
            text("p", "It is proved that no other node that keeps the promise loses less.", "quiet")
        else:
            text("p", "The search was stopped: a better node may exist.", "quiet")

    def _about_local(self) -> str:
        """What local recoding means, and how good this one is."""
        found = self._standing.found
        bound = loss_text(self._frame.numbers, found.bound, found.loss_model)
        means = "Each class has its own levels, so a column holds labels of several levels."
        if found.proved:
            return f"{means} It is proved that no local recoding loses less."
        stopped = "" if found.is_repeatable else "The search was stopped: a better one may exist. "
        return f"{means} {stopped}No local recoding can lose less than {bound}."

    def _show_warnings(self, warnings: list[Mapping[str, Any]]) -> None:
        self._ticks = []
        for each in warnings:
            with note(each["text"], "warning"):
                text("div", each["code"], "code")
                tick = ui.checkbox("I have read this and accept it", on_change=self._enable)
                self._ticks.append(tick)

    def _example(self, each: Mapping[str, Any], levels: Mapping[str, Any]) -> list[str | None]:
        numbers, name = self._frame.numbers, each["attribute"]
        before = each["before"] if each["before"] is not None else "none is frequent"
        values = f"{numbers.count(each['values'])} to {numbers.count(each['labels'])}"
        level = level_words(levels[name], self._standing.found.heights[name])
        return [name, level, before, each["after"], values]

    def _show_side(self, result: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        with box("facts"):
            fact(
                "Records released",
                numbers.count(result["records"] - result["removed"] - result["suppressed"]),
            )
            fact("Smallest class", numbers.count(result["smallest_class"]), term="k-anonymity")
            fact("Classes", numbers.count(result["classes"]), term="class")
        for each in result["privacy"]:
            of = f" of {each['attribute']}" if each["attribute"] else ""
            reached = numbers.plain(each["reached"])
            text("p", f"{each['model']}{of}: {each['demanded']}, reached {reached}.", "small")
        choice = ui.select(dict(RELEASE_FORMATS), value=self._format, label="Format of the release")
        choice.props("outlined dense").on_value_change(lambda event: self._change(event.value))

    def _change(self, ending: str) -> None:
        """Another format may have other limits: propose again."""
        self._format = ending
        self._side.clear()
        self._frame.clear_actions()
        self._propose()

    def _enable(self) -> None:
        if self._accept is not None:
            self._accept.enabled = all(tick.value for tick in self._ticks)

    def _on_accept(self) -> None:
        """The one place where a release begins."""
        frame = self._frame
        if not all(tick.value for tick in self._ticks):
            return
        decision = {
            "accepted": True,
            "when": time.time(),
            "format": self._format,
            **self._standing.subject(),
        }
        project = frame.save(decision=decision)
        arguments = release_arguments(frame.services, project, self._standing)
        arguments["accepted"] = self._seen
        frame.services.audit.record(frame.user.name, "accepted a release", f"project {project.id}")
        job = frame.submit("release", arguments)
        frame.note_job("decision", job.id)
        self._follow_release()

    def _follow_release(self) -> None:
        frame = self._frame
        self._content.clear()
        self._side.clear()
        frame.clear_actions()
        job = frame.project.jobs.get("release")
        if job is None or not is_current(frame.services, frame.project, "release"):
            self._propose()
        elif result_of(frame.services, frame.project, "release") is not None:
            self._show_release()
        else:
            self._releasing.follow(job)

    def _released(self, job: Job) -> None:
        self._frame.services.audit.record(self._frame.user.name, "released", f"job {job.id}")
        self._show_release()

    def _show_release(self) -> None:
        self._content.clear()
        with self._content:
            ReleasedPanel(self._frame).build()
        self._side.clear()
        with self._side:
            text("p", "The release was counted afresh after it was written, and is safe.")
            text(
                "p", "A change of the definition makes it outdated: then you decide again.", "quiet"
            )
        self._frame.secondary("Decide again", self._decide_again)
        self._frame.primary(
            "Download the release",
            to=f"/project/{self._frame.project.id}/download/release",
            icon="download",
        )

    def _ask_reason(self) -> None:
        def go() -> None:
            shown.close()
            self._decline(reason.value)

        with dialog("Decline this release?") as shown:
            said = "Nothing is written. The reason is kept with the project and in the audit log."
            text("p", said)
            reason = ui.textarea("Reason").props(f"outlined maxlength={LONGEST_REASON} autofocus")
            with box("line"):
                button("Decline", go, kind="danger")
                button("Go back", shown.close, kind="quiet")
        shown.open()

    def _decline(self, reason: str | None) -> None:
        frame, said = self._frame, " ".join((reason or "").split())[:LONGEST_REASON]
        decision = {
            "accepted": False,
            "when": time.time(),
            "reason": said,
            "format": self._format,
            **self._standing.subject(),
        }
        project = frame.save(decision=decision)
        frame.note_job("decision", "")
        why = f": {said}" if said else ""
        frame.services.audit.record(
            frame.user.name, f"declined a release{why}", f"project {project.id}"
        )
        self._show_declined()

    def _show_declined(self) -> None:
        frame, decision = self._frame, self._frame.project.decision or {}
        self._content.clear()
        self._side.clear()
        frame.clear_actions()
        with self._content, note("Nothing was written.", "info", title="Declined"):
            if decision.get("reason"):
                text("div", f"Reason: {decision['reason']}")
            local_time(float(decision.get("when", 0)), full=True)
        with self._side:
            other = "" if self._standing.is_local else "choose another node, "
            text("p", f"You can {other}change the demand, or decide again.")
        if self._standing.is_local:
            frame.primary("Change the demand", to=f"/project/{frame.project.id}/demand")
        else:
            frame.primary("Explore other nodes", to=f"/project/{frame.project.id}/explore")
        frame.secondary("Decide again", self._decide_again)

    def _decide_again(self) -> None:
        frame = self._frame
        frame.save(decision=None)
        frame.clear_actions()
        self._side.clear()
        self._propose()

"""The side panel of Explore: what one node gives, beside the best one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.laid_out import layout_of
from shoal.web.node_words import loss_text, node_text, one_in
from shoal.web.pages.components import badge, box, button, fact, hint, meter, text
from shoal.web.pages.job_progress import JobProgress

if TYPE_CHECKING:
    from shoal.web.found import Standing
    from shoal.web.jobs.model import Job
    from shoal.web.pages.frame import StepFrame

QUALITIES = {
    "granularity": "Granularity",
    "non_uniform_entropy": "Entropy",
    "discernibility": "Discernibility",
    "record_level_squared_error": "Squared error of records",
}
"""The measures of use that are shown, and what they are called."""

TO_THE_SIDE = "if (innerWidth <= 700) document.querySelector('.side').scrollIntoView()"
"""On a small screen the description is below the picture: go there after a click."""


class NodePanel:
    """Describes one node at a time; a node that was described before is shown at once."""

    def __init__(
        self,
        frame: StepFrame,
        standing: Standing,
        on_choose: Callable[[Mapping[str, int]], Any],
    ) -> None:
        self._frame, self.standing, self._on_choose = frame, standing, on_choose
        self.levels: Mapping[str, int] = standing.levels
        self._known: dict[tuple[int, ...], dict[str, Any]] = {}
        self._job = ""
        self._moved = False
        self._head = box("stack tight")
        self._progress = JobProgress(
            frame.services, frame.user, frame.numbers, on_done=self._described, can_cancel=False
        )
        self._body = box("stack")

    def show(self, levels: Mapping[str, int]) -> None:
        """Describe this node."""
        self.levels = dict(levels)
        self._show_head()
        self._body.clear()
        known = self._known.get(tuple(levels.values()))
        if known is not None:
            self._show_body(known)
            return
        services, user = self._frame.services, self._frame.user
        if self._job:
            services.jobs.cancel(self._job, user.name)
        arguments = {
            "layout": layout_of(services, self._frame.project),
            "levels": self.levels,
        }
        job = services.jobs.submit(
            "node", arguments, owner=user.name, project=self._frame.project.id
        )
        self._job = job.id
        self._progress.follow(job.id)

    def _described(self, job: Job) -> None:
        self._job = ""
        try:
            plain = self._frame.services.jobs.result(job.id, self._frame.user.name)
        except ShoalError:
            return
        levels = plain["node"]["levels"]
        self._known[tuple(levels.values())] = plain
        if dict(levels) == dict(self.levels):
            self._body.clear()
            self._show_body(plain)

    def _show_head(self) -> None:
        found, best = self.standing.found, dict(self.standing.found.levels) == dict(self.levels)
        self._head.clear()
        with self._head:
            with box("with-hint"):
                text("h2", node_text(self.levels.values()))
                hint("node")
            with box("line tight"):
                if best:
                    badge("optimum" if found.proved else "best found", "best")
                if dict(self.levels) == dict(self.standing.levels):
                    badge("chosen")

    def _show_body(self, plain: Mapping[str, Any]) -> None:
        node = plain["node"]
        with self._body:
            self._show_safety(node)
            with box("facts"):
                self._show_numbers(node, plain)
            self._show_against(node, plain["loss_model"])
            self._show_button(node)
            self._show_columns(node, plain["loss_model"])
            self._show_risk(node, plain["before"])
            self._show_use(node)
        if self._moved:
            ui.run_javascript(TO_THE_SIDE)
        self._moved = True

    def _show_safety(self, node: Mapping[str, Any]) -> None:
        if node["safe"]:
            badge("\N{CHECK MARK} safe", "safe")
            return
        badge("\N{MULTIPLICATION X} not safe", "unsafe")
        with box("small", "ul"):
            for fault in node["faults"]:
                text("li", fault)

    def _show_numbers(self, node: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        smallest = f"{numbers.count(node['k_of_all'])} with nothing left out"
        fact("At least alike (k)", numbers.count(node["k"]), smallest, term="k-anonymity")
        fact("Lost", loss_text(numbers, node["loss"], plain["loss_model"]), term="loss")
        allowed = f"of {numbers.count(plain['records'])}; {numbers.count(plain['limit'])} may be"
        fact("Left out", numbers.count(node["suppressed"]), allowed, term="suppression")
        fact("Classes", numbers.count(node["classes"]), term="class")

    def _show_against(self, node: Mapping[str, Any], model: str) -> None:
        """The node beside the best one, whose numbers the search has said."""
        best, numbers = self.standing.found, self._frame.numbers
        if node["levels"] == dict(best.levels) or node["loss"] is None:
            return
        named = "optimum" if best.proved else "best found"
        here, there = (loss_text(numbers, each, model) for each in (node["loss"], best.loss))
        lost = "as much is lost" if here == there else f"{here} is lost instead of {there}"
        out, instead = (numbers.count(each) for each in (node["suppressed"], best.suppressed))
        left = "as many" if out == instead else f"{out} instead of {instead}"
        levels = node_text(best.levels.values())
        said = f"Against the {named} {levels}: {lost}, {left} records are left out."
        text("p", said, "small")

    def _show_button(self, node: Mapping[str, Any]) -> None:
        if dict(node["levels"]) == dict(self.standing.levels):
            return
        levels = dict(node["levels"])
        made = button("Choose this one", lambda: self._on_choose(levels), icon="check")
        made.enabled = bool(node["safe"])

    def _show_columns(self, node: Mapping[str, Any], model: str) -> None:
        numbers = self._frame.numbers
        if not node["columns"]:
            return
        text("h3", "Each column")
        with box("node-columns", "ul"):
            for each in node["columns"]:
                lost = loss_text(numbers, each["loss"], model, 1)
                with box("", "li"):
                    with box("line between"):
                        text("span", each["name"], "strong clip")
                        text("span", f"{lost} lost", "num small")
                    meter(min(each["loss"], 1.0), f"{each['name']}: {lost} lost")
                    what = f"level {each['level']} of {each['height']}"
                    if each["level"]:
                        what += (
                            f", {numbers.things(each['values'], 'value')} to "
                            f"{numbers.things(each['labels'], 'label')} such as {each['example']}"
                        )
                    text("div", what, "quiet small clip")

    def _show_risk(self, node: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
        numbers, risk = self._frame.numbers, node["risk"]
        if risk is None:
            return
        text("h3", "Risk of being recognised")
        highest, average = (one_in(numbers, risk[each]) for each in ("highest", "average"))
        said = f"At most {highest}, on average {average}."
        if before is not None:
            alone = numbers.of(before["alone"], before["records"])
            said += f" In the original {alone} are alone with their values."
        text("p", said, "small")

    def _show_use(self, node: Mapping[str, Any]) -> None:
        numbers = self._frame.numbers
        shown = {name: node["quality"][name] for name in QUALITIES if name in node["quality"]}
        if not shown:
            return
        text("h3", "What is still there")
        with box("node-use small", "dl"):
            for name, quality in shown.items():
                text("dt", QUALITIES[name], "quiet")
                text("dd", numbers.percent(quality or 0.0, 1), "num")

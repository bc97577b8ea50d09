"""Step 6: the lattice, the best solutions, the frontier; click a node to see what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.web.found import Standing, is_current, result_of, standing_of
from shoal.web.laid_out import layout_of
from shoal.web.node_words import loss_text, node_text
from shoal.web.pages.components import (
    badge,
    box,
    button,
    panel,
    record_table,
    text,
)
from shoal.web.pages.explore_frontier import FrontierTab
from shoal.web.pages.explore_local import ExploreLocal
from shoal.web.pages.explore_node import NodePanel
from shoal.web.pages.frame import step_page
from shoal.web.pages.job_progress import JobProgress
from shoal.web.pages.lattice_picture import LatticePicture, ShownNode
from shoal.web.pages.searched import say_search_first
from shoal.web.pages.theme import static
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.web.jobs.model import Job
    from shoal.web.pages.frame import StepFrame
    from shoal.web.services import Services

ABOUT = "Every way to generalize, what it protects and what it costs."
ABOUT_LOCAL = "How far each column is generalized, and what that protects."
BEST, SECONDS = 12, 60.0
"""So many of the best nodes are listed, looked for no longer than this."""


def register(services: Services) -> None:
    """The page `/project/ID/explore`."""

    @ui.page("/project/{id}/explore")
    def explore(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        ui.add_head_html(f'<link rel="stylesheet" href="{static("nodes.css")}">')
        with step_page(services, user, project, "explore") as frame:
            standing = standing_of(services, project)
            is_local = standing is not None and standing.is_local
            with frame.main:
                frame.title("Explore", ABOUT_LOCAL if is_local else ABOUT)
            if standing is None:
                say_search_first(frame)
            elif standing.is_local:
                ExploreLocal(frame, standing).build()
            else:
                ExplorePage(frame, standing).build()


class ExplorePage:
    """The page for a project whose search is done."""

    def __init__(self, frame: StepFrame, standing: Standing) -> None:
        self.frame, self.standing = frame, standing
        self._nodes: list[Mapping[str, Any]] = []
        self._picture: LatticePicture | None = None

    def build(self) -> None:
        """Lattice and frontier as tabs, the clicked node at the side."""
        frame = self.frame
        with frame.side:
            self._node = NodePanel(frame, self.standing, self._choose)
        with frame.main:
            with ui.tabs().props("align=left no-caps inline-label").classes("tabs") as tabs:
                lattice = ui.tab("Lattice")
                frontier = ui.tab("Frontier")
            with ui.tab_panels(tabs, value=lattice, animated=False).classes("tab-panels"):
                with ui.tab_panel(lattice).classes("stack"):
                    self._build_lattice()
                with ui.tab_panel(frontier).classes("stack"):
                    FrontierTab(frame, self.standing).build()
        frame.primary("Compare before and after", to=f"/project/{frame.project.id}/compare")
        self._node.show(self.standing.levels)

    def _build_lattice(self) -> None:
        frame = self.frame
        with panel("Nodes", "lattice"):
            self._about = text("p", "", "quiet")
            self._progress = JobProgress(
                frame.services, frame.user, frame.numbers, on_done=self._counted
            )
            self._drawn = box("stack tight")
        with panel("Best solutions", "loss"):
            self._listing = JobProgress(
                frame.services, frame.user, frame.numbers, on_done=self._listed, can_stop=True
            )
            self._list = box("stack tight")
        self._count(self.standing.levels)
        self._list_best()

    def _count(self, around: Mapping[str, int]) -> None:
        """Show the nodes that were counted before, or count them."""
        plain = self._former("lattice")
        start = list(around.values())
        if plain is not None and (plain["complete"] or plain["start"] == start):
            self._draw(plain)
            return
        arguments = {
            "layout": layout_of(self.frame.services, self.frame.project),
            "around": dict(around),
            "also": [dict(self.standing.found.levels)],
        }
        self._progress.follow(self.frame.submit("lattice", arguments).id)

    def _former(self, purpose: str) -> dict[str, Any] | None:
        services, project = self.frame.services, self.frame.project
        if not is_current(services, project, purpose):
            return None
        return result_of(services, project, purpose)

    def _counted(self, job: Job) -> None:
        self._draw(self.frame.services.jobs.result(job.id, self.frame.user.name))

    def _draw(self, plain: Mapping[str, Any]) -> None:
        """The picture, its legend, and the same as a table."""
        numbers, nodes = self.frame.numbers, plain["nodes"]
        self._nodes = nodes
        safe = sum(each["safe"] for each in nodes)
        shown = f"{numbers.count(len(nodes))} of {numbers.things(plain['lattice'], 'node')}"
        if plain["complete"]:
            shown = f"All {numbers.things(len(nodes), 'node')}"
        self._about.text = (
            f"{shown}, {numbers.count(safe)} of them safe: {plain['demanded']}. A node is a level "
            "for each column, in this order:"
        )
        self._drawn.clear()
        with self._drawn:
            with box("lattice-names small", "ol"):
                for name in plain["names"]:
                    text("li", name, "clip")
            _legend()
            label = "The lattice, the most general node at the top. Arrow keys move, Enter chooses."
            self._picture = LatticePicture(self._shown(), label, self._clicked)
            self._picture.select(self._index(self._node.levels))
            if not plain["complete"]:
                with box("line"):
                    button("Show the nodes around the described one", self._walk, small=True)
            with box("as-table", "details"):
                text("summary", "The same as a table")
                self._as_table(plain["names"])

    def _shown(self) -> list[ShownNode]:
        return [self._shown_node(each) for each in self._nodes]

    def _shown_node(self, each: Mapping[str, Any]) -> ShownNode:
        numbers, node = self.frame.numbers, list(each["node"])
        model = self.standing.found.loss_model
        best = node == list(self.standing.found.levels.values())
        chosen = node == list(self.standing.levels.values())
        lost = loss_text(numbers, each["loss"], model, 1)
        words = ["safe" if each["safe"] else "not safe"]
        words += ["the optimum" if self.standing.found.proved else "the best found"] * best
        words += ["chosen"] * chosen
        return ShownNode(
            levels=node,
            name=node_text(node),
            k=numbers.count(each["k"]),
            lost=lost if each["loss"] is not None else "\N{EN DASH}",
            says=(
                f"{node_text(node)}: {', '.join(words)}; k {numbers.count(each['k'])}, "
                f"lost {lost}, {numbers.things(each['suppressed'], 'record')} left out"
            ),
            safe=each["safe"],
            best=best,
            chosen=chosen,
        )

    def _as_table(self, names: Sequence[str]) -> None:
        numbers = self.frame.numbers
        heading = [*names, "k", "lost", "precision", "left out", "safe"]
        rows = [
            [
                *map(str, each["node"]),
                shown.k,
                shown.lost,
                numbers.percent(each["precision"], 1),
                numbers.count(each["suppressed"]),
                "optimum" if shown.best else "safe" if shown.safe else "no",
            ]
            for each, shown in zip(self._nodes, self._shown(), strict=True)
        ]
        record_table(heading, rows, caption="Nodes", numbers=heading[:-1])

    def _index(self, levels: Mapping[str, int]) -> int:
        wanted = list(levels.values())
        found = (i for i, each in enumerate(self._nodes) if list(each["node"]) == wanted)
        return next(found, -1)

    def _clicked(self, number: int) -> None:
        each = self._nodes[number]
        levels = dict(zip(self.standing.levels, each["node"], strict=True))
        self._describe(levels)

    def _describe(self, levels: Mapping[str, int]) -> None:
        if self._picture is not None:
            self._picture.select(self._index(levels))
        self._node.show(levels)

    def _walk(self) -> None:
        """Count the nodes around the one that is described."""
        self._drawn.clear()
        self._picture = None
        self._count(self._node.levels)

    def _choose(self, levels: Mapping[str, int]) -> None:
        """The custodian takes this node in place of the best one."""
        best = dict(levels) == dict(self.standing.found.levels)
        self.frame.save(chosen=None if best else dict(levels))
        self.standing = Standing(dict(levels), best, self.standing.found)
        self._node.standing = self.standing
        if self._picture is not None:
            self._picture.show(self._shown())
        self._node.show(levels)
        ui.notify(f"{node_text(levels.values())} is chosen")

    def _list_best(self) -> None:
        plain = self._former("solutions")
        if plain is not None:
            self._show_list(plain)
            return
        layout = layout_of(self.frame.services, self.frame.project)
        arguments = {"layout": layout, "best": BEST, "seconds": SECONDS}
        self._listing.follow(self.frame.submit("solutions", arguments).id)

    def _listed(self, job: Job) -> None:
        self._show_list(self.frame.services.jobs.result(job.id, self.frame.user.name))

    def _show_list(self, plain: Mapping[str, Any]) -> None:
        numbers, model = self.frame.numbers, self.standing.found.loss_model
        self._list.clear()
        with self._list:
            if plain["complete"]:
                said = "Proved: no other node is as good as these."
            else:
                proved = numbers.count(plain["proved"])
                said = f"The first {proved} are proved to be the best; better ones may exist."
            text("p", said, "quiet")
            with box("solution-list", "ol"):
                for number, each in enumerate(plain["solutions"], 1):
                    self._solution(number, each, model)

    def _solution(self, number: int, each: Mapping[str, Any], model: str) -> None:
        numbers, levels = self.frame.numbers, each["levels"]
        with box("", "li"):
            row = button("", lambda: self._describe(levels), kind="quiet").classes("solution")
            name = node_text(levels.values())
            with row:
                text("span", f"{number}", "solution-rank num")
                text("span", name, "solution-node strong")
                text("span", f"k {numbers.count(each['k'])}", "num")
                text("span", f"{loss_text(numbers, each['loss'], model)} lost", "num")
                text("span", f"{numbers.count(each['suppressed'])} left out", "num quiet")


def _legend() -> None:
    with box("lattice-legend small"):
        badge("\N{BLACK CIRCLE} safe", "safe")
        badge("\N{WHITE CIRCLE} not safe", "unsafe")
        badge("\N{BLACK STAR} optimum", "best")
        badge("\N{FISHEYE} chosen")
        text("span", "In the circle: the smallest class (k), and what is lost.", "quiet")

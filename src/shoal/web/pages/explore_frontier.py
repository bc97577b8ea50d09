"""The second tab of Explore: what another k or another suppression limit would cost."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from shoal.web.found import SHARES as LOSSES_AS_SHARES
from shoal.web.found import is_current, result_of
from shoal.web.laid_out import layout_of
from shoal.web.node_words import loss_text, node_text
from shoal.web.pages.components import (
    INK_2,
    attributes,
    axis,
    box,
    button,
    chart,
    dialog,
    empty_state,
    panel,
    text,
)
from shoal.web.pages.job_progress import JobProgress

if TYPE_CHECKING:
    from shoal.web.found import Standing
    from shoal.web.jobs.model import Job
    from shoal.web.pages.frame import StepFrame

KS = (2, 3, 5, 10, 20, 50, 100)
SHARES = (0.0, 0.01, 0.05, 0.1)
SECONDS = 120.0
COLOURS = (
    "var(--accent)",
    "var(--role-sensitive)",
    "var(--role-keep)",
    "var(--best)",
    "var(--ink-2)",
)
SYMBOLS = ("circle", "rect", "triangle", "diamond", "pin")


class FrontierTab:
    """Loss over k, a line for each suppression share; a click asks, then changes the demand."""

    def __init__(self, frame: StepFrame, standing: Standing) -> None:
        self._frame, self._standing = frame, standing
        self._points: list[Mapping[str, Any]] = []

    def build(self) -> None:
        """What was drawn before, or the button to draw it."""
        frame = self._frame
        with panel("What another demand would cost", "loss"):
            said = "Each point is the least loss that keeps a promise: so many records alike (k)."
            text("p", f"{said} Each line is a share of records that may be left out.", "quiet")
            self._progress = JobProgress(
                frame.services, frame.user, frame.numbers, on_done=self._done, can_stop=True
            )
            self._content = box("stack")
        services, project = frame.services, frame.project
        if is_current(services, project, "frontier"):
            plain = result_of(services, project, "frontier")
            if plain is not None:
                self._show(plain)
                return
        with (
            self._content,
            empty_state("show_chart", "Not drawn yet", "It searches once for each point."),
        ):
            button("Draw the frontier", self._start, icon="show_chart")

    def _start(self) -> None:
        frame = self._frame
        self._content.clear()
        k = int(frame.project.definition.get("k", 5))
        arguments = {
            "layout": layout_of(frame.services, frame.project),
            "k": sorted({*KS, k}),
            "suppression": list(SHARES),
            "seconds": SECONDS,
        }
        self._progress.follow(frame.submit("frontier", arguments).id)

    def _done(self, job: Job) -> None:
        self._show(self._frame.services.jobs.result(job.id, self._frame.user.name))

    def _show(self, plain: Mapping[str, Any]) -> None:
        self._points = plain["points"]
        self._content.clear()
        with self._content:
            if not plain["complete"]:
                text("p", f"Not all points are proved ({plain['ended']}).", "quiet")
            self._draw()
            text("h3", "The same as a table: choose a demand")
            self._table()

    def _lines(self) -> list[tuple[float, list[Mapping[str, Any]]]]:
        by_share = groupby(self._points, key=lambda each: each["suppression"])
        return [(share, list(points)) for share, points in by_share]

    def _draw(self) -> None:
        model = self._standing.found.loss_model
        factor = 100 if model in LOSSES_AS_SHARES else 1
        series = [
            {
                "type": "line",
                "name": self._frame.numbers.percent(share),
                "symbol": SYMBOLS[i % len(SYMBOLS)],
                "symbolSize": 10,
                "itemStyle": {"color": COLOURS[i % len(COLOURS)]},
                "lineStyle": {"color": COLOURS[i % len(COLOURS)], "width": 2},
                "data": [
                    [str(each["k"]), each["loss"] * factor]
                    for each in points
                    if each["loss"] is not None
                ],
            }
            for i, (share, points) in enumerate(self._lines())
        ]
        options = {
            "xAxis": axis("category", "k", data=[str(k) for k in self._ks()]),
            "yAxis": axis("value", "lost, in percent" if factor == 100 else "loss", scale=True),
            "legend": {"textStyle": {"color": INK_2}, "bottom": 0, "type": "scroll"},
            "grid": {"left": 8, "right": 32, "top": 32, "bottom": 40, "containLabel": True},
            "series": series,
        }
        label = f"Least loss by k, a line for each share that may be left out, measured by {model}"
        drawn = chart(options, label, height="340px")
        drawn.on_point_click(self._clicked)
        now = self._frame.project.definition
        said = f"Now: k {now.get('k', 5)}, up to {now.get('suppression', 0)} left out."
        text("p", said, "quiet")

    def _ks(self) -> list[int]:
        return sorted({each["k"] for each in self._points})

    def _share(self, share: float) -> str:
        return f"{self._frame.numbers.percent(share)} left out"

    def _clicked(self, event: events.EChartPointClickEventArguments) -> None:
        lines = self._lines()
        if not 0 <= event.series_index < len(lines) or not isinstance(event.data, list):
            return
        points = lines[event.series_index][1]
        point = next((each for each in points if str(each["k"]) == str(event.data[0])), None)
        if point is not None:
            self._ask(point)

    def _table(self) -> None:
        numbers = self._frame.numbers
        lines = self._lines()
        outer = attributes(box("records-box"), tabindex="0", role="region", aria_label="Demands")
        with outer, box("records", "table"):
            with box("", "thead"), box("", "tr"):
                attributes(text("th", "k"), scope="col")
                for share, _ in lines:
                    attributes(text("th", self._share(share), "number"), scope="col")
            with box("", "tbody"):
                for k in self._ks():
                    with box("", "tr"):
                        attributes(text("th", numbers.count(k)), scope="row")
                        for _, points in lines:
                            self._cell(next(each for each in points if each["k"] == k))

    def _cell(self, point: Mapping[str, Any]) -> None:
        with box("number", "td"):
            if point["loss"] is None:
                words = {"infeasible": "no solution", "unknown": "not known"}
                text("span", words.get(point["status"], ""), "quiet")
                return
            shown = loss_text(self._frame.numbers, point["loss"], self._standing.found.loss_model)
            made = button(shown, lambda: self._ask(point), kind="quiet", small=True)
            share = self._share(point["suppression"])
            attributes(made, aria_label=f"k {point['k']}, {share}: {shown} lost")

    def _ask(self, point: Mapping[str, Any]) -> None:
        """The demand changes only after a second click."""
        numbers, model = self._frame.numbers, self._standing.found.loss_model
        share = numbers.percent(point["suppression"])
        with dialog("Change the demand?") as shown:
            text("p", f"At least {numbers.count(point['k'])} alike, up to {share} left out.")
            levels = node_text(point["levels"].values())
            lost = loss_text(numbers, point["loss"], model)
            out = f"{numbers.things(point['suppressed'], 'record')} left out"
            text("p", f"The best node is then {levels}: {lost} lost, {out}.")
            text(
                "p",
                "What was found with the present demand becomes outdated: you search again.",
                "quiet",
            )
            with box("line"):
                button("Change the demand", lambda: self._change(point), kind="primary")
                button("Leave it", shown.close, kind="quiet")
        shown.open()

    def _change(self, point: Mapping[str, Any]) -> None:
        project = self._frame.project
        share = f"{point['suppression'] * 100:.6g}%"
        definition = {**project.definition, "k": point["k"], "suppression": share}
        self._frame.save(definition=definition, chosen=None)
        ui.navigate.to(f"/project/{project.id}/search")

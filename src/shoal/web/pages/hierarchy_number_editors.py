"""Editors of hierarchies of numbers, over the histogram: equal intervals, and cut points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.hierarchies import cut_points
from shoal.web.pages.components import attributes, box, button, icon_button, labelled, text
from shoal.web.pages.hierarchy_step_editors import StepList

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.web.pages.hierarchy_step_editors import Edited

MOST_EDGES = 120
"""More edges of a level are not drawn: they would be a grey bar."""


class NumberLine(ui.element, component="../static/number_line.js"):
    """A histogram with the edges of each level; movable edges are sliders."""

    def __init__(self, counts: Mapping[str, int], label: str) -> None:
        super().__init__()
        bins = cut_points.histogram(counts)
        self.low = bins[0][0] if bins else 0.0
        self.high = bins[-1][1] if bins else 1.0
        self.step = cut_points.step_of(self.low, self.high)
        if all("." not in value and "e" not in value.lower() for value in counts):
            self.step = max(1.0, self.step)
        self.props["bins"] = bins
        self.props["low"], self.props["high"] = self.low, self.high
        self.props["step"] = self.step
        self.props["label"] = label
        self.props["rows"] = []

    def show(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Draw these levels: each with `name`, `edges`, and whether they are `movable`."""
        self.props["rows"] = list(rows)
        self.update()


def edit_intervals(hierarchy: Mapping[str, Any], edited: Edited) -> None:
    """The width of each level, where intervals begin, and what lies below or above."""
    said = dict(hierarchy)
    widths = said["intervals"]
    said["intervals"] = list(widths) if isinstance(widths, list | tuple) else [widths]
    text(
        "p",
        "Each level joins numbers to intervals; each width is a multiple of the one before.",
        "quiet",
    )
    line = NumberLine(edited.counts, "Histogram of the numbers, with the edges of each level")

    def draw() -> None:
        ends = [said[key] for key in ("bottom", "top") if said.get(key) is not None]
        rows = [
            {"name": f"Level {i + 1}", "edges": _edges(width, said, line), "movable": False}
            for i, width in enumerate(said["intervals"][:8])
        ]
        if ends:
            rows.append({"name": "Open ends", "edges": ends, "movable": True, "addable": False})
        line.show(rows)

    async def save() -> None:
        draw()
        await edited.change({key: value for key, value in said.items() if value is not None})

    async def set_widths(values: list[float]) -> None:
        said["intervals"] = [_plain(value) for value in values]
        await save()

    async def move(event: Any) -> None:
        ends = [key for key in ("bottom", "top") if said.get(key) is not None]
        key = next((each for each in ends if said[each] == event.args["from"]), None)
        if key is not None:
            said[key] = _plain(cut_points.snapped(event.args["to"], line.step))
            fields[key].value = said[key]

    line.on("move", move)
    draw()
    with box("two"):
        with box("stack tight"):
            labelled("Width at each level")
            StepList(said["intervals"], "wide", set_widths, _twice)
        with box("stack tight"):
            labelled("Ends")
            fields = {
                "bottom": _end("All below this share one interval", said, "bottom", save),
                "top": _end("All from this upwards share one interval", said, "top", save),
                "origin": _end("Intervals are counted from", said, "origin", save),
            }


def _end(label: str, said: dict[str, Any], key: str, save: Callable[[], Any]) -> ui.number:
    async def changed(event: Any) -> None:
        said[key] = None if event.value is None else _plain(event.value)
        await save()

    field = ui.number(label, value=said.get(key), on_change=changed)
    return field.props("outlined dense debounce=400 clearable")


def _edges(width: float, said: Mapping[str, Any], line: NumberLine) -> list[float]:
    """The edges of a level inside the range, none where they would be too many to see."""
    origin = said.get("origin") or 0
    low, high = line.low, line.high
    if said.get("bottom") is not None:
        low = max(low, said["bottom"])
    if said.get("top") is not None:
        high = min(high, said["top"])
    if not width or width <= 0 or (high - low) / width > MOST_EDGES or high < low:
        return []
    first = int((low - origin) // width)
    edges = [origin + index * width for index in range(first, first + MOST_EDGES + 2)]
    return [edge for edge in edges if low <= edge <= high]


def _twice(values: list[float]) -> float:
    return _plain(2 * values[-1]) if values else 5


def _plain(value: float) -> float:
    """A whole number without its point: a definition says 5, not 5.0."""
    return int(value) if float(value).is_integer() else value


class CutsEditor:
    """Cut points on the number line: moved, added and removed, with fields beside them."""

    def __init__(self, hierarchy: Mapping[str, Any], edited: Edited) -> None:
        levels = hierarchy["cuts"]
        if levels and not isinstance(levels[0], list | tuple):
            levels = [levels]
        self._cuts: cut_points.Cuts = tuple(tuple(map(float, points)) for points in levels)
        self._edited = edited
        text(
            "p",
            "Each level cuts the numbers at points. Drag a point, click on the line of a level to "
            "add one, press Delete to remove it. A point of a level is one of all levels before.",
            "quiet",
        )
        self._line = NumberLine(edited.counts, "Histogram of the numbers, with the cut points")
        self._line.on("move", self._move)
        self._line.on("add", self._add)
        self._line.on("remove", self._remove)
        self._fields = box("steps-list")
        self._inputs: list[ui.input] = []
        self._show()

    def _show(self) -> None:
        self._line.show(
            [
                {"name": f"Level {i + 1}", "edges": list(points), "movable": True, "addable": True}
                for i, points in enumerate(self._cuts)
            ]
        )
        if len(self._inputs) != len(self._cuts):
            self._build_fields()
        for field, points in zip(self._inputs, self._cuts, strict=True):
            field.value = ", ".join(str(_plain(point)) for point in points)

    def _build_fields(self) -> None:
        self._fields.clear()
        self._inputs = []
        with self._fields:
            for level in range(len(self._cuts)):
                with box("step-line"):
                    text("span", f"Level {level + 1}", "name")
                    field = ui.input().props("outlined dense").classes("wide")
                    attributes(field, aria_label=f"Level {level + 1}: cut points")
                    field.on("change", self._setter(level, field))
                    self._inputs.append(field)
                    remove = icon_button(
                        "close", f"Remove level {level + 1}", self._level_remover(level)
                    )
                    remove.enabled = len(self._cuts) > 1
            button("Add a level", self._add_level, icon="add", small=True)

    async def _save(self, cuts: cut_points.Cuts) -> None:
        self._cuts = cuts
        self._show()
        levels = [[_plain(point) for point in points] for points in cuts]
        await self._edited.change({"cuts": levels})

    async def _move(self, event: Any) -> None:
        to = cut_points.snapped(event.args["to"], self._line.step)
        await self._save(cut_points.move_point(self._cuts, event.args["from"], to))
        self._line.run_method("activate", event.args["row"], to)

    async def _add(self, event: Any) -> None:
        point = cut_points.snapped(event.args["value"], self._line.step)
        await self._save(cut_points.add_point(self._cuts, event.args["row"], point))
        self._line.run_method("activate", event.args["row"], point)

    async def _remove(self, event: Any) -> None:
        args = event.args
        await self._save(cut_points.remove_point(self._cuts, args["row"], args["value"]))

    async def _add_level(self) -> None:
        await self._save(cut_points.add_level(self._cuts))

    def _level_remover(self, level: int) -> Callable[[], Any]:
        async def remove() -> None:
            await self._save(cut_points.remove_level(self._cuts, level))

        return remove

    def _setter(self, level: int, field: ui.input) -> Callable[[], Any]:
        async def changed() -> None:
            try:
                points = {float(part) for part in field.value.replace(";", ",").split(",")}
            except ValueError:
                field.props["error-message"] = "write numbers, separated by commas"
                field.props["error"] = True
                field.update()
                return
            field.props["error"] = False
            field.update()
            cuts = self._cuts
            for point in set(cuts[level]) - points:
                cuts = cut_points.remove_point(cuts, level, point)
            for point in points - set(cuts[level]):
                cuts = cut_points.add_point(cuts, level, point)
            await self._save(cuts)

        return changed

"""Best and bound over the time of a search, closing on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.found import SHARES
from shoal.web.pages.components import ACCENT, INK_2, INK_3, axis, chart

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers

Moment = tuple[float, float | None, float]
"""Seconds since the search began, the loss of the best node, the bound."""
REDRAW_SECONDS = 0.4
MOST_POINTS = 400


@dataclass
class SearchChart:
    """A chart that is redrawn a few times a second while moments come in."""

    numbers: Numbers
    loss_model: str
    _moments: list[Moment] = field(default_factory=list)
    _is_new: bool = False

    def __post_init__(self) -> None:
        self._chart = chart(self._options(), "Best found and bound over time", height="340px")
        self._clock = ui.timer(REDRAW_SECONDS, self._redraw)

    def clear(self) -> None:
        """Begin a new search."""
        self._moments.clear()
        self._is_new = True

    def add(self, seconds: float, best: float | None, bound: float) -> None:
        """A moment at which something was known."""
        self._moments.append((seconds, best, max(bound, 0.0)))
        if len(self._moments) > MOST_POINTS:
            del self._moments[1:-1:2]
        self._is_new = True

    def show(self, moments: Sequence[Moment]) -> None:
        """Show a search that has ended."""
        self._moments = list(moments)
        self._is_new = True
        self._redraw()

    def _redraw(self) -> None:
        if self._is_new:
            self._is_new = False
            self._chart.options.update(self._options())
            self._chart.update()

    def _options(self) -> dict[str, Any]:
        shares = self.loss_model in SHARES
        scale = 100 if shares else 1
        last = self._moments[-1][0] if self._moments else 1.0
        best = [[s, round(b * scale, 4)] for s, b, _ in self._moments if b is not None]
        bound = [[s, round(low * scale, 4)] for s, _, low in self._moments]
        if len(bound) == 1:
            best, bound = [[0.0, y] for _, y in best] + best, [[0.0, y] for _, y in bound] + bound
        return {
            "legend": {
                "top": 0,
                "left": 0,
                "icon": "rect",
                "itemWidth": 18,
                "itemHeight": 3,
                "textStyle": {"color": INK_2},
            },
            "tooltip": {
                "trigger": "axis",
                "backgroundColor": "var(--surface)",
                "borderColor": "var(--line)",
                "textStyle": {"color": "var(--ink)"},
            },
            "grid": {"left": 8, "right": 24, "top": 56, "bottom": 24, "containLabel": True},
            "xAxis": axis(
                "value",
                "seconds",
                min=0,
                max=max(round(last, 3), 0.001),
                nameLocation="middle",
                nameGap=28,
                splitLine={"show": False},
                axisLabel={"color": INK_2, "showMaxLabel": False},
            ),
            "yAxis": axis("value", "loss in percent" if shares else "loss", scale=True),
            "series": [
                _line("best found", best, ACCENT, "solid"),
                _line("no recoding can lose less", bound, INK_3, "dashed"),
            ],
        }


def _line(name: str, data: list[list[float]], colour: str, kind: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "line",
        "step": "end",
        "data": data,
        "showSymbol": len(data) <= 2,
        "symbolSize": 7,
        "lineStyle": {"color": colour, "width": 2, "type": kind},
        "itemStyle": {"color": colour},
        "emphasis": {"disabled": True},
    }

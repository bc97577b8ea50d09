"""Curves through points on plain axes, as SVG that needs nothing from outside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from shoal.report.drawing import COLOURS
from shoal.report.shown import Picture

LEFT, TOP, WIDTH, HEIGHT = 74, 40, 600, 320
DASHES = ("", "7 4", "2 3", "9 3 2 3")


@dataclass(frozen=True)
class Curve:
    """A named curve: points by rising x; those at `hollow` are drawn hollow."""

    name: str
    points: tuple[tuple[float, float], ...]
    hollow: frozenset[float] = frozenset()


def draw_curves(
    title: str, across: str, up: str, curves: Sequence[Curve], said: Sequence[str]
) -> Picture:
    """The curves with their names beside them, and lines of text below."""
    points = [point for curve in curves for point in curve.points]
    xs = _ticks(*_range([x for x, _ in points]), whole=True)
    ys = _ticks(*_range([0.0, *(y for _, y in points)]), whole=False)

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * WIDTH,
            TOP + (ys[-1] - y) / (ys[-1] - ys[0]) * HEIGHT,
        )

    marks = [f'<text x="{LEFT}" y="20" font-weight="600" fill="#1b2a33">{escape(title)}</text>']
    marks += _axes(xs, ys, across, up)
    for number, curve in enumerate(curves):
        positions = [at(*point) for point in curve.points]
        marks += _curve(number, curve, positions)
    marks += [
        f'<text x="{LEFT}" y="{TOP + HEIGHT + 62 + 18 * i}">{escape(line)}</text>'
        for i, line in enumerate(said)
    ]
    width = LEFT + WIDTH + 44 + 8 * max((len(curve.name) for curve in curves), default=0)
    height = TOP + max(HEIGHT, 22 * len(curves)) + 58 + 18 * len(said)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" style="max-width:100%;height:auto" role="img" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#52646f">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(marks)}</svg>"
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest value, never the same; 0 to 1 where there is none."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low, low + 1)


def _ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Round numbers from below `low` to above `high`, some five to ten of them."""
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    while (high - low) / step > 9:
        step *= 2 if round(step / 10 ** math.floor(math.log10(step) + 1e-9)) != 2 else 2.5
    if whole:
        step = max(1.0, round(step))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _axes(xs: Sequence[float], ys: Sequence[float], across: str, up: str) -> Iterator[str]:
    """Lines of the grid with their numbers, and what the axes are."""
    for y in ys:
        top = TOP + (ys[-1] - y) / (ys[-1] - ys[0]) * HEIGHT
        yield f'<path d="M{LEFT} {top:.1f}h{WIDTH}" stroke="#dfe6ea"/>'
        yield f'<text x="{LEFT - 8}" y="{top + 4:.1f}" text-anchor="end">{y:.6g}</text>'
    for x in xs:
        left = LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * WIDTH
        yield f'<path d="M{left:.1f} {TOP}v{HEIGHT}" stroke="#eef2f4"/>'
        yield (f'<text x="{left:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{x:.6g}</text>')
    yield (
        f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">'
        f"{escape(across)}</text>"
    )
    yield f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">{escape(up)}</text>'


def _curve(number: int, curve: Curve, positions: Sequence[tuple[float, float]]) -> Iterator[str]:
    """A line through the points, the points, and the name beside the chart."""
    colour = COLOURS[number % len(COLOURS)]
    dashes = DASHES[number % len(DASHES)]
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    if positions:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in positions)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for (x, value), (left, top) in zip(curve.points, positions, strict=True):
        fill = "#fff" if x in curve.hollow else colour
        yield (
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="3.5" fill="{fill}" stroke="{colour}" '
            f'stroke-width="1.5"><title>{escape(curve.name)}: {x:.6g}, {value:.6f}</title></circle>'
        )
    key = TOP + 8 + 22 * number
    yield (
        f'<path d="M{LEFT + WIDTH + 14} {key}h22" stroke="{colour}" stroke-width="3"{dash}/>'
        f'<text x="{LEFT + WIDTH + 42}" y="{key + 4}">{escape(curve.name)}</text>'
    )

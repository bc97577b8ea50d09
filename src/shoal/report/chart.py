"""Curves that fall in steps, over time on a logarithmic axis: as characters, and as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COLOURS = ("#1f6f8b", "#c8553d", "#588b3a", "#7a4fa3", "#c29005", "#4a5560", "#b23a78", "#2a9d8f")
LEFT, TOP, WIDTH, HEIGHT = 74, 16, 560, 300


@dataclass(frozen=True)
class Line:
    """A named curve: points of seconds and value, each value held until the next, to the end."""

    name: str
    points: tuple[tuple[float, float], ...]
    end: float


@dataclass(frozen=True)
class Frame:
    """What part of the plane a chart shows; `x` and `y` are shares of its width and height."""

    first: float
    last: float
    low: float
    high: float

    def x(self, seconds: float) -> float:
        """From 0 at the left to 1 at the right."""
        span = math.log(self.last / self.first)
        return math.log(min(max(seconds, self.first), self.last) / self.first) / span

    def y(self, value: float) -> float:
        """From 0 at the top to 1 at the bottom."""
        return (self.high - value) / (self.high - self.low)


def frame_of(lines: Sequence[Line]) -> Frame:
    """The frame that holds all lines, with a little room."""
    times = [seconds for line in lines for seconds, _ in line.points] + [x.end for x in lines]
    values = [value for line in lines for _, value in line.points]
    room = (max(values) - min(values)) * 0.06 or max(abs(values[0]) * 0.05, 0.01)
    first = 10 ** math.floor(math.log10(max(min(times), 1e-3)))
    last = max(*times, first * 10)
    return Frame(first, last, min(values) - room, max(values) + room)


def plain_chart(lines: Sequence[Line], width: int = 66, height: int = 14) -> Iterator[str]:
    """The chart in characters, a letter for each line, and what the letters mean."""
    if not lines:
        yield "(nothing was found)"
        return
    frame = frame_of(lines)
    grid = [[" "] * width for _ in range(height)]
    for letter, line in reversed(list(zip(LETTERS, lines, strict=False))):
        for column in range(width):
            seconds = frame.first * (frame.last / frame.first) ** (column / (width - 1))
            held = [value for at, value in line.points if at <= seconds]
            if held and seconds <= max(line.end, line.points[-1][0]) * 1.0001:
                grid[round(frame.y(held[-1]) * (height - 1))][column] = letter
    for number, row in enumerate(grid):
        value = frame.high - (frame.high - frame.low) * number / (height - 1)
        label = f"{value:.4f}" if number % 4 == 0 or number == height - 1 else ""
        yield f"{label:>9} |{''.join(row)}".rstrip()
    yield f"{'':>9} +{'-' * width}"
    ends = f"{frame.first:g} s"
    last = f"{frame.last:.3g} s"
    yield f"{'':>11}{ends}{last:>{width - len(ends)}}"
    legend = zip(LETTERS, lines, strict=False)
    yield f"{'':>11}{', '.join(f'{letter} {line.name}' for letter, line in legend)}"


def svg_chart(lines: Sequence[Line]) -> str:
    """The chart as SVG that needs nothing from outside."""
    if not lines:
        return "<p>Nothing was found.</p>"
    frame = frame_of(lines)
    height = max(HEIGHT, 22 * len(lines))
    marks = "".join((*_grid(frame, height), *_curves(frame, lines, height)))
    return (
        f'<svg viewBox="0 0 {LEFT + WIDTH + 150} {TOP + height + 48}" role="img" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#52646f">'
        f"<title>Loss over time</title>{marks}</svg>"
    )


def _grid(frame: Frame, height: int) -> Iterator[str]:
    for step in range(5):
        value = frame.low + (frame.high - frame.low) * step / 4
        y = TOP + frame.y(value) * height
        yield f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#dfe6ea"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.4f}</text>'
    seconds = frame.first
    while seconds <= frame.last * 1.0001:
        x = LEFT + frame.x(seconds) * WIDTH
        yield f'<path d="M{x:.1f} {TOP}v{height}" stroke="#eef2f4"/>'
        yield f'<text x="{x:.1f}" y="{TOP + height + 18}" text-anchor="middle">{seconds:g}</text>'
        seconds *= 10
    middle = LEFT + WIDTH / 2
    yield f'<text x="{middle}" y="{TOP + height + 38}" text-anchor="middle">seconds</text>'


def _curves(frame: Frame, lines: Sequence[Line], height: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="6 3"' if number >= len(COLOURS) else ""
        at, value = line.points[0]
        path = f"M{LEFT + frame.x(at) * WIDTH:.1f} {TOP + frame.y(value) * height:.1f}"
        for at, value in line.points[1:]:
            path += f"H{LEFT + frame.x(at) * WIDTH:.1f}V{TOP + frame.y(value) * height:.1f}"
        end = LEFT + frame.x(max(line.end, at)) * WIDTH
        path += f"H{end:.1f}"
        y = TOP + frame.y(value) * height
        yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        yield f'<circle cx="{end:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
        key = TOP + 8 + 22 * number
        yield f'<path d="M{LEFT + WIDTH + 14} {key}h22" stroke="{colour}" stroke-width="3"{dash}/>'
        yield f'<text x="{LEFT + WIDTH + 42}" y="{key + 4}">{escape(line.name)}</text>'

"""Curves that fall in steps, over time on a logarithmic axis: as characters, and as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoal.report.drawing import WIDTH, Drawing, line, text

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COLOURS = ("#2f86a6", "#c8553d", "#588b3a", "#9467bd", "#b8860b", "#7d8d98", "#c2488a", "#2a9d8f")
"""Colours of lines, each to be seen on white and on black."""

NOTHING = "nothing was found"
LEFT, TOP, HEIGHT = 52, 10, 190
PLOT = WIDTH - LEFT - 6


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
    times = [seconds for each in lines for seconds, _ in each.points] + [x.end for x in lines]
    values = [value for each in lines for _, value in each.points]
    room = (max(values) - min(values)) * 0.06 or max(abs(values[0]) * 0.05, 0.01)
    first = 10 ** math.floor(math.log10(max(min(times), 1e-3)))
    last = max(*times, first * 10)
    low = min(values) - room
    return Frame(first, last, max(low, 0.0) if min(values) >= 0 else low, max(values) + room)


def plain_chart(lines: Sequence[Line], width: int = 66, height: int = 14) -> Iterator[str]:
    """The chart in characters, a letter for each line, and what the letters mean."""
    if not lines:
        yield f"({NOTHING})"
        return
    frame = frame_of(lines)
    grid = [[" "] * width for _ in range(height)]
    for letter, each in reversed(list(zip(LETTERS, lines, strict=False))):
        for column in range(width):
            seconds = frame.first * (frame.last / frame.first) ** (column / (width - 1))
            held = [value for at, value in each.points if at <= seconds]
            if held and seconds <= max(each.end, each.points[-1][0]) * 1.0001:
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
    yield f"{'':>11}{', '.join(f'{letter} {each.name}' for letter, each in legend)}"


def chart(lines: Sequence[Line], title: str, shows: str) -> Drawing:
    """The lines as a picture, with what each is called below."""
    frame = frame_of(lines)
    marks = "".join((*_grid(frame), *_curves(frame, lines)))
    return Drawing(title, shows, marks, TOP + HEIGHT + 46 + 20 * len(lines))


def _grid(frame: Frame) -> Iterator[str]:
    for value in _ticks(frame.low, frame.high):
        y = TOP + frame.y(value) * HEIGHT
        yield line(f"M{LEFT} {y:.1f}h{PLOT}", "line")
        yield text(LEFT - 6, y + 4, f"{value:g}", anchor="end", tone="soft", room=LEFT)
    powers = round(math.log10(frame.last / frame.first))
    seconds = frame.first
    while seconds <= frame.last * 1.0001:
        x = LEFT + frame.x(seconds) * PLOT
        yield line(f"M{x:.1f} {TOP}v{HEIGHT}", "line")
        if round(math.log10(seconds / frame.first)) % (1 + powers // 6) == 0:
            anchor = "end" if x > WIDTH - 16 else "middle"
            label = f"{seconds:g}"
            yield text(x, TOP + HEIGHT + 16, label, anchor=anchor, tone="soft")
        seconds *= 10
    middle = LEFT + PLOT / 2
    yield text(middle, TOP + HEIGHT + 34, "seconds", anchor="middle", tone="soft")


def _ticks(low: float, high: float) -> list[float]:
    """Three to eight round numbers between two."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _curves(frame: Frame, lines: Sequence[Line]) -> Iterator[str]:
    for number, each in enumerate(lines):
        hue = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="6 3"' if number >= len(COLOURS) else ""
        at, value = each.points[0]
        path = f"M{LEFT + frame.x(at) * PLOT:.1f} {TOP + frame.y(value) * HEIGHT:.1f}"
        for at, value in each.points[1:]:
            path += f"H{LEFT + frame.x(at) * PLOT:.1f}V{TOP + frame.y(value) * HEIGHT:.1f}"
        end = LEFT + frame.x(max(each.end, at)) * PLOT
        path += f"H{end:.1f}"
        y = TOP + frame.y(value) * HEIGHT
        yield f'<path d="{path}" fill="none" stroke="{hue}" stroke-width="2"{dash}/>'
        yield f'<circle cx="{end:.1f}" cy="{y:.1f}" r="3.5" fill="{hue}"/>'
        key = TOP + HEIGHT + 54 + 20 * number
        yield f'<path d="M{LEFT} {key}h20" stroke="{hue}" stroke-width="3"{dash}/>'
        yield text(LEFT + 28, key + 4, each.name, room=WIDTH - LEFT - 28)

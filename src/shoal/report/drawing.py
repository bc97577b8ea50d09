"""Parts of pictures: text that fits, bars, lines, curves, and colours for light and dark pages.

A picture is as wide as a telephone, so that its text is never scaled down. Wider pages put several
beside each other. Colours are variables of the page with a light value beside them, which is used
where a picture stands alone.

`chart` and `plain_chart` show curves that fall in steps, over time on a logarithmic axis: as SVG,
and as characters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 340
FONT = "system-ui,-apple-system,'Segoe UI',sans-serif"
LANGUAGE = "http://www.w3.org/2000/svg"
LIGHT = {
    "ink": "#1b2a33",
    "soft": "#52646f",
    "line": "#dfe6ea",
    "paper": "#ffffff",
    "panel": "#f4f7f9",
    "before": "#8495a1",
    "after": "#1f6f8b",
    "out": "#c8553d",
    "best": "#b8860b",
    "safe": "#1e7d3c",
    "safe-paper": "#e8f5ec",
    "unsafe": "#b3261e",
    "unsafe-paper": "#fdeceb",
    "warn": "#8a5a00",
    "warn-paper": "#fff6e0",
}
DARK = {
    "ink": "#e6edf1",
    "soft": "#a9b8c2",
    "line": "#33424c",
    "paper": "#12191e",
    "panel": "#1a242b",
    "before": "#8495a1",
    "after": "#58b4d3",
    "out": "#ef8a72",
    "best": "#e3b341",
    "safe": "#4cc27a",
    "safe-paper": "#12301d",
    "unsafe": "#ff8a80",
    "unsafe-paper": "#3b1715",
    "warn": "#f0c060",
    "warn-paper": "#33280f",
}


@dataclass(frozen=True)
class Drawing:
    """A picture: what it is called, what it shows in a sentence, and its marks as SVG."""

    title: str
    shows: str
    marks: str
    height: float
    width: float = WIDTH

    @property
    def svg(self) -> str:
        """A whole SVG element that a screen reader can read out."""
        title, shows = escape(self.title), escape(self.shows)
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(f"{self.title}. {self.shows}")}" '
            f'font-family="{FONT}" font-size="12">'
            f"<title>{title}</title><desc>{shows}</desc>{self.marks}</svg>"
        )


def arrange(drawings: list[Drawing], title: str, shows: str) -> Drawing:
    """Several pictures as one, each under its title, in two columns of about the same height."""
    marks, ends, gap = [], [0.0, 0.0], 44
    for each in drawings:
        column = 0 if ends[0] <= ends[1] else 1
        x, y = column * (WIDTH + gap), ends[column]
        marks.append(text(x, y + 16, each.title, bold=True, size=13))
        marks.append(f'<g transform="translate({x:g} {y + 26:g})">{each.marks}</g>')
        ends[column] = y + each.height + gap
    width = WIDTH if ends[1] == 0 else 2 * WIDTH + gap
    return Drawing(title, shows, "".join(marks), max(ends), width)


def colour(name: str) -> str:
    """A colour of the page, with its light value where there is no page around."""
    return f"var(--{name},{LIGHT[name]})"


def variables(colours: dict[str, str]) -> str:
    """The colours as variables of a style."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def standing_alone(svg: str) -> str:
    """The same picture as a file of its own: light colours, its size, the name of its language."""
    plain = re.sub(r"var\(--[a-z-]+,([^)]+)\)", r"\1", svg)
    head, end, rest = plain.partition(">")
    size = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+)', head)
    if size and " width=" not in head:
        head += f' width="{size[1]}" style="max-width:100%;height:auto"'
    if "xmlns=" not in head:
        head = head.replace("<svg ", f'<svg xmlns="{LANGUAGE}" ', 1)
    return head + end + rest


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    tone: str = "ink",
    bold: bool = False,
    size: float = 12,
    width: float = WIDTH,
) -> str:
    """A line of text that is no wider than `width`; what was cut is in a tooltip."""
    shown = fitted(content, width, size * (1.08 if bold else 1))
    whole = f"<title>{escape(content)}</title>" if shown != content else ""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}"{weight} '
        f'fill="{colour(tone)}">{whole}{escape(shown)}</text>'
    )


def box(x: float, y: float, width: float, height: float, tone: str, extra: str = "") -> str:
    """A filled rectangle."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" '
        f'fill="{colour(tone)}" {extra}/>'
    )


def line(path: str, tone: str, width: float = 1, extra: str = "") -> str:
    """A path that is not filled."""
    return (
        f'<path d="{path}" fill="none" stroke="{colour(tone)}" stroke-width="{width:g}" {extra}/>'
    )


def fitted(content: str, width: float, size: float = 12) -> str:
    """The text, cut with an ellipsis where it is wider than `width`."""
    content = " ".join(content.split())
    if width_of(content, size) <= width:
        return content
    while content and width_of(content + "…", size) > width:
        content = content[:-1]
    return content.rstrip() + "…"


def width_of(content: str, size: float = 12) -> float:
    """About how wide a text is, rather too much than too little."""
    return sum(_share(character) for character in content) * size


def _share(character: str) -> float:
    """The width of a character as a share of the font size."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfr.,:;'|!()[] ":
        return 0.4
    if character in "mwMW@%—…" or not character.isascii():
        return 0.95
    return 0.7 if character.isupper() else 0.6


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
    """The frame that holds all lines, with a margin.

    It is never narrower than a hundredth of the values or a thousandth: ticks have few digits.
    """
    times = [seconds for each in lines for seconds, _ in each.points] + [x.end for x in lines]
    values = [value for each in lines for _, value in each.points]
    spread = max(values) - min(values)
    narrowest = max(max(map(abs, values)) * 0.01, 0.001)
    margin = max(spread * 0.06, (narrowest - spread) / 2) if spread else 5 * narrowest
    first = 10 ** math.floor(math.log10(max(min(times), 1e-3)))
    last = max(*times, first * 10)
    low = min(values) - margin
    return Frame(first, last, max(low, 0.0) if min(values) >= 0 else low, max(values) + margin)


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
        yield text(LEFT - 6, y + 4, f"{value:g}", anchor="end", tone="soft", width=LEFT)
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
        yield text(LEFT + 28, key + 4, each.name, width=WIDTH - LEFT - 28)

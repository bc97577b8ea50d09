"""Parts of pictures: text that fits, bars, lines, and the colours of the page in light and dark.

A picture is as wide as a telephone, so that its text is never scaled down. Wider pages put several
beside each other. Colours are variables of the page with a light value beside them, which is used
where a picture stands alone.
"""

from __future__ import annotations

import re
import unicodedata
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
    room: float = WIDTH,
) -> str:
    """A line of text that is no wider than its room; what was cut is in a tooltip."""
    shown = fitted(content, room, size * (1.08 if bold else 1))
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


def fitted(content: str, room: float, size: float = 12) -> str:
    """The text, cut with an ellipsis where it is wider than the room."""
    content = " ".join(content.split())
    if width_of(content, size) <= room:
        return content
    while content and width_of(content + "…", size) > room:
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

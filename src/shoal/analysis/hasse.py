"""A picture of a lattice: a row for each height, a line between neighbours, safe nodes marked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from shoal.report.shown import Picture

if TYPE_CHECKING:
    from shoal.search.problem import Lattice
    from shoal.values import Node

MOST_DRAWN, MOST_IN_A_ROW = 250, 24
"""A lattice of more nodes, or with more nodes of one height, is drawn in part."""

MOST_NEAR, MOST_NEAR_IN_A_ROW = 90, 12
"""The size of a neighbourhood."""

LETTER, LINE, GAP, ROW_GAP, MARGIN = 6.7, 15, 14, 46, 18
SAFE, UNSAFE, OPTIMUM = "#1e7d3c", "#8a97a0", "#c8553d"
FILLS = {SAFE: "#e8f5ec", UNSAFE: "#f4f6f7", OPTIMUM: "#fdf1ec"}


@dataclass(frozen=True)
class Drawn:
    """A node of a picture: its levels, a line that is said of it, whether it is safe."""

    node: Node
    says: str
    safe: bool


def fits_in_rows(nodes: Iterable[Node]) -> bool:
    """Whether a picture can show all these nodes."""
    rows = _by_height(nodes)
    sizes = [len(row) for row in rows.values()]
    return sum(sizes) <= MOST_DRAWN and max(sizes) <= MOST_IN_A_ROW


def neighbourhood(lattice: Lattice, start: Node, most: int = MOST_NEAR) -> list[Node]:
    """A node, what is directly below and above it, what is next to these, until the rows are full.

    In breadth-first order, so no node is left out for one that is further away, unless the row of
    its height was full.
    """
    nodes, left = [start], {sum(start): MOST_NEAR_IN_A_ROW - 1}
    seen = {start}
    for node in nodes:
        for near in (*_below(lattice, node), *(above for _, above in lattice.above(node))):
            height = sum(near)
            if near in seen or len(nodes) >= most:
                continue
            if left.setdefault(height, MOST_NEAR_IN_A_ROW) > 0:
                left[height] -= 1
                seen.add(near)
                nodes.append(near)
    return nodes


def that_fit(nodes: Iterable[Node]) -> list[Node]:
    """Those of the nodes that fit into a picture, the first ones first."""
    chosen: list[Node] = []
    left: dict[int, int] = {}
    for node in nodes:
        if len(chosen) < MOST_NEAR and left.setdefault(sum(node), MOST_NEAR_IN_A_ROW) > 0:
            left[sum(node)] -= 1
            chosen.append(node)
    return chosen


def draw(
    names: Sequence[str], nodes: Sequence[Drawn], optimum: Node | None, said: Sequence[str]
) -> Picture:
    """The nodes in rows, the most general at the top, with lines between direct neighbours.

    `said` are lines below the picture, beside the legend.
    """
    rows = _by_height(each.node for each in nodes)
    texts = {each.node: (_levels(each.node), each.says) for each in nodes}
    longest = max(len(text) for both in texts.values() for text in both)
    width = max(longest * LETTER + 16, 74)
    most = max(len(row) for row in rows.values())
    below = [f"Levels in the order of the columns: {', '.join(names)}.", *said]
    legend_width = max(len(line) for line in below) * LETTER + 2 * MARGIN
    full = max(most * (width + GAP) - GAP + 2 * MARGIN + 70, min(legend_width, 760), 520)
    heights = sorted(rows, reverse=True)
    at = dict(_places(rows, heights, width, full))
    bottom = MARGIN + len(heights) * (2 * LINE + 12 + ROW_GAP) - ROW_GAP + 30
    lines = list(_wrapped(below, int((full - 2 * MARGIN) / LETTER)))
    height = bottom + 26 + LINE * len(lines) + MARGIN
    marks = (
        *_edges(at, width, optimum),
        *_row_names(heights),
        *(_box(at[each.node], width, texts[each.node], _colour(each, optimum)) for each in nodes),
        *_legend(bottom, nodes, optimum),
        *(
            f'<text x="{MARGIN}" y="{bottom + 26 + LINE * i}">{escape(line)}</text>'
            for i, line in enumerate(lines)
        ),
    )
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full:.0f} {height:.0f}" '
        f'width="{full:.0f}" height="{height:.0f}" style="max-width:100%;height:auto" role="img" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#1b2a33">'
        f"<title>{escape(_title(nodes, optimum))}</title>"
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(marks)}</svg>'
    )


def _title(nodes: Sequence[Drawn], optimum: Node | None) -> str:
    """What a screen reader says of the picture."""
    safe = sum(each.safe for each in nodes)
    least = "" if optimum is None else f"; the least lossy safe one is {_levels(optimum)}"
    return f"{len(nodes)} nodes of the lattice, {safe} of them safe{least}"


def _levels(node: Node) -> str:
    return f"({','.join(map(str, node))})"


def _below(lattice: Lattice, node: Node) -> Iterator[Node]:
    """The nodes directly below a node."""
    for j, level in enumerate(node):
        if level > lattice.bottom[j]:
            yield (*node[:j], level - 1, *node[j + 1 :])


def _by_height(nodes: Iterable[Node]) -> dict[int, list[Node]]:
    """The nodes of each height, the lowest levels of the first attributes last."""
    rows: dict[int, list[Node]] = {}
    for node in sorted(nodes, reverse=True):
        rows.setdefault(sum(node), []).append(node)
    return rows


def _places(
    rows: Mapping[int, Sequence[Node]], heights: Sequence[int], width: float, full: float
) -> Iterator[tuple[Node, tuple[float, float]]]:
    """The left upper corner of each node; every row is centred."""
    for number, height in enumerate(heights):
        row = rows[height]
        left = 70 + (full - 70 - len(row) * (width + GAP) + GAP) / 2
        y = MARGIN + number * (2 * LINE + 12 + ROW_GAP)
        for i, node in enumerate(row):
            yield node, (left + i * (width + GAP), y)


def _edges(
    at: Mapping[Node, tuple[float, float]], width: float, optimum: Node | None
) -> Iterator[str]:
    """A line from each node to each node that is one level lower in one attribute."""
    for node, (x, y) in at.items():
        for j, level in enumerate(node):
            lower = (*node[:j], level - 1, *node[j + 1 :])
            if lower in at:
                to_x, to_y = at[lower]
                colour = OPTIMUM if optimum in (node, lower) else "#c4d0d7"
                yield (
                    f'<path d="M{x + width / 2:.1f} {y + 2 * LINE + 12:.1f}L{to_x + width / 2:.1f} '
                    f'{to_y:.1f}" stroke="{colour}" fill="none"/>'
                )


def _row_names(heights: Sequence[int]) -> Iterator[str]:
    for number, height in enumerate(heights):
        y = MARGIN + number * (2 * LINE + 12 + ROW_GAP) + LINE + 10
        yield f'<text x="{MARGIN}" y="{y}" fill="#52646f">height {height}</text>'


def _colour(each: Drawn, optimum: Node | None) -> str:
    return OPTIMUM if each.node == optimum else SAFE if each.safe else UNSAFE


def _box(at: tuple[float, float], width: float, texts: tuple[str, str], colour: str) -> str:
    """A node: its levels in bold, and below what is said of it. Unsafe ones have a dashed edge."""
    x, y = at
    style = 'stroke-width="3"' if colour == OPTIMUM else 'stroke-width="1.5"'
    style += ' stroke-dasharray="4 3"' if colour == UNSAFE else ""
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{2 * LINE + 12}" rx="6" '
        f'fill="{FILLS[colour]}" stroke="{colour}" {style}/>'
        f'<text x="{middle:.1f}" y="{y + LINE + 2:.1f}" text-anchor="middle" font-weight="600">'
        f"{escape(texts[0])}</text>"
        f'<text x="{middle:.1f}" y="{y + 2 * LINE + 2:.1f}" text-anchor="middle" fill="#52646f" '
        f'font-size="11">{escape(texts[1])}</text>'
    )


def _legend(y: float, nodes: Collection[Drawn], optimum: Node | None) -> Iterator[str]:
    """What the edges mean."""
    shown = {_colour(each, optimum) for each in nodes}
    meanings = {OPTIMUM: "least loss of all safe nodes", SAFE: "safe", UNSAFE: "not safe"}
    x = float(MARGIN)
    for colour, meaning in meanings.items():
        if colour in shown:
            dash = ' stroke-dasharray="4 3"' if colour == UNSAFE else ""
            wide = 3 if colour == OPTIMUM else 1.5
            yield (
                f'<rect x="{x:.0f}" y="{y - 12:.0f}" width="26" height="15" rx="4" '
                f'fill="{FILLS[colour]}" stroke="{colour}" stroke-width="{wide}"{dash}/>'
                f'<text x="{x + 34:.0f}" y="{y:.0f}">{meaning}</text>'
            )
            x += 34 + len(meaning) * LETTER + 24


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    import textwrap

    for line in lines:
        yield from textwrap.wrap(line, width)

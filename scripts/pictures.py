"""The drawings of the documentation: `python -m scripts.pictures` writes them to docs/images.

They are SVG with their own colours for light and dark pages. The lattice is counted by Shoal, so
its numbers are those of the worked example in docs/internals/example.md.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

import shoal

FOLDER = Path(__file__).parent.parent / "docs" / "images"

STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2933; }
.small { font-size: 12px; }
.mono { font: 12px ui-monospace, Menlo, Consolas, monospace; }
.head { font-weight: 600; }
.quiet { fill: #5b6673; }
.page { fill: #ffffff; }
.box { fill: #f4f6f8; stroke: #9aa5b1; }
.step { fill: #e0ecff; stroke: #2f6fd6; }
.good { fill: #dff5e4; stroke: #2b8a45; }
.bad { fill: #fde8e6; stroke: #c0392b; }
.line { stroke: #7b8794; fill: none; }
.tip { fill: #7b8794; }
.cut { fill: #c0392b; fill-opacity: .08; stroke: #c0392b; stroke-dasharray: 6 4; }
.cut-text { fill: #a93226; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb; }
  .quiet { fill: #a3afbb; }
  .page { fill: #12171d; }
  .box { fill: #1f2730; stroke: #6b7885; }
  .step { fill: #17345f; stroke: #6ea3f5; }
  .good { fill: #153d22; stroke: #5cc27a; }
  .bad { fill: #4a1c18; stroke: #ec7a6d; }
  .line { stroke: #8794a1; }
  .tip { fill: #8794a1; }
  .cut { fill: #ec7a6d; stroke: #ec7a6d; fill-opacity: .12; }
  .cut-text { fill: #f0958a; }
}
"""

EXAMPLE_ROWS = """34,81541
36,81541
31,81543
38,81547
23,81543
47,81671
44,81673
49,81671
42,81675
58,81671
52,81675
71,81929
"""

EXAMPLE_DEFINITION = """source: twelve.csv
output: three.csv
k: 3
suppression: 1
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 20]}}
  zip: {role: quasi-identifier, hierarchy: {mask: [1, 2, 5]}}
"""


@dataclass(frozen=True)
class Table:
    """Some rows to draw at a position, the first of them the names of the columns."""

    x: float
    y: float
    title: str
    rows: tuple[str, ...]

    def svg(self) -> str:
        """A frame with a title above it and a row for each line."""
        height = 18 * len(self.rows) + 14
        lines = [
            f'<text class="head" x="{self.x}" y="{self.y - 10}">{escape(self.title)}</text>',
            f'<rect class="box" x="{self.x}" y="{self.y}" width="252" height="{height}" rx="6"/>',
        ]
        for i, row in enumerate(self.rows):
            kind = "mono quiet" if i == 0 else "mono"
            lines.append(
                f'<text class="{kind}" xml:space="preserve" x="{self.x + 12}"'
                f' y="{self.y + 22 + 18 * i}">{escape(row)}</text>'
            )
        return "\n".join(lines)


def document(width: int, height: int, title: str, parts: list[str]) -> str:
    """A whole SVG file with the colours of both kinds of pages."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width}" height="{height}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def step(x: float, y: float, head: str, said: str, kind: str = "step") -> str:
    """A box of 200 by 50 with a heading and a line below it."""
    frame = f'<rect class="{kind}" x="{x}" y="{y}" width="200" height="50" rx="8"/>'
    return "\n".join(
        [frame, centred("head", x + 100, y + 21, head), centred("small", x + 100, y + 39, said)]
    )


def centred(kind: str, x: float, y: float, text: str) -> str:
    """A line of text around a point."""
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line to the right or down, with a tip at its end."""
    down = x1 == x2
    tip = (
        f"M{x2 - 5},{y2 - 8} L{x2},{y2} L{x2 + 5},{y2 - 8} Z"
        if down
        else f"M{x2 - 8},{y2 - 5} L{x2},{y2} L{x2 - 8},{y2 + 5} Z"
    )
    return f'<path class="line" d="M{x1},{y1} L{x2},{y2}"/><path class="tip" d="{tip}"/>'


def pipeline() -> str:
    """From a table over the steps of a run to a release, or to none."""
    source = Table(
        20,
        70,
        "Your table",
        (
            "birth       sex zip   diagnosis",
            "1957-03-02  f   81541 I50",
            "1954-11-19  f   81547 J18",
            "1951-06-30  f   81543 K80",
            "1966-01-12  m   81675 I50",
            "1968-08-08  m   81671 E11",
            "1963-05-24  m   81673 J18",
        ),
    )
    release = Table(
        648,
        70,
        "The release (k = 3)",
        (
            "birth       sex zip   diagnosis",
            "1950-1959   f   8154* I50",
            "1950-1959   f   8154* J18",
            "1950-1959   f   8154* K80",
            "1960-1969   m   8167* E11",
            "1960-1969   m   8167* I50",
            "1960-1969   m   8167* J18",
        ),
    )
    x = 360
    parts = [
        source.svg(),
        release.svg(),
        step(x, 14, "Count", "combinations of values"),
        step(x, 84, "Search", "the least loss, with a proof"),
        step(x, 154, "Write", "a staged file or table"),
        step(x, 224, "Count again", "what was really written"),
        step(674, 270, "Not safe", "nothing is published", "bad"),
        *(arrow(x + 100, y, x + 100, y + 20) for y in (64, 134, 204)),
        '<path class="line" d="M272,130 L308,130 L308,39"/>',
        arrow(308, 39, x, 39),
        f'<path class="line" d="M{x + 200},240 L604,240 L604,130"/>',
        arrow(604, 130, 648, 130),
        f'<text class="small" x="{x + 210}" y="232">safe</text>',
        f'<path class="line" d="M{x + 200},262 L604,262 L604,295"/>',
        arrow(604, 295, 674, 295),
    ]
    return document(920, 336, "How a run goes: count, search, write, count again", parts)


def lattice() -> str:
    """The 16 nodes of the worked example, with the two boxes that one count each cuts off."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "twelve.csv").write_text("age,zip\n" + EXAMPLE_ROWS, encoding="utf-8")
        definition = Path(folder, "twelve.yaml")
        definition.write_text(EXAMPLE_DEFINITION, encoding="utf-8")
        counted = shoal.lattice(definition)
    parts = [
        _cut((0, 0), (1, 3)),
        _cut((0, 0), (3, 0)),
        *_edges([each.node for each in counted.nodes]),
    ]
    best = tuple((counted.optimum or {}).values())
    for each in counted.nodes:
        x, y = _at(each.node)
        kind = "good" if each.node == best else "step" if each.safe else "box"
        width = 3 if each.node == best else 1
        out = "all out" if each.suppressed == 12 else f"{each.suppressed} out"
        frame = f'x="{x - 42}" y="{y - 21}" width="84" height="42" rx="8"'
        parts += [
            f'<rect class="{kind}" stroke-width="{width}" {frame}/>',
            centred("head", x, y - 3, f"{each.node[0]}, {each.node[1]}"),
            centred("small", x, y + 13, out),
        ]
    legend = [
        ("head", "Levels of age, zip; records left out"),
        ("small", "k = 3, at most one record may be left out."),
        ("small", "Green: the optimum. Blue: safe, and no better."),
        ("small cut-text", "Dashed: cut off. One count at the top node of"),
        ("small cut-text", "a box leaves out too many, so all below it do."),
    ]
    parts += [
        f'<text class="{kind}" x="18" y="{28 + 20 * i}">{escape(text)}</text>'
        for i, (kind, text) in enumerate(legend)
    ]
    return document(890, 585, "A lattice of 16 nodes; two counts cut off ten of them", parts)


def _at(node: tuple[float, ...]) -> tuple[float, float]:
    """Where a node is drawn: the most general node on top, one row for each height."""
    age, zip_code = node
    return 470 + 106 * (zip_code - age), 510 - 78 * (age + zip_code)


def _edges(nodes: list[tuple[int, ...]]) -> list[str]:
    found = []
    for node in nodes:
        x1, y1 = _at(node)
        for above in ((node[0] + 1, node[1]), (node[0], node[1] + 1)):
            if above in nodes:
                x2, y2 = _at(above)
                found.append(f'<path class="line" d="M{x1},{y1 - 21} L{x2},{y2 + 21}"/>')
    return found


def _cut(low: tuple[int, int], high: tuple[int, int]) -> str:
    """A dashed frame around all nodes between two nodes."""
    (left, bottom), (right, top) = low, high
    room = 0.42
    corners = [
        (left - room, bottom - room),
        (right + room, bottom - room),
        (right + room, top + room),
        (left - room, top + room),
    ]
    path = " L".join(f"{x:.0f},{y:.0f}" for x, y in map(_at, corners))
    return f'<path class="cut" stroke-linejoin="round" d="M{path} Z"/>'


PICTURES = {"pipeline.svg": pipeline, "lattice.svg": lattice}


def main() -> None:
    """Write every drawing."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Sections as HTML and as plain text. The HTML needs no other file: it carries its own style."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.report.sections import Section

PLAIN_WIDTH = 88
STYLE = """
.shoal{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1b2a33;background:#fff;
max-width:56rem;padding:.5rem 0}
.shoal h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}
.shoal h2{font-size:1.05rem;margin:1.6rem 0 .4rem;color:#1b2a33}
.shoal p{margin:.4rem 0}
.shoal .verdict{padding:.7rem 1rem;border-left:5px solid #1e7d3c;background:#e8f5ec;font-weight:600}
.shoal .unsafe{border-color:#b3261e;background:#fdeceb}
.shoal table{border-collapse:collapse;width:100%;margin:.3rem 0;font-size:inherit}
.shoal th,.shoal td{text-align:left;vertical-align:top;padding:.35rem 1rem .35rem 0;
border-bottom:1px solid #dfe6ea;overflow-wrap:anywhere;background:none;color:inherit}
.shoal thead th{font-weight:600;color:#52646f;border-bottom:2px solid #c4d0d7}
.shoal .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.shoal .bar{display:block;width:7rem;height:.55rem;margin-top:.5rem;background:#e4ebef}
.shoal .bar span{display:block;height:100%;background:#2f7f9f}
.shoal .facts td:first-child:not(:last-child){color:#52646f}
.shoal .facts td:first-child:not(:last-child){width:14rem}
.shoal code{font:.9em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
@media print{.shoal{max-width:none;font-size:10.5pt}.shoal tr,.shoal .verdict{break-inside:avoid}
.shoal h2{break-after:avoid}.shoal *{print-color-adjust:exact}}
"""


def html_card(sections: Iterable[Section], *, verified: bool = True) -> str:
    """Sections with their style, as a notebook shows them below a cell."""
    shown = html_sections(sections, verified=verified)
    return f'<style>{STYLE}</style><div class="shoal">{shown}</div>'


def html_page(title: str, body: str, *, width: int = 56, style: str = "") -> str:
    """A whole HTML page; the title is text, the body is HTML, the width is in rem."""
    name = escape(title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title>"
        f"<style>body{{margin:2rem auto;padding:0 1.5rem;max-width:{width}rem}}{STYLE}{style}"
        f'</style></head><body><div class="shoal"><h1>{name}</h1>{body}</div></body></html>\n'
    )


def html_sections(sections: Iterable[Section], *, verified: bool = True) -> str:
    """Sections as HTML; one without a title is the verdict."""
    return "".join(_section(section, verified=verified) for section in sections)


def _section(section: Section, *, verified: bool) -> str:
    kind = "" if section.title else f' class="verdict{"" if verified else " unsafe"}"'
    heading = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    lines = "".join(f"<p{kind}>{escape(line)}</p>" for line in section.lines)
    copy = f"<pre><code>{escape(section.copy)}</code></pre>" if section.copy else ""
    return f"{heading}{lines}{_table(section) if section.rows else ''}{copy}"


def _table(section: Section) -> str:
    """A table, with a bar at the end of each row where there are any."""
    heading = (*section.heading, "") if section.bars else section.heading
    head = f"<thead>{_line('th', map(escape, heading), section.numbers)}</thead>" if heading else ""
    bars: list[tuple[str, ...]] = [(_bar(share),) for share in section.bars]
    bars = bars or [()] * len(section.rows)
    body = "".join(
        _line("td", (*map(escape, row), *bar), section.numbers)
        for row, bar in zip(section.rows, bars, strict=True)
    )
    kind = "" if heading else ' class="facts"'
    return f"<table{kind}>{head}<tbody>{body}</tbody></table>"


def _line(tag: str, cells: Iterable[str], numbers: Sequence[int]) -> str:
    """A row of cells that are HTML already; `numbers` are aligned to the right."""
    marked = (
        f'<{tag} class="n">{cell}</{tag}>' if i in numbers else f"<{tag}>{cell}</{tag}>"
        for i, cell in enumerate(cells)
    )
    return f"<tr>{''.join(marked)}</tr>"


def _bar(share: float) -> str:
    return f'<span class="bar"><span style="width:{share:.1%}"></span></span>'


def plain_section(section: Section) -> Iterator[str]:
    """The lines of a section."""
    if section.title:
        yield section.title
        yield "-" * len(section.title)
    for line in section.lines:
        yield from textwrap.wrap(line, PLAIN_WIDTH)
    if section.rows:
        yield from _columns([section.heading, *section.rows], section.numbers)
    if section.copy:
        yield section.copy


def _columns(rows: Sequence[tuple[str, ...]], numbers: Sequence[int]) -> Iterator[str]:
    """Rows with their cells below each other."""
    filled = [row for row in rows if row]
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    for row in filled:
        cells = (
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()

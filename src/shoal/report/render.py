"""Sections as HTML, as plain text and as Markdown.

HTML needs no other file: it carries its own style, at the end of this file, and its pictures. Text
has none: the tables beside the pictures say the same.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from shoal.report.drawing import DARK, LIGHT, variables

if TYPE_CHECKING:
    from shoal.report.drawing import Drawing
    from shoal.report.sections import Section


def html_card(sections: Iterable[Section], *, verified: bool = True) -> str:
    """Sections with their style, as a notebook shows them below a cell."""
    shown = html_sections(sections, verified=verified)
    return f'<style>{CARD}</style><div class="shoal">{shown}</div>'


def html_page(
    title: str, sections: Iterable[Section], *, verified: bool = True, footer: str = ""
) -> str:
    """A whole HTML page: title, sections, and a line at the end."""
    name = escape(title)
    end = f"<footer>{escape(footer)}</footer>" if footer else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{PAGE}</style></head>"
        f'<body class="shoal"><div class="shoal page"><main><h1>{name}</h1>'
        f"{html_sections(sections, verified=verified)}</main>{end}</div></body></html>\n"
    )


def html_sections(sections: Iterable[Section], *, verified: bool = True) -> str:
    """Sections as HTML; one without a title is the verdict."""
    return "".join(_section(section, verified=verified) for section in sections)


def _section(section: Section, *, verified: bool) -> str:
    kind = section.kind or ("" if section.title else f"verdict{'' if verified else ' unsafe'}")
    heading = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    marked = f' class="{kind}"' if kind else ""
    lines = "".join(f"<p{marked}>{escape(line)}</p>" for line in section.lines)
    table = _table(section) if section.rows else ""
    if table and section.folded:
        table = f"<details><summary>The same as a table</summary>{table}</details>"
    copy = f"<pre><code>{escape(section.copy)}</code></pre>" if section.copy else ""
    shown = _pictures(section.pictures) + table
    if table and len(section.pictures) == 1 and not section.folded:
        shown = f'<div class="beside">{shown}</div>'
    inside = f"{heading}{lines}{_cards(section)}{shown}{copy}"
    return f"<section>{inside}</section>" if section.title else inside


def _cards(section: Section) -> str:
    """Short answers beside each other, each under its question."""
    each = (
        f"<div><dt>{escape(question)}</dt><dd>{escape(answer)}</dd></div>"
        for question, answer in section.cards
    )
    return f'<dl class="cards">{"".join(each)}</dl>' if section.cards else ""


def _pictures(drawings: Iterable[Drawing]) -> str:
    figures = "".join(
        f"<figure><figcaption>{escape(each.title)}</figcaption>{each.svg}</figure>"
        for each in drawings
    )
    return f'<div class="pictures">{figures}</div>' if figures else ""


def _table(section: Section) -> str:
    """A table. On a narrow page each row is a block, and each cell says its heading.

    The roles are said because a table that is laid out as blocks has none by itself.
    """
    head = ""
    if section.heading:
        cells = "".join(
            f'<th scope="col" role="columnheader"{_number(section, i)}>{escape(name)}</th>'
            for i, name in enumerate(section.heading)
        )
        cells += '<td role="cell"></td>' if section.bars else ""
        head = f'<thead role="rowgroup"><tr role="row">{cells}</tr></thead>'
    rows = "".join(
        f'<tr role="row">{"".join(_cells(section, row))}{_bar(section, number)}</tr>'
        for number, row in enumerate(section.rows)
    )
    kind = "wide" if section.heading else "facts"
    return f'<table class="{kind}" role="table">{head}<tbody role="rowgroup">{rows}</tbody></table>'


def _cells(section: Section, row: tuple[str, ...]) -> Iterator[str]:
    """The first cell names the row, unless it is the only one."""
    for i, cell in enumerate(row):
        if i == 0 and len(row) > 1:
            yield f'<th scope="row" role="rowheader"{_number(section, i)}>{escape(cell)}</th>'
            continue
        label = f' data-label="{escape(section.heading[i])}"' if section.heading else ""
        inside = f"<span>{escape(cell)}</span>"
        yield f'<td role="cell"{_number(section, i)}{label}>{inside}</td>'


def _number(section: Section, column: int) -> str:
    return ' class="n"' if column in section.numbers else ""


def _bar(section: Section, number: int) -> str:
    if not section.bars:
        return ""
    share = f'<span class="bar"><span style="width:{section.bars[number]:.1%}"></span></span>'
    return f'<td role="cell" class="rule" aria-hidden="true">{share}</td>'


PLAIN_WIDTH = 88
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def plain_sections(sections: Iterable[Section]) -> str:
    """Sections as text, with an empty line between them."""
    return "\n\n".join("\n".join(plain_section(each)) for each in sections)


def plain_section(section: Section) -> Iterator[str]:
    """The lines of a section."""
    if section.title:
        yield section.title
        yield "-" * len(section.title)
    for line in section.lines:
        yield from textwrap.wrap(line, PLAIN_WIDTH)
    for question, answer in section.cards:
        yield question
        yield from textwrap.wrap(answer, PLAIN_WIDTH, initial_indent="  ", subsequent_indent="  ")
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


def markdown(title: str, sections: Iterable[Section]) -> str:
    """A whole document; what the data says is text, never markup."""
    parts = [f"# {_escaped(title)}"]
    for section in sections:
        if section.title:
            parts.append(f"## {_escaped(section.title)}")
        verdict = "" if section.title else "**"
        parts += [f"{verdict}{_escaped(line)}{verdict}" for line in section.lines]
        parts += [f"**{_escaped(asked)}** {_escaped(said)}" for asked, said in section.cards]
        if section.rows:
            parts.append(_markdown_table(section))
        if section.copy:
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", section.copy)), default=0))
            parts.append(f"{fence}text\n{section.copy}\n{fence}")
    return "\n\n".join(parts) + "\n"


def _markdown_table(section: Section) -> str:
    columns = len(section.rows[0])
    heading = section.heading or ("",) * columns
    rule = ["---:" if i in section.numbers else "---" for i in range(columns)]
    rows = [map(_escaped, heading), rule, *(map(_escaped, row) for row in section.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escaped(content: str) -> str:
    return MARKDOWN.sub(r"\\\1", " ".join(content.split()))


SHEET = """
.shoal{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:var(--ink);
background:var(--paper);padding:.5rem 0}
.shoal h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}
.shoal section h2{font-weight:700;color:inherit;font-size:1.15rem;
line-height:1.3;margin:2.2rem 0 .5rem;overflow-wrap:anywhere}
.shoal p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}
.shoal .verdict{padding:.8rem 1rem;border-left:5px solid var(--safe);
background:var(--safe-paper);font-weight:600;max-width:none}
.shoal .unsafe{border-color:var(--unsafe);background:var(--unsafe-paper)}
.shoal .warning{padding:.6rem 1rem;border-left:5px solid var(--warn);
background:var(--warn-paper);max-width:none}
.shoal dl.cards{display:grid;gap:1rem;margin:1rem 0;
grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr))}
.shoal dl.cards div{background:var(--panel);border-radius:6px;padding:.8rem 1rem}
.shoal dl.cards dt,.shoal dl.cards dd{float:none;width:auto;display:block;padding:0}
.shoal dl.cards dt{font-weight:600;margin-bottom:.2rem}
.shoal dl.cards dd{margin:0;overflow-wrap:anywhere}
.shoal .pictures{display:grid;gap:1.6rem 2rem;margin:1rem 0;
grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
.shoal .beside{display:grid;gap:1rem 3rem;align-items:start}
@media(min-width:56rem){.shoal .beside{grid-template-columns:minmax(0,22rem) minmax(0,1fr)}}
.shoal figure{margin:0;max-width:27rem;min-width:0;break-inside:avoid}
.shoal figcaption{font-weight:600;margin-bottom:.3rem;overflow-wrap:anywhere}
.shoal svg{display:block;width:100%;height:auto}
.shoal table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:inherit}
.shoal.shoal table tbody tr{background:none}
.shoal.shoal table :is(th,td){text-align:left;max-width:none;white-space:normal;
vertical-align:top;padding:.35rem 1rem .35rem 0;
border-bottom:1px solid var(--line);overflow-wrap:break-word;background:none;color:inherit;
font-weight:400;min-width:0}
.shoal.shoal table tbody th{overflow-wrap:anywhere;min-width:6rem}
.shoal.shoal table thead th{font-weight:600;color:var(--soft);border-bottom:2px solid var(--line)}
.shoal.shoal table .n{text-align:right;font-variant-numeric:tabular-nums}
.shoal.shoal table td.n{white-space:nowrap}
.shoal .bar{display:block;min-width:5rem;height:.55rem;margin-top:.5rem;background:var(--line)}
.shoal .bar span{display:block;height:100%;background:var(--after)}
.shoal table.facts th{color:var(--soft);width:15rem}
.shoal table.facts td{overflow-wrap:anywhere}
.shoal code{font:.9em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.shoal pre{background:var(--panel);border-radius:6px;padding:.7rem 1rem;margin:.5rem 0;
white-space:pre-wrap;overflow-wrap:anywhere}
.shoal summary{cursor:pointer;color:var(--soft);padding:.3rem 0}
.shoal summary:focus-visible{outline:3px solid var(--after);outline-offset:2px}
.shoal footer{margin-top:2.5rem;padding-top:.8rem;border-top:1px solid var(--line);
color:var(--soft)}
@media(max-width:640px){
.shoal table.wide thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.shoal table.wide,.shoal table.wide :is(tbody,tr,th,td),
.shoal table.facts,.shoal table.facts :is(tbody,tr,th,td){display:block;width:auto}
.shoal table.wide tr,.shoal table.facts tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
.shoal table.wide :is(th,td),.shoal table.facts :is(th,td){border:0;padding:.1rem 0}
.shoal table.wide tbody th{font-weight:600}
.shoal table.wide td{display:flex;justify-content:space-between;gap:1rem;text-align:right}
.shoal table.wide td>span{min-width:0;overflow-wrap:anywhere}
.shoal table.wide td[data-label]::before{content:attr(data-label);color:var(--soft);text-align:left;
flex:none;max-width:60%}
.shoal table.wide td.rule{display:block}
.shoal table.wide td:has(span:empty){display:none}
.shoal table.wide td.n{white-space:normal}
.shoal .bar{width:100%;margin:.3rem 0}
}
@media print{.shoal{font-size:10pt;padding:0}
.shoal tr,.shoal .verdict,.shoal .warning,.shoal dl.cards div,.shoal pre{break-inside:avoid}
.shoal h2,.shoal figcaption{break-after:avoid}
.shoal .pictures{grid-template-columns:repeat(2,minmax(0,1fr))}
.shoal details:not([open]){display:none}
.shoal *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""

CARD = f".shoal{{{variables(LIGHT)}}}{SHEET}"
"""What a card in a notebook needs. It is light, whatever is around it. Where `.shoal` is doubled, a
selector is to be more specific than the styles of notebooks."""

PAGE = (
    CARD
    + "html{color-scheme:light dark}body.shoal{margin:0;padding:0}"
    + ".shoal.page{max-width:72rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}"
    + f"@media screen and (prefers-color-scheme:dark){{.shoal{{{variables(DARK)}}}}}"
    + "@page{margin:16mm 14mm}@media print{.shoal.page{padding:0;max-width:none}}"
)
"""What a page of its own needs: it follows the light or dark of the machine."""

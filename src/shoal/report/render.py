"""Sections as HTML. It needs no other file: it carries its own style and its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from shoal.report.style import CARD, PAGE

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

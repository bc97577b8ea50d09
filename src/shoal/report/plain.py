"""Sections as plain text and as Markdown. Where there are pictures, their tables say the same."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.report.sections import Section

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

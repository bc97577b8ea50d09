"""Sections as plain text, for a terminal or a mail."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.report.answers import Section

WIDTH = 88


def plain(section: Section) -> Iterator[str]:
    """The lines of a section."""
    if section.title:
        yield section.title
        yield "-" * len(section.title)
    for line in section.lines:
        yield from textwrap.wrap(line, WIDTH)
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

"""The rows of a tree that are shown: what is below open groups, or what a search finds.

A tree of thousands of values is shown in pages of rows, so the browser never gets more of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.web.hierarchies.tree import Node, Path, Tree

PAGE = 150
"""So many rows are shown at a time."""
FIRST = 40
"""Groups are open at first as long as no more rows than this are shown."""


@dataclass(frozen=True)
class OutlineRow:
    """A row: its node, how deep it stands, whether it is open, and its number among siblings."""

    path: Path
    node: Node
    is_open: bool
    number: int
    siblings: int

    @property
    def depth(self) -> int:
        return len(self.path)


def outline(tree: Tree, opened: Collection[Path], search: str = "") -> list[OutlineRow]:
    """All rows that would be shown on one endless page, the root first.

    A search shows the nodes whose label contains the text, with what is above them; capitals do not
    matter.
    """
    if search:
        return list(_found(tree.root, (), 1, 1, search.casefold()))
    return list(_open(tree.root, (), 1, 1, set(opened)))


def open_at_first(tree: Tree) -> set[Path]:
    """The groups to open: the root, then level by level, as long as the rows are few."""
    opened: set[Path] = {()}
    rows = 1 + len(tree.root.children)
    level: list[Path] = [()]
    while level:
        level = [
            (*path, child.label)
            for path in level
            for child in tree.at(path).children
            if not child.is_value
        ]
        rows += sum(len(tree.at(path).children) for path in level)
        if rows > FIRST:
            break
        opened.update(level)
    return opened


def records_under(tree: Tree, counts: Mapping[str, int]) -> dict[int, int]:
    """How many records each node stands for, by the id of the node."""
    found: dict[int, int] = {}

    def count(node: Node) -> int:
        records = counts.get(node.label, 0) if node.is_value else sum(map(count, node.children))
        found[id(node)] = records
        return records

    count(tree.root)
    return found


def _open(
    node: Node, path: Path, number: int, siblings: int, opened: set[Path]
) -> Iterator[OutlineRow]:
    is_open = path in opened and not node.is_value
    yield OutlineRow(path, node, is_open, number, siblings)
    if is_open:
        for index, child in enumerate(node.children, start=1):
            yield from _open(child, (*path, child.label), index, len(node.children), opened)


def _found(node: Node, path: Path, number: int, siblings: int, search: str) -> Iterator[OutlineRow]:
    below = [
        row
        for index, child in enumerate(node.children, start=1)
        for row in _found(child, (*path, child.label), index, len(node.children), search)
    ]
    if below or not path or search in node.label.casefold():
        yield OutlineRow(path, node, bool(below), number, siblings)
        yield from below

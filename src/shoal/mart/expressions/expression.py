"""An expression: its tree, and what it reads."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.mart.expressions.parsing import parse_tree
from shoal.mart.expressions.tree import Column, MapName, Node, walk
from shoal.mart.expressions.writing import write


@dataclass(frozen=True)
class Expression:
    """A parsed expression; `where` is what messages call it, such as the key of the catalog."""

    root: Node
    where: str

    @property
    def columns(self) -> tuple[tuple[str | None, str], ...]:
        """The columns that it reads: source or None, and name; each once, in order."""
        found = [node for node, _ in walk(self.root) if isinstance(node, Column)]
        return tuple(dict.fromkeys((node.source, node.name) for node in found))

    @property
    def maps(self) -> tuple[str, ...]:
        """The maps that it looks values up in; each once, in order."""
        found = [node.name for node, _ in walk(self.root) if isinstance(node, MapName)]
        return tuple(dict.fromkeys(found))

    def __str__(self) -> str:
        return write(self.root)


def parse(text: str, where: str) -> Expression:
    """The expression that a text states.

    UserError with the code `bad-expression`, the place and a remedy where it states none, or with
    `expression-too-deep`. Nothing of the text is ever executed.
    """
    return Expression(parse_tree(text, where), where)

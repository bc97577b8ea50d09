"""What an expression consists of: a tree of frozen nodes.

Nodes are equal when they mean the same; where they stand in the text does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class _Placed:
    """A part of the text; `position` is its first character, counted from 1."""

    position: int = field(default=1, compare=False, kw_only=True)


@dataclass(frozen=True)
class Number(_Placed):
    """A number; an `int` where it is whole. Negative ones stand in lists only."""

    value: int | float


@dataclass(frozen=True)
class Text(_Placed):
    """A text that the expression states."""

    value: str


@dataclass(frozen=True)
class Truth(_Placed):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True)
class Missing(_Placed):
    """The missing value."""


@dataclass(frozen=True)
class Column(_Placed):
    """A column that is read, with or without the name of its source."""

    source: str | None
    name: str


@dataclass(frozen=True)
class MapName(_Placed):
    """The map that `lookup` reads."""

    name: str


@dataclass(frozen=True)
class ListOf(_Placed):
    """The bounds or the labels of `band`."""

    items: tuple[Number | Text, ...]


@dataclass(frozen=True)
class Unary(_Placed):
    """`-` or `not`."""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Binary(_Placed):
    """An operator between two operands."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class IsMissing(_Placed):
    """`is missing`, or `is not missing` where it is negated."""

    operand: Node
    negated: bool


@dataclass(frozen=True)
class In(_Placed):
    """`in (...)`, or `not in (...)` where it is negated."""

    operand: Node
    items: tuple[Node, ...]
    negated: bool


@dataclass(frozen=True)
class Case(_Placed):
    """`case when ... then ... else ... end`; the branches are conditions with their values."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True)
class Call(_Placed):
    """A function with its arguments."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = (
    Number
    | Text
    | Truth
    | Missing
    | Column
    | MapName
    | ListOf
    | Unary
    | Binary
    | IsMissing
    | In
    | Case
    | Call
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes just below a node, as they stand in the text."""
    match node:
        case Unary(operand=operand) | IsMissing(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case In(operand=operand, items=items):
            return (operand, *items)
        case Case(branches=branches, otherwise=otherwise):
            inner = tuple(each for branch in branches for each in branch)
            return inner if otherwise is None else (*inner, otherwise)
        case Call(arguments=arguments):
            return arguments
    return ()


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth (the root has 1), in the order of the text; without recursion."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in reversed(children(node)))

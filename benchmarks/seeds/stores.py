"""Ways to keep what is known of nodes: the four options of the pruning paper, and a whole lattice.

All speak of a property that a node hands on to every node above it; one that is handed on downwards
is kept with the levels counted from the top. They exist to be compared: the search itself uses
shoal.search.antichain.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Protocol

from shoal.search.antichain import AntichainStatistics

if TYPE_CHECKING:
    from shoal.search.antichain import Direction
    from shoal.values import Node


class Store(Protocol):
    """Keeps nodes that have a property, and answers which other nodes have it too."""

    def insert(self, node: Node) -> None:
        """Keep a node that is not covered yet."""

    def covers(self, node: Node) -> bool:
        """Whether a kept node is below this one or is this one."""


def below(x: Node, y: Node) -> bool:
    """Whether no level of x is above that of y."""
    return all(map(operator.le, x, y))


@dataclass
class SimpleList:
    """Option 1: every node that was ever inserted."""

    kept: list[Node] = field(default_factory=list)

    def insert(self, node: Node) -> None:
        self.kept.append(node)

    def covers(self, node: Node) -> bool:
        return any(below(each, node) for each in self.kept)


@dataclass
class AntichainList(SimpleList):
    """Option 2: a list of which no node is above another."""

    def insert(self, node: Node) -> None:
        self.kept = [each for each in self.kept if not below(node, each)]
        self.kept.append(node)


@dataclass
class Branch:
    """Kept nodes that begin alike; `least` is the least rank of them all."""

    least: int
    children: dict[int, Branch] = field(default_factory=dict)


class PrefixTree:
    """Options 3 and 4: an antichain in a prefix tree, without and with the minimum of ranks."""

    def __init__(self, *, minimum: bool) -> None:
        self.minimum = minimum
        self.root = Branch(0)

    def insert(self, node: Node) -> None:
        rank = sum(node)
        self._remove_above(self.root, node, rank, 0)
        branch = self.root
        for level in node:
            branch = branch.children.setdefault(level, Branch(rank))
            branch.least = min(branch.least, rank)

    def covers(self, node: Node) -> bool:
        return self._any_below(self.root, node, sum(node), 0)

    def _any_below(self, branch: Branch, node: Node, rank: int, depth: int) -> bool:
        if depth == len(node):
            return True
        return any(
            level <= node[depth]
            and (not self.minimum or child.least <= rank)
            and self._any_below(child, node, rank, depth + 1)
            for level, child in branch.children.items()
        )

    def _remove_above(self, branch: Branch, node: Node, rank: int, depth: int) -> None:
        if depth == len(node):
            return
        for level, child in list(branch.children.items()):
            if level >= node[depth]:
                last = depth + 1 == len(node)
                self._remove_above(child, node, rank, depth + 1)
                if last or not child.children:
                    del branch.children[level]


class Graph:
    """Every node of a lattice with its neighbours on one side."""

    def __init__(self, top: Node, direction: Direction) -> None:
        nodes = list(product(*(range(level + 1) for level in top)))
        self.numbers = {node: i for i, node in enumerate(nodes)}
        step = 1 if direction == "up" else -1
        self.next = [
            tuple(
                self.numbers[(*node[:j], level + step, *node[j + 1 :])]
                for j, level in enumerate(node)
                if 0 <= level + step <= top[j]
            )
            for node in nodes
        ]


class ExplicitLattice:
    """A tag for every node, and a property handed on along the edges of a graph of all nodes.

    This is what antichains replace. A graph may be shared by several properties.
    """

    def __init__(self, top: Node, direction: Direction = "up", graph: Graph | None = None) -> None:
        self.graph = graph or Graph(top, direction)
        self.tagged = bytearray(len(self.graph.next))
        self.inserts = self.queries = self.hits = 0

    def insert(self, node: Node) -> None:
        waiting = [self.graph.numbers[node]]
        self.inserts += not self.tagged[waiting[0]]
        while waiting:
            number = waiting.pop()
            if not self.tagged[number]:
                self.tagged[number] = 1
                waiting.extend(self.graph.next[number])

    def covers(self, node: Node) -> bool:
        covered = bool(self.tagged[self.graph.numbers[node]])
        self.queries += 1
        self.hits += covered
        return covered

    @property
    def statistics(self) -> AntichainStatistics:
        """How it was used; there is no antichain whose size could be told."""
        return AntichainStatistics(self.inserts, self.queries, self.hits, 0, 0)

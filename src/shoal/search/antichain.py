"""What is already known of nodes, kept as an antichain in a prefix tree.

A property that a node hands on to every node above it (or below it) need not be stored for those:
of two comparable nodes one speaks for the other. So only the least (or greatest) nodes with the
property are kept, no two of them comparable, and whether a node has the property is the question
whether a kept one stands below (or above) it. Memory grows with what is kept, not the lattice.

The tree has one layer for each attribute, and each path from the root to a leaf is a kept node.
Behind each level stand the least and the greatest rank (sum of levels) of what follows it:

    (1, 1, 1)    root ┬─ 1 (2, 3) ┬─ 1 (1, 1) ── 1 (0, 0)
    (1, 3, 0)         │           └─ 3 (0, 0) ── 0 (0, 0)
    (3, 2, 0)         └─ 3 (2, 2) ── 2 (0, 0) ── 0 (0, 0)

A node below another has at most its rank, and so has each rest of it compared with the same rest of
the other: a child all of whose rests outrank that of a node holds nothing below the node, and one
whose rests all rank less holds nothing above it. This cuts off all that the rank of whole nodes
would: where a path is nowhere above a node so far, what it has too much of comes after.

Both directions are one: `y` is above `x` exactly when `-y` is below `-x`, so an antichain that
looks down keeps its nodes negated, and the rest of this file is about looking up.

After F. Prasser, F. Kohlmayer, K. Kuhn, "Efficient and effective pruning strategies for health data
de-identification", BMC Medical Informatics and Decision Making 16:49, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from shoal.values import Node

Direction: TypeAlias = Literal["down", "up"]
"""Where a kept node hands its property: to all below it, or to all above it."""


@dataclass(frozen=True)
class AntichainStatistics:
    """How an antichain was used: `inserts` nodes were kept, `hits` of the `queries` were covered.

    A node that was covered when it came is not among the inserts, nor is the look for it among the
    queries. `size` nodes are kept now, and never more than `largest` were.
    """

    inserts: int
    queries: int
    hits: int
    size: int
    largest: int

    @property
    def hit_rate(self) -> float:
        """The share of the queries that were covered; 0 before the first."""
        return self.hits / self.queries if self.queries else 0.0

    @property
    def antichain_share(self) -> float:
        """The largest antichain as a share of the inserts; 0 before the first."""
        return self.largest / self.inserts if self.inserts else 0.0


@dataclass(slots=True)
class _Branch:
    """The kept nodes that begin alike: the ranks of what follows, and what follows."""

    least_rank: int = 0
    greatest_rank: int = 0
    children: dict[int, _Branch] = field(default_factory=dict)


class Antichain:
    """Nodes of which none is above another, and what they cover.

    With direction `up` a node covers itself and every node above it, and the least nodes are kept;
    with `down` it covers itself and every node below it, and the greatest are kept. What is covered
    depends on the nodes inserted alone, not on their order.
    """

    def __init__(self, attributes: int, direction: Direction) -> None:
        if attributes < 1:
            raise ValueError(f"an antichain needs at least one attribute, not {attributes}")
        if direction not in ("down", "up"):
            raise ValueError(f"a direction is 'down' or 'up', not {direction!r}")
        self.attributes = attributes
        self.direction = direction
        self._sign = 1 if direction == "up" else -1
        self._root = _Branch()
        self._inserts = self._queries = self._hits = self._size = self._largest = 0

    def insert(self, node: Node) -> None:
        """Cover all that this node covers, and drop the kept nodes that are among it.

        Nothing happens to a node that is covered already. Otherwise no kept node is below it, those
        above it go, and the rest are not comparable to it: an antichain stays one. What was dropped
        stays covered, since below is transitive.
        """
        key = self._key(node)
        ranks = _ranks_below(key)
        if _any_below(self._root, key, ranks, 0):
            return
        self._size += 1 - _drop_above(self._root, key, ranks, 0)
        _add(self._root, key, ranks)
        self._inserts += 1
        self._largest = max(self._largest, self._size)

    def covers(self, node: Node) -> bool:
        """Whether a kept node hands its property to this one, or is this one."""
        key = self._key(node)
        covered = _any_below(self._root, key, _ranks_below(key), 0)
        self._queries += 1
        self._hits += covered
        return covered

    @property
    def statistics(self) -> AntichainStatistics:
        """How the antichain was used up to now."""
        return AntichainStatistics(
            self._inserts, self._queries, self._hits, self._size, self._largest
        )

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Node]:
        """The kept nodes, each once; not to be mixed with inserts."""
        for key in _paths(self._root, (), self.attributes):
            yield tuple(self._sign * level for level in key)

    def _key(self, node: Node) -> Node:
        """The node as the tree has it, in which covering is standing below."""
        if len(node) != self.attributes:
            raise ValueError(f"node {node} has not {self.attributes} levels")
        return node if self._sign == 1 else tuple(-level for level in node)


def _ranks_below(key: Node) -> list[int]:
    """For each layer of the tree, the sum of the levels from there on; 0 at the leaf."""
    return list(accumulate(reversed(key), initial=0))[::-1]


def _any_below(branch: _Branch, key: Node, ranks: list[int], depth: int) -> bool:
    """Whether a path of the branch is nowhere above the key, from attribute `depth` on."""
    if depth == len(key):
        return True
    highest, rank = key[depth], ranks[depth + 1]
    for level, child in branch.children.items():
        if (
            level <= highest
            and child.least_rank <= rank
            and _any_below(child, key, ranks, depth + 1)
        ):
            return True
    return False


def _drop_above(branch: _Branch, key: Node, ranks: list[int], depth: int) -> int:
    """Cut off the paths that are nowhere below the key, and what bears no path then; how many."""
    if depth == len(key):
        return 1
    lowest, rank = key[depth], ranks[depth + 1]
    dropped = 0
    for level, child in list(branch.children.items()):
        if level >= lowest and child.greatest_rank >= rank:
            dropped += _drop_above(child, key, ranks, depth + 1)
            if not child.children:
                del branch.children[level]
    if dropped and branch.children:
        left = branch.children.items()
        branch.least_rank = min(level + child.least_rank for level, child in left)
        branch.greatest_rank = max(level + child.greatest_rank for level, child in left)
    return dropped


def _add(branch: _Branch, key: Node, ranks: list[int]) -> None:
    """Add the path of a key to the tree."""
    for level, rank in zip(key, ranks[1:], strict=True):
        branch = branch.children.setdefault(level, _Branch(rank, rank))
        branch.least_rank = min(branch.least_rank, rank)
        branch.greatest_rank = max(branch.greatest_rank, rank)


def _paths(branch: _Branch, path: Node, missing: int) -> Iterator[Node]:
    """Every path of a branch, begun by `path` and with `missing` levels to come."""
    if missing == 0:
        yield path
    for level, child in branch.children.items():
        yield from _paths(child, (*path, level), missing - 1)

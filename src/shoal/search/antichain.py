"""What is already known of nodes, kept as an antichain in a prefix tree.

If a property of a node holds for every node above it (or below it), it need not be stored for
those. So only the least (or greatest) nodes with the property are kept, no two of them comparable,
and a node has the property if a kept one is below (or above) it. Memory grows with the number of
kept nodes, not with the lattice.

The tree has one layer for each attribute, and each path from the root to a leaf is a kept node.
Each level is followed by the least and the greatest rank (sum of levels) of what comes after it:

    (1, 1, 1)    root ┬─ 1 (2, 3) ┬─ 1 (1, 1) ── 1 (0, 0)
    (1, 3, 0)         │           └─ 3 (0, 0) ── 0 (0, 0)
    (3, 2, 0)         └─ 3 (2, 2) ── 2 (0, 0) ── 0 (0, 0)

A node below another has at most its rank, and so has each suffix of its levels compared with the
same suffix of the other. So a child whose suffixes all have a higher rank than that of a node has
nothing below the node, and one whose suffixes all have a lower rank has nothing above it. This
prunes at least what the ranks of whole nodes would.

`y` is above `x` exactly when `-y` is below `-x`. So an antichain of direction `down` keeps its
nodes negated, and the rest of this file is about direction `up`.

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
"""Where the property of a kept node holds: at all nodes below it, or at all above it."""


@dataclass(frozen=True)
class AntichainStatistics:
    """How an antichain was used: `inserts` nodes were kept, `hits` of the `queries` were covered.

    A node that is covered already when it is inserted counts neither as an insert nor as a query.
    `size` nodes are kept now, and at most `largest` were kept at a time.
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
    """The kept nodes with the same prefix: the ranks of their suffixes, and the suffixes."""

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
        """Cover all that this node covers, and drop the kept nodes that it covers.

        A node that is covered already changes nothing. Otherwise no kept node is below it, those
        above it go, and the rest are not comparable to it, so it stays an antichain. What was
        dropped stays covered, since the order is transitive.
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
        """Whether the property of a kept node holds for this one."""
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
        """The node as the tree stores it, so that covering means being below."""
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
    """Remove the paths that are nowhere below the key, and empty branches; how many paths."""
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
    """Every path of a branch, that begins with `path` and has `missing` more levels."""
    if missing == 0:
        yield path
    for level, child in branch.children.items():
        yield from _paths(child, (*path, level), missing - 1)

"""Hierarchies written as trees: keys are labels, lists and bare texts are leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def taxonomy_rows(tree: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """One row per leaf, in the order of the tree: the leaf, then its ancestors.

    A leaf nearer to the root than others repeats itself from the bottom up, until all rows are as
    long as the longest. A key with nothing under it is a leaf.
    """
    paths = list(_paths(tree, ()))
    longest = max(map(len, paths))
    return [(path[0],) * (longest - len(path)) + path for path in paths]


def _paths(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The way from each leaf under the node to the root; `above` are the labels over the node."""
    if node is None or node == ():
        yield above
    elif isinstance(node, Mapping):
        for label, child in node.items():
            yield from _paths(child, (label, *above))
    elif isinstance(node, tuple):
        for child in node:
            yield from _paths(child, above)
    else:
        yield (str(node), *above)

"""A tree of values as the page edits it: frozen, each edit gives a new tree.

Leaves are the values. Levels are counted from the values up, as in the kind `tree` of a definition:
the root is the last level, and a leaf nearer to the root than others repeats itself at the levels
below its parent. Every tree that can be made here is a hierarchy:

- each value is a leaf exactly once, since an edit moves nodes and never copies or drops a leaf;
- levels are nested, since `_checked` refuses a tree in which one label of a level belongs to two
  nodes, and a node is below exactly one other.

A node is named by its path: the labels from below the root down to it. Labels of siblings differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from shoal.definition.hierarchies.base import TOP
from shoal.errors import BadHierarchy

Path: TypeAlias = tuple[str, ...]
"""Labels from below the root down to a node; the root itself is the empty path."""

DEEPEST = 40
"""More levels than people can read; edits go through the levels by recursion."""


@dataclass(frozen=True)
class Node:
    """A label with what is below it; a node without children is a value."""

    label: str
    children: tuple[Node, ...] = ()

    @property
    def is_value(self) -> bool:
        return not self.children

    @cached_property
    def values(self) -> int:
        """How many values are under the node; a value counts itself."""
        return sum(child.values for child in self.children) if self.children else 1

    @cached_property
    def height(self) -> int:
        """How many levels are below the node."""
        return 1 + max(child.height for child in self.children) if self.children else 0

    def leaves(self) -> Iterator[str]:
        if self.is_value:
            yield self.label
        for child in self.children:
            yield from child.leaves()

    @cached_property
    def _by_label(self) -> Mapping[str, Node]:
        return {child.label: child for child in self.children}

    def child(self, label: str) -> Node:
        """The child with this label; BadHierarchy if there is none any more."""
        found = self._by_label.get(label)
        if found is None:
            raise _refused("what was edited is no longer there", "look at the tree and try again")
        return found


@dataclass(frozen=True)
class Tree:
    """A whole hierarchy. The root has children, and is the only label of the last level."""

    root: Node

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[str]]) -> Tree:
        """The tree of a nested hierarchy: one row per value, with its label at each level.

        Where the last level has several labels, or is the values themselves, a root `*` is added.
        """
        if len(rows[0]) > DEEPEST:
            raise _refused(
                f"{len(rows[0]) - 1} levels are too many to edit as a tree",
                "edit the steps of the hierarchy, or use fewer of them",
            )
        single = len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1
        paths = [tuple(reversed(row)) for row in rows]
        if not single:
            paths = [(TOP, *path) for path in paths]
        root = _grown(paths[0][0], [path[1:] for path in paths])
        folded = replace(root, children=tuple(map(_folded, root.children)))
        return _checked(folded if folded.height == root.height else root)

    @property
    def height(self) -> int:
        """The number of the last level; level 0 are the values."""
        return self.root.height

    def rows(self) -> list[tuple[str, ...]]:
        """One row per value: the value, then its label at each level."""
        return [
            (path[-1],) * (self.height + 1 - len(path)) + tuple(reversed(path))
            for path in _leaf_paths(self.root, ())
        ]

    def at(self, path: Path) -> Node:
        """The node with this path."""
        node = self.root
        for label in path:
            node = node.child(label)
        return node

    def level(self, path: Path) -> int:
        """The level at which the node is a label of its own; 0 for each value."""
        return 0 if self.at(path).is_value else self.height - len(path)

    def group_paths(self) -> Iterator[Path]:
        """The paths of all groups, the root first, each before what is below it."""
        yield from _group_paths(self.root, ())

    def labels(self) -> Iterator[str]:
        """All labels, also those of values."""
        yield from _labels(self.root)

    def free_label(self, stem: str = "group") -> str:
        """A label that nothing has yet: `group 1`, `group 2`; it shows no value."""
        taken = set(self.labels())
        number = 1
        while f"{stem} {number}" in taken:
            number += 1
        return f"{stem} {number}"

    # Edits. Each gives a new tree, or BadHierarchy when that would be no hierarchy.

    def rename(self, path: Path, label: str) -> Tree:
        """Give a group another label; a value keeps its name, since the data has it."""
        if self.at(path).is_value:
            raise _refused("a value keeps its name: the data has it", "rename the group around it")
        return self._with({path: lambda below: (Node(label, below),)})

    def move(self, paths: Sequence[Path], target: Path) -> Tree:
        """Put nodes under another group, after what is there; groups left empty disappear."""
        paths = self._outermost(paths)
        group = self._group(target)
        if any(target[: len(path)] == path for path in paths):
            raise _refused("a group cannot be moved into itself", "choose a group outside of it")
        moved = tuple(map(self.at, paths))
        changes: dict[Path, _Change] = dict.fromkeys(paths, _nothing)
        changes[target] = lambda below: (Node(group.label, below + moved),)
        return self._with(changes)

    def gather(self, paths: Sequence[Path], label: str) -> Tree:
        """Put nodes into a new group, which stands where the first of them stood."""
        paths = self._outermost(paths)
        return self._joined(paths, Node(label, tuple(map(self.at, paths))))

    def merge(self, paths: Sequence[Path], label: str) -> Tree:
        """Make one group of several, where the first of them stands."""
        paths = self._outermost(paths)
        groups = list(map(self.at, paths))
        if len(groups) < 2 or any(group.is_value for group in groups):
            raise _refused("only groups can be merged", "select two or more groups")
        return self._joined(
            paths, Node(label, tuple(child for group in groups for child in group.children))
        )

    def split(self, path: Path, members: Sequence[str], label: str) -> Tree:
        """Move some children of a group to a new group beside it."""
        group, leaving = self.at(path), set(members)
        staying = tuple(child for child in group.children if child.label not in leaving)
        moved = tuple(child for child in group.children if child.label in leaving)
        if not path or not staying or not moved:
            raise _refused(
                "a group is split into two, of which neither is empty",
                "select some of what is below a group that is not the last level",
            )
        return self._with({path: lambda _: (Node(group.label, staying), Node(label, moved))})

    def ungroup(self, path: Path) -> Tree:
        """Put what is below a group in its place."""
        if not path or self.at(path).is_value:
            raise _refused("only a group below the last level can be dissolved", "choose another")
        return self._with({path: lambda below: below})

    def shift(self, path: Path, by: int) -> Tree:
        """Move a node up or down among its siblings; at the end it stays."""
        if not path:
            return self
        parent = self.at(path[:-1])
        order = list(parent.children)
        old = order.index(parent.child(path[-1]))
        order.insert(max(0, min(len(order) - 1, old + by)), order.pop(old))
        return self._with({path[:-1]: lambda _: (Node(parent.label, tuple(order)),)})

    def add_level(self, above: int) -> Tree:
        """A new level above this one, with the same labels, to be changed from there."""
        if not 0 <= above <= self.height:
            raise _refused(f"there is no level {above}", f"choose one from 0 to {self.height}")
        if above == self.height and self.root.label == TOP:
            raise _refused("nothing can be above the last level", "add one below it")
        if above == self.height:
            return _checked(Node(TOP, (self.root,)))
        depth = self.height - above
        return _checked(_at_depth(self.root, depth, lambda node: (Node(node.label, (node,)),)))

    def remove_level(self, level: int) -> Tree:
        """Dissolve all groups of a level; the values and the last level stay."""
        if not 0 < level < self.height:
            raise _refused(
                "the values and the last level stay", "remove one of the levels between them"
            )
        depth = self.height - level
        return _checked(_at_depth(self.root, depth, lambda node: node.children or (node,)))

    def add_values(self, values: Sequence[str], target: Path) -> Tree:
        """Add values that the tree lacks under a group."""
        known = set(self.root.leaves())
        new = tuple(Node(value) for value in dict.fromkeys(values) if value not in known)
        group = self._group(target)
        return self._with({target: lambda below: (Node(group.label, below + new),)})

    def _group(self, path: Path) -> Node:
        """The group with this path, to put something under it."""
        node = self.at(path)
        if node.is_value:
            raise _refused("a value can have nothing below it", "choose a group")
        return node

    def _outermost(self, paths: Sequence[Path]) -> list[Path]:
        """The paths without those below others; without the root, which stays where it is."""
        chosen = set(paths)
        if not chosen or () in chosen:
            raise _refused("nothing is selected that can be moved", "select what is below the root")
        above = {path: any(path[:end] in chosen for end in range(1, len(path))) for path in chosen}
        return [path for path in dict.fromkeys(paths) if not above[path]]

    def _joined(self, paths: Sequence[Path], group: Node) -> Tree:
        """The tree with a group where the first path led, and nothing where the others did."""
        changes: dict[Path, _Change] = dict.fromkeys(paths, _nothing)
        changes[paths[0]] = lambda _: (group,)
        return self._with(changes)

    def _with(self, changes: Mapping[Path, _Change]) -> Tree:
        (root,) = _changed(self.root, {id(self.at(path)): each for path, each in changes.items()})
        return _checked(root)


_Change: TypeAlias = Callable[[tuple[Node, ...]], tuple[Node, ...]]
"""What takes the place of a node, given what remains below it."""


def _nothing(_: tuple[Node, ...]) -> tuple[Node, ...]:
    return ()


def _changed(node: Node, changes: Mapping[int, _Change]) -> tuple[Node, ...]:
    """What takes the place of a node when the nodes with these ids change, from below upwards.

    A group of which nothing remains disappears. Parts without a change stay the same objects.
    """
    below = tuple(new for child in node.children for new in _changed(child, changes))
    if id(node) in changes:
        return changes[id(node)](below)
    if len(below) == len(node.children) and all(map(_same, below, node.children)):
        return (node,)
    return (Node(node.label, below),) if below else ()


def _same(one: Node, other: Node) -> bool:
    return one is other


def _at_depth(node: Node, depth: int, change: Callable[[Node], tuple[Node, ...]]) -> Node:
    """The node, with what is so far below it replaced."""
    if depth == 1:
        return Node(node.label, tuple(new for child in node.children for new in change(child)))
    below = (
        child if child.is_value else _at_depth(child, depth - 1, change) for child in node.children
    )
    return Node(node.label, tuple(below))


def _grown(label: str, below: Sequence[Path]) -> Node:
    """The node with these paths below it; a path ends with a value."""
    branches: dict[str, list[Path]] = {}
    for path in below:
        if path:
            branches.setdefault(path[0], []).append(path[1:])
    return Node(label, tuple(_grown(child, paths) for child, paths in branches.items()))


def _folded(node: Node) -> Node:
    """The node, where groups that hold one value and have its name are the value itself."""
    if node.is_value:
        return node
    children = tuple(map(_folded, node.children))
    if len(children) == 1 and children[0].is_value and children[0].label == node.label:
        return children[0]
    return Node(node.label, children)


def _leaf_paths(node: Node, above: Path) -> Iterator[Path]:
    """The labels from the root down to each value."""
    path = (*above, node.label)
    if node.is_value:
        yield path
    for child in node.children:
        yield from _leaf_paths(child, path)


def _group_paths(node: Node, path: Path) -> Iterator[Path]:
    if not node.is_value:
        yield path
        for child in node.children:
            yield from _group_paths(child, (*path, child.label))


def _labels(node: Node) -> Iterator[str]:
    yield node.label
    for child in node.children:
        yield from _labels(child)


def _checked(root: Node) -> Tree:
    """The tree with this root; BadHierarchy where a level has one label for two nodes.

    A value takes part in all levels below its parent, since it repeats itself there.
    """
    if root.height > DEEPEST:
        raise _refused(f"more than {DEEPEST} levels are too many", "merge or remove some")
    owners: list[dict[str, Node]] = [{} for _ in range(root.height + 1)]
    waiting = [(root, root.height)]
    while waiting:
        node, level = waiting.pop()
        if not node.label:
            raise _refused("a label is empty", "give each group a name")
        for each in range(0 if node.is_value else level, level + 1):
            if owners[each].setdefault(node.label, node) is not node:
                raise _refused(
                    f"two labels of level {each} would be the same: {_brief(node.label)}",
                    "choose another name, or merge the two groups",
                )
        waiting.extend((child, level - 1) for child in node.children)
    return Tree(root)


def _brief(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:37]}...")


def _refused(what: str, hint: str) -> BadHierarchy:
    return BadHierarchy(what, hint=hint, code="bad-edit")

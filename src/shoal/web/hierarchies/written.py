"""Between the hierarchy of a definition and what the page edits.

`kind_of_mapping` checks what a definition says, with the mistakes that the command line shows.
`tree_mapping` writes a tree into the definition itself, as the kind `tree`, from which the same
levels come back. A tree with many values becomes a CSV file beside the definition instead.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.base import TOP, Kind
from shoal.definition.read import from_mapping
from shoal.encode.hierarchy import Hierarchy

if TYPE_CHECKING:
    from shoal.web.hierarchies.tree import Node, Tree

INLINE = 500
"""Trees with more values than this are files of their own: nobody reads them in a definition."""
LONGEST_LABEL = 200
"""YAML takes no longer keys than 1024 characters, and nobody reads such labels either."""

_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that one of the spellings of a definition does not keep."""


def kind_of_mapping(column: str, hierarchy: Any, folder: Path = Path()) -> Kind:
    """The hierarchy that a definition gives a column; BadDefinition lists what is wrong with it.

    The path of a hierarchy file is relative to the folder.
    """
    attributes = {column: {"role": "quasi-identifier", "hierarchy": hierarchy}}
    definition = from_mapping(
        {"source": "-", "k": 2, "attributes": attributes}, file="hierarchy", folder=folder
    )
    kind = definition.attributes[column].hierarchy
    assert kind is not None, "a hierarchy was given"  # noqa: S101
    return kind


def tree_mapping(tree: Tree) -> dict[str, Any]:
    """The tree as a definition writes it; it has the same rows.

    The kind `tree` adds `*` above several labels itself, so that root is left out.
    """
    root = tree.root
    if root.label == TOP and len(root.children) > 1:
        return {"tree": {child.label: _below(child) for child in root.children}}
    return {"tree": {root.label: _below(root)}}


def fits_inline(tree: Tree) -> bool:
    """Whether YAML, JSON and XML can all hold the tree, and people can read it there."""
    return tree.root.values <= INLINE and all(
        len(label) <= LONGEST_LABEL and not _UNWRITABLE.search(label) for label in tree.labels()
    )


def _below(node: Node) -> Any:
    """A list where all below are values, a mapping where some are groups, None below a value."""
    if node.is_value:
        return None
    if all(child.is_value for child in node.children):
        return [child.label for child in node.children]
    return {child.label: _below(child) for child in node.children}


def hierarchy_of_tree(column: str, tree: Tree) -> Hierarchy:
    """The same as a hierarchy of `shoal.encode`, which proves once more that it is nested."""
    rows = tree.rows()
    return Hierarchy.from_rows(column, rows, lambda index: f"value {index + 1} of the tree")

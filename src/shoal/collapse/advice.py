"""What to do when there are too many tuples even from the lowest levels that solutions can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.encode.classes import number_rows
from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.collapse.large import Large
    from shoal.values import Ints, Node

SAMPLE = 100_000
"""Made-up records by which levels are compared; how many tuples are left is counted truly."""


def too_many_tuples(large: Large, bottom: Node) -> BadData:
    """The error, with the attributes to raise and by how much."""
    kinds = "quasi-identifiers"
    kinds += ", sensitive values" * bool(large.definition.sensitive)
    kinds += " and persons" * bool(large.definition.person)
    what = (
        f"{large.source.name} has more than {large.most:,} distinct combinations of {kinds}, and "
        "no more may be read"
    )
    return BadData(what, code="too-many-tuples", hint=_remedy(large, bottom))


def _remedy(large: Large, bottom: Node) -> str:
    """Raise the attribute that leaves the fewest tuples, level by level, until they may be read."""
    sample, levels, tuples = _sample(large), bottom, large.most + 1
    while tuples > large.most:
        higher = [
            _risen(levels, j) for j, each in enumerate(large.attributes) if levels[j] < each.limit
        ]
        if not higher:
            allow = "allow more with `engine: {tuples: ...}`"
            return f"even the highest levels leave {tuples:,}; drop a column, or {allow}"
        levels = min(higher, key=lambda node: _tuples(large, sample, node))
        tuples = large.distinct(levels)
    raised = [j for j, level in enumerate(levels) if level > bottom[j]]
    names = [large.attributes[j].name for j in raised]
    values = ", ".join(f"{name} has {len(large.values[name]):,} values" for name in names)
    keys = " and ".join(
        f"`{name}: {{from: {levels[j]}}}`" for j, name in zip(raised, names, strict=True)
    )
    return (
        f"{values}; with {keys} there would be {tuples:,} combinations; or allow more with "
        "`engine: {tuples: ...}` where memory has room for them"
    )


def _sample(large: Large) -> list[Ints]:
    """Codes of made-up records: each attribute as often as it is, whatever the others are."""
    generator = np.random.default_rng(0)
    return [
        generator.choice(len(records), SAMPLE, p=records / records.sum())
        for records in large.records_of
    ]


def _tuples(large: Large, sample: Sequence[Ints], node: Node) -> int:
    """How many tuples the made-up records have at a node."""
    groups = [each.groups[level] for each, level in zip(large.attributes, node, strict=True)]
    codes = [group[code] for group, code in zip(groups, sample, strict=True)]
    return number_rows(codes, [int(group.max()) + 1 for group in groups])[1]


def _risen(node: Node, j: int) -> Node:
    return (*node[:j], node[j] + 1, *node[j + 1 :])

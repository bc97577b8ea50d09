"""What a column's hierarchy is at first when the custodian chooses another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.definition.hierarchies.registry import written
from shoal.encode.propose import propose
from shoal.web.hierarchies.cut_points import first_points

_LONGEST_MASK = 12


def first_of_kind(kind: str, counts: Mapping[str, int]) -> Any:
    """A hierarchy of this kind to start from, as a definition writes it; trees are made elsewhere.

    Where the kind is the one that the values propose, it is that proposal.
    """
    proposed = propose(sorted(counts))
    if proposed.key == kind:
        return written(proposed)
    if kind == "mask":
        return {"mask": min(max(map(len, counts), default=1), _LONGEST_MASK)}
    if kind == "cuts":
        return {"cuts": [list(points) for points in first_points(counts)]}
    if kind == "groups":
        return {"groups": [5, 25]}
    if kind == "intervals":
        return {"intervals": [5, 10, 20]}
    if kind == "date":
        return {"date": ["month", "year"]}
    return "suppress"

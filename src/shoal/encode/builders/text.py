"""Hierarchies of texts: suppression and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.encode.hierarchy import TOP
from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import Mask


def suppress_rows(counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """One row per value: the value, then `*`."""
    return [(value, TOP) for value in sorted(counts)]


def mask_rows(attribute: str, spec: Mask, counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """One row per value: the value, then with so many characters of one end as `*` at each level.

    A value no longer than the step becomes `*` as often as the longest value is long, so that its
    length does not show. Rising steps nest. Say two values have one label at step s, and s < t.
    Both no longer than s: both are all stars at s and at t. Both longer: their labels have equal
    length, so the values have, and they agree outside the last s characters, hence outside the last
    t. One of each: the longer value is as long as the longest of all and shows only stars outside
    its last s characters, hence outside its last t, so both are all stars at t.
    """
    if not spec.mask or min(spec.mask) < 1:
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: a mask hides one character or more at each level",
            hint="for example {mask: 5} or {mask: [1, 2, 5]}",
            code="bad-levels",
        )
    longest = max(map(len, counts), default=0)

    def masked(value: str, step: int) -> str:
        if len(value) <= step:
            return TOP * longest
        return value[:-step] + TOP * step if spec.side == "right" else TOP * step + value[step:]

    return [(value, *(masked(value, step) for step in spec.mask)) for value in sorted(counts)]

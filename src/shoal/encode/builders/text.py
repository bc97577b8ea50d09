"""Hierarchies of texts: suppression, masks, and runs of neighbours in sorted order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.encode.builders.numbers import number_order, parse_number
from shoal.encode.hierarchy import TOP
from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import Groups, Mask


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


def group_rows(attribute: str, spec: Groups, counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """One row per value: the value, then the first and last of its run at each size.

    Runs begin at multiples of their size, so sizes that are multiples of the one before nest.
    """
    if not spec.sizes or min(spec.sizes) < 1:
        raise BadHierarchy(
            f"hierarchy of {attribute!r}: a group has one value or more",
            hint="for example {groups: [2, 4, 8]}",
            code="bad-levels",
        )
    by_number = spec.order == "number" or (
        spec.order == "auto" and all(parse_number(value) is not None for value in counts)
    )
    values = list(number_order(attribute, counts)) if by_number else sorted(counts)
    columns = [
        [_run(values, index // size * size, size) for index in range(len(values))]
        for size in spec.sizes
    ]
    return list(zip(values, *columns, strict=True))


def _run(values: list[str], start: int, size: int) -> str:
    first, last = values[start], values[min(start + size, len(values)) - 1]
    return first if first == last else f"{first}..{last}"

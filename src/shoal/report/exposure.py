"""How easily people are recognised before and after, from the sizes of classes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.values import Exposure, Sizes

if TYPE_CHECKING:
    from shoal.values import Counts, Ints


def exposure_of(classes: Counts, k: int) -> Exposure | None:
    """The exposure of these classes; None where there is none.

    Where persons are counted, a class hides a record among its persons, not among its records.
    """
    if not len(classes.sizes):
        return None
    sizes, hiding = classes.sizes, classes.of(None).sizes
    records = int(sizes.sum())
    return Exposure(
        records=records,
        classes=len(sizes),
        smallest_class=int(hiding.min()),
        highest=1 / int(hiding.min()),
        average=float((sizes / hiding).sum() / records),
        alone=int(sizes[hiding == 1].sum()),
        below_k=int(sizes[hiding < k].sum()),
        sizes=class_sizes(sizes),
    )


def class_sizes(sizes: Ints) -> tuple[Sizes, ...]:
    """How many classes have how many records, each range twice as wide as the one before."""
    ranges, least = [], int(sizes.min()) if len(sizes) else 0
    while least and least <= int(sizes.max()):
        inside = sizes[(sizes >= least) & (sizes < 2 * least)]
        if len(inside):
            ranges.append(Sizes(least, 2 * least - 1, len(inside), int(inside.sum())))
        least *= 2
    return tuple(ranges)

"""What is learned of a sensitive attribute about somebody who is known to be in a class.

A class is homogeneous if all its records have one value: that is the value of everybody in it. It
is skewed if one value has at least 80% of its records, and fewer in the whole table: then the class
says almost as much. A value that is as frequent everywhere is no news, so it makes no class skewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.analysis.keys import Combinations
from shoal.analysis.risk import some_known

if TYPE_CHECKING:
    from shoal.engines.base import Source

SKEWED = 0.8
"""From this share of a class on, one value makes it skewed."""


@dataclass(frozen=True)
class AttributeDisclosure:
    """How many classes, and records in them, disclose a sensitive attribute; no value is named.

    `classes` and `records` are those with some value of it.
    """

    attribute: str
    values: int
    classes: int
    records: int
    homogeneous_classes: int
    homogeneous_records: int
    skewed_classes: int
    skewed_records: int


def attribute_disclosure(
    source: Source,
    quasi_identifiers: Sequence[str],
    attribute: str,
    missing: Sequence[str] = (),
    *,
    missing_as_value: bool = False,
    without_blank: bool = False,
) -> AttributeDisclosure:
    """Count the classes that disclose an attribute; a missing value is none, or one more."""
    counted = source.count_by([*quasi_identifiers, attribute], missing)
    if without_blank:
        counted = some_known(counted, quasi_identifiers)
    if not missing_as_value:
        counted = counted.filter(pc.is_valid(counted[attribute]))
    return _disclosure(attribute, counted, len(quasi_identifiers))


def _disclosure(attribute: str, counted: pa.Table, columns: int) -> AttributeDisclosure:
    """From the records of each combination: every class and value is a row."""
    found = Combinations(counted)
    records = found.records
    class_of, classes = found.class_of(range(columns))
    value_of, values = found.class_of([columns])
    sizes = np.bincount(class_of, records, classes)
    order = np.lexsort((records, class_of))
    last_of_class = np.append(np.diff(class_of[order]) > 0, True)[: len(order)]
    most = order[last_of_class]
    homogeneous = np.bincount(class_of, minlength=classes) == 1
    usual = np.bincount(value_of, records, values) / max(int(records.sum()), 1)
    share = np.zeros(classes)
    share[class_of[most]] = records[most] / sizes[class_of[most]]
    news = np.zeros(classes, dtype=np.bool_)
    news[class_of[most]] = usual[value_of[most]] < SKEWED
    skewed = ~homogeneous & news & (share >= SKEWED)
    return AttributeDisclosure(
        attribute=attribute,
        values=values,
        classes=classes,
        records=int(records.sum()),
        homogeneous_classes=int(homogeneous.sum()),
        homogeneous_records=int(sizes[homogeneous].sum()),
        skewed_classes=int(skewed.sum()),
        skewed_records=int(sizes[skewed].sum()),
    )

"""The memory of one explorer: tuples times depth, never the lattice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shoal.search.boxes import Frame
from shoal.search.kernels import Rows, Scratch

if TYPE_CHECKING:
    from shoal.search.layout import Prepared

COMPRESS_AT = 4096.0
"""Compress when so many times fewer combinations of groups can be told apart than before."""


def rows_of(prepared: Prepared) -> Rows:
    """The tuples, with room for all stretches of a way down.

    On it classes are split once by each attribute and then as often as `hi` falls, and each
    compression leaves 4096 times fewer combinations of groups.
    """
    attributes, tuples = prepared.codes.shape
    combinations = float(np.log(prepared.tables.groups[:, 0]).sum())
    stretches = int(combinations / math.log(COMPRESS_AT)) + 2
    splits = int(prepared.top.sum()) + attributes
    small = prepared.codes.dtype
    rows = Rows(
        np.empty((attributes, tuples * stretches), small),
        np.empty(tuples * stretches, np.int32),
        np.empty((len(prepared.masks), tuples * stretches), np.uint64),
        np.empty(tuples * (splits + stretches + 1), np.uint32),
        np.empty((most_classes(prepared) * (splits + 2), attributes), small),
    )
    rows.codes[:, :tuples] = prepared.codes
    rows.weights[:tuples] = prepared.weights
    rows.masks[:, :tuples] = prepared.masks
    return rows


def scratch_of(prepared: Prepared) -> Scratch:
    """Work space for the kernels, with room for a tally of every class by any attribute."""
    tuples, classes = prepared.codes.shape[1], most_classes(prepared)
    cells = (classes + 2) * int(prepared.tables.groups.max())
    return Scratch(
        np.empty(cells, np.int32),
        np.empty(cells * len(prepared.masks), np.uint64),
        np.empty(cells, np.uint32),
        np.empty(tuples + 1, np.uint32),
        np.empty(tuples, np.uint64),
        np.empty(tuples, np.uint64),
        np.empty(4 * tuples + 8, np.int32),
        np.empty(classes + 1, np.float64),
    )


def frames_of(prepared: Prepared) -> list[Frame]:
    """A stack of boxes; each child fixes an attribute or lowers it, so the way down is short."""
    attributes, shape = len(prepared.top), prepared.tables.base.shape
    return [
        Frame(
            np.zeros(attributes, np.int64),
            np.zeros(attributes, np.int64),
            np.zeros(attributes, np.int64),
            np.zeros(attributes, np.bool_),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape, np.int64),
        )
        for _ in range(int(prepared.top.sum()) + attributes + 2)
    ]


def most_classes(prepared: Prepared) -> int:
    """More classes than any node can have: each has a tuple and k records."""
    tuples, records = len(prepared.weights), int(prepared.weights.sum())
    return min(tuples, records // max(prepared.tables.k, 1)) + 1

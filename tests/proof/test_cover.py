"""Whether boxes cover a lattice, against a look at every node."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.proof.check import uncovered
from shoal.proof.format import ProofBox
from shoal.values import Node


def box(lo: Node, hi: Node) -> ProofBox:
    return ProofBox("bound", lo, hi, 1)


@st.composite
def any_boxes(draw: st.DrawFn) -> tuple[Node, list[ProofBox]]:
    """A small lattice and boxes in it that may overlap and leave nodes out."""
    top = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)))
    boxes = []
    for _ in range(draw(st.integers(0, 7))):
        ends = [sorted(draw(st.lists(st.integers(0, h), min_size=2, max_size=2))) for h in top]
        boxes.append(box(tuple(low for low, _ in ends), tuple(high for _, high in ends)))
    return top, boxes


def has(each: ProofBox, node: Node) -> bool:
    return all(low <= x <= high for low, x, high in zip(each.lo, node, each.hi, strict=True))


@pytest.mark.slow
@given(any_boxes())
@settings(max_examples=250)
def test_a_region_without_a_box_is_found_when_there_is_one(
    given: tuple[Node, list[ProofBox]],
) -> None:
    top, boxes = given
    nodes = list(itertools.product(*(range(h + 1) for h in top)))
    left_out = [node for node in nodes if not any(has(each, node) for each in boxes)]
    gap = uncovered(boxes, top)
    assert (gap is None) == (not left_out)
    if gap is not None:
        region = [node for node in nodes if has(box(*gap), node)]
        assert region
        assert set(region) <= set(left_out)


def halves(lo: Node, hi: Node, boxes: int) -> list[ProofBox]:
    """So many boxes from cuts in two: each time the largest is cut where it is longest."""
    found = [(lo, hi)]
    while len(found) < boxes:
        lo, hi = found.pop(0)
        j = max(range(len(lo)), key=lambda i: hi[i] - lo[i])
        middle = (lo[j] + hi[j]) // 2
        found.append((lo, (*hi[:j], middle, *hi[j + 1 :])))
        found.append(((*lo[:j], middle + 1, *lo[j + 1 :]), hi))
    return [box(*each) for each in found]


@pytest.mark.slow
def test_many_boxes_of_a_huge_lattice_are_checked_in_seconds() -> None:
    top = (3,) * 24
    boxes = halves((0,) * 24, top, 10_000)
    began = time.process_time()
    assert uncovered(boxes, top) is None
    del boxes[7_345]
    assert uncovered(boxes, top) is not None
    assert time.process_time() - began < 20

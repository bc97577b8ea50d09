"""The classes that new records get: at the levels of a transformation, or in its classes.

In full-domain recoding the levels say it. In local recoding each record goes to the finest class
that covers it, and a record that none covers is suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.applying.covering import classes_of, covered, judged
from shoal.applying.together import recoded_at, recoded_locally, unite
from shoal.errors import BadData
from shoal.recoding.local.solution import SUPPRESSED
from shoal.steps.local_release import check_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.applying.together import Union
    from shoal.encode.table import Table
    from shoal.engines.base import Source
    from shoal.release.local_classes import ReleasedClass
    from shoal.search.problem import Partition
    from shoal.steps.releasing import Prepared
    from shoal.values import Best, Node


@dataclass(frozen=True, eq=False)
class Placed:
    """The classes of new records, kept where they meet the demands, and what they cost.

    `best` is None where more records would be suppressed than may be. `union` is that with an
    earlier release. So many records are `uncovered`: no class of a local recoding covers
    them. They are in the last of the classes, which is not kept.
    """

    best: Best | None
    classes: Partition
    union: Union | None
    uncovered: int = 0

    @property
    def refused(self) -> int:
        """How many classes do not meet the demands."""
        return int((~self.classes.kept).sum()) - (self.uncovered > 0)

    @property
    def number(self) -> int:
        """How many classes there are."""
        return len(self.classes.kept) - (self.uncovered > 0)


def placed_at(prepared: Prepared, source: Source, node: Node, earlier: Source | None) -> Placed:
    """The new records at a node."""
    union = None
    if earlier is not None:
        union = unite(prepared, recoded_at(prepared, source, node), earlier)
    classes = prepared.problem.partition(node) if union is None else union.classes
    return Placed(prepared.problem.judge(node, classes), classes, union)


def placed_locally(
    prepared: Prepared, source: Source, classes: Sequence[ReleasedClass], earlier: Source | None
) -> Placed:
    """The new records in the finest classes that cover them."""
    check_local(prepared)
    _refuse_raised(prepared.table)
    problem, recoding = prepared.problem, covered(prepared.table, classes)
    union = None
    if earlier is not None:
        union = unite(prepared, recoded_locally(prepared, source, recoding), earlier)
    found = classes_of(problem, recoding) if union is None else union.classes
    uncovered = int(prepared.table.weights[recoding.class_of == SUPPRESSED].sum())
    return Placed(judged(problem, recoding, found), found, union, uncovered)


def _refuse_raised(table: Table) -> None:
    """Refuse tuples that are counted at higher levels, since there are too many to read."""
    if table.raised is not None:
        raise BadData(
            "the new data has more distinct tuples than may be read, so that the finest classes"
            " cannot be found",
            code="too-many-tuples",
            hint="apply the transformation to fewer records at once, or on a machine with more"
            " memory",
        )

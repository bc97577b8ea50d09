"""What a search knows of unchecked nodes: two facts, each in an antichain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.search.antichain import Antichain, AntichainStatistics
from shoal.search.walks import floor_of

if TYPE_CHECKING:
    from shoal.search.incumbent import Incumbent
    from shoal.search.problem import Problem
    from shoal.values import Best, Node


@dataclass(frozen=True)
class CheckedNode:
    """What is known of a node after its check.

    `best` is the node where it is safe. `loss` is what it would cost whatever it suppresses, and
    `floor` at most the loss of all nodes above it. At an `unsafe` node, and so at all below it, too
    many records are certainly removed.
    """

    best: Best | None
    loss: float
    floor: float
    unsafe: bool


class Pruning:
    """Insufficient quality holds for all nodes above, insufficient protection for all nodes below.

    *Quality*: the bound of a node holds for all above it; once it is above the best loss, none of
    them can be better, nor as good. *Protection*: if a node certainly loses more records than the
    limit, so does every node below it. For k-anonymity and distinct diversity these are the
    suppressed records; other models give a number by `least_removal` or `most_released`. Both facts
    hold for every model and every loss.

    Most losses have a bound that needs no counting (`Objective.lower_bound`). By default it is
    asked before a node is checked. It never falls as a level rises, so it rules out every node that
    the antichain of quality covers, and others: the antichain then saves evaluations, but no check.
    With `bound_before_check=False` a node has a bound only once it is checked, as in the paper, and
    the antichain alone rules out others.
    """

    def __init__(
        self, problem: Problem, incumbent: Incumbent, *, bound_before_check: bool = True
    ) -> None:
        self.problem = problem
        self.incumbent = incumbent
        self.bound_before_check = bound_before_check
        self._poor = Antichain(len(problem.lattice.top), "up")
        self._unsafe = Antichain(len(problem.lattice.top), "down")

    def poor(self, node: Node) -> bool:
        """Whether this node and all above it are known to lose more than the best."""
        if self._poor.covers(node):
            return True
        return self.bound_before_check and self.is_beaten(
            node, self.problem.objective.lower_bound(node)
        )

    def is_beaten(self, node: Node, floor: float) -> bool:
        """Whether a node with this floor, and so all above it, lose more than the best."""
        if self.incumbent.beaten_by(floor):
            self._poor.insert(node)
            return True
        return False

    def unsafe(self, node: Node) -> bool:
        """Whether this node and all below it are known to suppress too many records."""
        return self._unsafe.covers(node)

    def check(self, node: Node) -> CheckedNode:
        """Check a node, and keep what follows for others; the caller offers the best."""
        checked = self.count(node)
        if checked.unsafe:
            self._unsafe.insert(node)
        return checked

    def count(self, node: Node) -> CheckedNode:
        """Count the classes of a node."""
        problem = self.problem
        classes = problem.partition(node)
        return CheckedNode(
            problem.judge(node, classes),
            problem.objective.measure(node, classes),
            floor_of(problem, node, classes),
            problem.removal(classes).records > problem.limit,
        )

    @property
    def statistics(self) -> dict[str, AntichainStatistics]:
        """How each antichain was used up to now."""
        return {
            "insufficient quality": self._poor.statistics,
            "insufficient protection": self._unsafe.statistics,
        }

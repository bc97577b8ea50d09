"""OLA against a plain transcription of its published algorithm, without any shortcut."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings

from problems import Case, cases, problem_of
from shoal.errors import UserError
from shoal.events import Proved, Stopped
from shoal.search.incumbent import Limits
from shoal.search.problem import Lattice, Problem
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.search.strategies.ola import Ola, Tags, minimal_nodes
from shoal.values import Best, Node


@dataclass(frozen=True, eq=False)
class Recorder(Problem):
    """A problem that records which nodes were checked, in their order."""

    checked: list[Node] = field(default_factory=list)

    def check(self, node: Node) -> Best | None:
        self.checked.append(node)
        return super().check(node)


def recorder(problem: Problem) -> Recorder:
    return Recorder(problem.table, problem.models, problem.objective, problem.limit)


def below(x: Node, y: Node) -> bool:
    return all(a <= b for a, b in zip(x, y, strict=True))


class Published:
    """Algorithm Kmin of El Emam and others, 2009, with a dictionary of tags."""

    def __init__(self, problem: Recorder) -> None:
        self.problem = problem
        lattice = problem.lattice
        ranges = zip(lattice.bottom, lattice.top, strict=True)
        self.nodes = list(itertools.product(*(range(low, high + 1) for low, high in ranges)))
        self.safe: dict[Node, bool] = {}
        self.solutions: set[Node] = set()

    def is_safe(self, node: Node) -> bool:
        if node not in self.safe:
            safe = self.problem.check(node) is not None
            for other in self.nodes:
                if below(node, other) if safe else below(other, node):
                    self.safe.setdefault(other, safe)
        return self.safe[node]

    def kmin(self, bottom: Node, top: Node) -> None:
        height = sum(top) - sum(bottom)
        if height > 1:
            for node in Lattice(top, bottom).at_rank(sum(bottom) + height // 2):
                if self.is_safe(node):
                    self.kmin(bottom, node)
                else:
                    self.kmin(node, top)
            return
        found = bottom if self.is_safe(bottom) else top
        self.solutions.add(found)
        self.solutions = {
            each
            for each in self.solutions
            if not any(other != each and below(other, each) for other in self.solutions)
        }


@given(cases())
@settings(max_examples=150)
def test_ola_computes_the_nodes_of_the_published_algorithm_and_no_others(case: Case) -> None:
    ours, theirs = recorder(problem_of(case)), recorder(problem_of(case))
    *_, last = Ola().search(ours, Limits())
    if last.best is None:
        return
    published = Published(theirs)
    assert published.is_safe(theirs.lattice.top)
    published.kmin(theirs.lattice.bottom, theirs.lattice.top)
    assert ours.checked == theirs.checked
    assert last.checked == len(theirs.checked) == len(set(theirs.checked))
    assert {best.node for best in minimal_nodes(ours)} == published.solutions


@given(cases())
@settings(max_examples=100)
def test_ola_has_the_optimum_of_the_exhaustive_search_where_nothing_is_suppressed(
    case: Case,
) -> None:
    problem = problem_of(replace(case, suppression=0))
    *_, truth = Exhaustive().search(problem, Limits())
    *_, last = Ola().search(problem, Limits())
    assert isinstance(last, Proved)
    assert last.best == truth.best


@given(cases())
@settings(max_examples=50)
def test_a_search_that_is_stopped_keeps_a_safe_node_where_the_top_is_safe(case: Case) -> None:
    problem = problem_of(case)
    top = problem.check(problem.lattice.top)
    *_, last = Ola().search(problem, Limits(seconds=0.0))
    height = sum(problem.lattice.top) - sum(problem.lattice.bottom)
    if top is not None and height > 1:
        assert isinstance(last, Stopped)
        assert last.best == top


def test_a_lattice_whose_tags_do_not_fit_into_memory_is_refused() -> None:
    with pytest.raises(UserError, match="536,870,912") as caught:
        Tags(Lattice((9,) * 9))
    assert caught.value.code == "lattice-too-large"
    assert "strategy: box" in (caught.value.hint or "")

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings

from oracle import optimum, outcome
from problems import Case, cases, problem_of
from shoal.events import Proved, Stopped
from shoal.search.incumbent import Limits
from shoal.search.problem import Lattice
from shoal.search.strategies.exhaustive import Exhaustive


@pytest.mark.slow
@given(cases())
@settings(max_examples=300)
def test_the_check_of_every_node_agrees_with_plain_python(case: Case) -> None:
    problem = problem_of(case)
    for node in itertools.product(*(range(limit + 1) for limit in case.limits)):
        expected = outcome(case.rows, case.ladders, node, case.k, case.priorities)
        found = problem.check(node)
        if expected.suppressed > case.suppression or not expected.released:
            assert found is None
            continue
        assert found is not None
        assert abs(found.loss - float(expected.loss)) < 1e-12
        assert found.suppressed == expected.suppressed
        assert found.classes == len(set(expected.released))
        assert found.smallest_class == min(Counter(expected.released).values())
        assert problem.objective.lower_bound(node) <= found.loss + 1e-12


@pytest.mark.slow
@given(cases())
@settings(max_examples=300)
def test_exhaustive_search_proves_the_optimum_of_plain_python(case: Case) -> None:
    events = list(Exhaustive().search(problem_of(case), Limits()))
    expected = optimum(
        case.rows, case.ladders, case.limits, case.k, case.suppression, case.priorities
    )
    last = events[-1]
    assert isinstance(last, Proved)
    if expected is None:
        assert last.best is None
        return
    assert last.best is not None
    assert last.best.node == expected.node
    assert last.best.suppressed == expected.suppressed
    assert abs(last.best.loss - float(expected.loss)) < 1e-12
    assert last.gap == 0.0
    for event in events:
        assert event.bound <= float(expected.loss) + 1e-12


@pytest.mark.slow
@given(cases())
@settings(max_examples=50)
def test_a_search_out_of_time_stops_and_says_so(case: Case) -> None:
    events = list(Exhaustive().search(problem_of(case), Limits(seconds=0.0)))
    last = events[-1]
    assert isinstance(last, Stopped) or (isinstance(last, Proved) and last.best is None)
    assert not isinstance(last, Stopped) or last.reason == "time limit"
    assert all(event.checked <= 1 for event in events)


def test_the_lattice_gives_every_node_once_by_rising_bound() -> None:
    lattice = Lattice((2, 0, 3, 1))
    weights = (0.3, 0.1, 0.2, 0.05)
    walk = list(lattice.ascending(lambda node: sum(map(lambda w, x: w * x, weights, node))))
    bounds = [bound for bound, _ in walk]
    assert bounds == sorted(bounds)
    nodes = [node for _, node in walk]
    assert sorted(nodes) == sorted(itertools.product(range(3), range(1), range(4), range(2)))
    assert lattice.nodes == len(nodes) == 24

"""The smallest relaxations: found by the search, judged by looking at every limit there is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given

from oracle import optimum
from problems import Case, cases, problem_of
from shoal.search.relax import smallest_raises


def feasible(case: Case, limits: tuple[int, ...]) -> bool:
    found = optimum(case.rows, case.ladders, limits, case.k, case.suppression, case.priorities)
    return found is not None


@pytest.mark.slow
@given(cases())
def test_raises_are_the_fewest_levels_that_make_a_solution(case: Case) -> None:
    if feasible(case, case.limits):
        return
    heights = tuple(ladder.height for ladder in case.ladders)
    above = itertools.product(
        *(range(limit, height + 1) for limit, height in zip(case.limits, heights, strict=True))
    )
    enough = [limits for limits in above if feasible(case, limits)]
    least = min((sum(limits) for limits in enough), default=None)
    raises = smallest_raises(problem_of(case))
    assert raises.complete
    found = [
        tuple(each.get(name, limit) for name, limit in zip(case.names, case.limits, strict=True))
        for each in raises.found
    ]
    assert bool(found) == bool(enough)
    assert all(limits in enough for limits in found)
    assert not found or sum(found[0]) == least
    for limits in found:
        others = [other for other in enough if other != limits]
        assert not any(all(o <= l for o, l in zip(other, limits, strict=True)) for other in others)


@pytest.mark.slow
@given(cases())
def test_where_a_solution_exists_with_higher_limits_the_relaxed_problem_has_it(case: Case) -> None:
    for each in smallest_raises(problem_of(case)).found:
        limits = tuple(
            each.get(name, limit) for name, limit in zip(case.names, case.limits, strict=True)
        )
        assert feasible(replace(case, limits=limits), limits)

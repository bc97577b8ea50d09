"""Extended against basic match when the same number of records may be left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from oracle import optimum
from problems import Case, cases, problem_of
from shoal.search.incumbent import Limits
from shoal.search.strategies.box import BoxSearch


@pytest.mark.slow
@given(cases())
def test_extended_match_never_loses_more_where_as_many_records_may_be_left_out(case: Case) -> None:
    complete = tuple(row for row in case.rows if None not in row)
    removed = len(case.rows) - len(complete)
    arguments = (case.ladders, case.limits, case.k, case.suppression, case.priorities)
    basic = optimum(complete, *arguments) if complete else None
    if basic is None:
        return
    fair = replace(case, suppression=case.suppression + removed)
    *_, last = BoxSearch().search(problem_of(fair), Limits())
    assert last.best is not None
    lost = (float(basic.loss) * len(complete) + removed) / len(case.rows)
    assert last.best.loss <= lost + 1e-12

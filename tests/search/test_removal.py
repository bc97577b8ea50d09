"""What the compiled search says must go of a class, against what the models say."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Ladder
from problems import Case, sensitive_problem
from shoal.loss.builtin import Iyengar
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.search.compiled.demands import demands_of
from shoal.search.compiled.library import load
from shoal.search.compiled.sensitive import structure_of, values_of
from shoal.search.problem import Problem
from shoal.values import Counts

ABOVE_0 = st.floats(0.05, 4.0)
MODELS: dict[str, st.SearchStrategy[PrivacyModel]] = {
    "distinct": st.builds(DistinctDiversity, st.just("s"), st.integers(2, 5)),
    "entropy": st.builds(EntropyDiversity, st.just("s"), st.floats(1.05, 4.5)),
    "recursive": st.builds(RecursiveDiversity, st.just("s"), ABOVE_0, st.integers(2, 4)),
    "closeness": st.builds(
        TCloseness,
        st.just("s"),
        st.floats(0, 0.9),
        st.sampled_from(["equal", "ordered", "hierarchical"]),
    ),
    "alpha": st.builds(AlphaAnonymity, st.just("s"), st.floats(0.1, 0.9)),
    "beta": st.builds(BetaLikeness, st.just("s"), ABOVE_0, st.booleans()),
    "delta": st.builds(DeltaDisclosure, st.just("s"), ABOVE_0),
}
COUNTS = st.lists(st.integers(0, 40), min_size=5, max_size=5).filter(lambda counts: sum(counts) > 0)
"""How many records have each of the four values, and how many none."""


def least(values: Any, k: int, size: int) -> int:
    """The removal of a class whose values are in the first row of the tally, as C counts it."""
    library = load()
    library.shoal_removal.restype = ctypes.c_int64
    arguments = (ctypes.c_int64(k), ctypes.c_int64(size))
    return int(library.shoal_removal(ctypes.byref(values), *arguments))


def two_classes(first: list[int], second: list[int], model: PrivacyModel) -> Problem:
    """A table of two tuples with so many records of each value."""
    rows, values = [], []
    for name, counts in (("x", first), ("y", second)):
        for value, count in zip([0, 1, 2, 3, -1], counts, strict=True):
            rows += [(name,)] * count
            values += [value] * count
    ladder = Ladder({"x": ("x", "*"), "y": ("y", "*")})
    case = Case(tuple(rows), (ladder,), (1,), (Fraction(1),), 2, 0)
    return sensitive_problem(case, values, [model], Iyengar())


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
@given(st.data(), COUNTS, COUNTS)
@settings(max_examples=150)
def test_the_kernel_says_what_the_model_says(
    kind: str, data: st.DataObject, first: list[int], second: list[int]
) -> None:
    """Never more; on the edge, where floats are summed in another order, one record less."""
    model = data.draw(MODELS[kind])
    problem = two_classes(first, second, model)
    table = problem.table
    values, arrays = structure_of(values_of(problem, demands_of(problem)), 2, 2, 2, 1)
    counts = Counts(table.weights, table.histograms)
    expected, satisfied = model.least_removal(counts), model.satisfied(counts)
    for t, size in enumerate(table.weights.tolist()):
        arrays["tally"][:] = 0
        entries = slice(arrays["starts"][t], arrays["starts"][t + 1])
        arrays["tally"][0, arrays["value"][entries]] = arrays["counted"][entries]
        found = least(values, 1, size)
        assert expected[t] - 1 <= found <= expected[t]
        assert found == 0 or not satisfied[t]
        assert least(values, size + 1, size) == size

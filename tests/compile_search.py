"""Compile the box search before the tests, so that all test processes only load it.

The compiled code depends on two things: whether a model looks at the values of a class, and whether
the loss is one of classes. Numba keeps the code of each combination on disk. Without this step
every test process compiles on its own, and they overwrite each other's index of that cache.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from oracle import Ladder
from problems import Case, sensitive_problem
from shoal.loss.base import Loss
from shoal.loss.builtin import Discernibility, Iyengar
from shoal.privacy.base import PrivacyModel
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.search.incumbent import Limits
from shoal.search.strategies.box import BoxSearch

LADDER = Ladder({"a": ("a", "*"), "b": ("b", "*")})
CASE = Case((("a",), ("b",), ("a",), ("b",)), (LADDER,), (1,), (Fraction(1),), 2, 0)
LOSSES: tuple[Loss, ...] = (Iyengar(), Discernibility())
MODELS: tuple[tuple[PrivacyModel, ...], ...] = ((), (EntropyDiversity("s", 2),))


def main() -> None:
    """Search one tiny problem for each variant of the compiled code."""
    for loss, models in product(LOSSES, MODELS):
        problem = sensitive_problem(CASE, [0, 1, 1, 0], models, loss)
        for _ in BoxSearch(compiled_from=0).search(problem, Limits(threads=1)):
            pass


if __name__ == "__main__":
    main()

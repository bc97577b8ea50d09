"""How many examples Hypothesis tries for each test.

A test says in `max_examples` how many are enough for a long run. The whole suite tries a part of
them, other ones every time; `pytest --all-examples` tries them all, and so does
`scripts/prove --examples`.
"""

from __future__ import annotations

import pytest
from hypothesis import is_hypothesis_test, settings

PART = 3
"""The whole suite tries one in so many of the examples of a test."""
LEAST = 25
"""But so many at least, where the test has as many."""

SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps the settings of a test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-examples", action="store_true", help="Try all examples of each Hypothesis test."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lower the number of examples of each Hypothesis test, once where it has several cases."""
    if config.getoption("--all-examples"):
        return
    tests = (item.obj for item in items if isinstance(item, pytest.Function))
    for test in {getattr(test, "__func__", test) for test in tests if is_hypothesis_test(test)}:
        said = getattr(test, SETTINGS)
        setattr(test, SETTINGS, settings(said, max_examples=in_suite(said.max_examples)))


def in_suite(examples: int) -> int:
    """How many of a test's examples the whole suite tries."""
    return max(min(examples, LEAST), examples // PART)

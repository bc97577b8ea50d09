"""The conformance suites of Shoal, and one value worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shoal.loss.base import Loss
from shoal.privacy.base import PrivacyModel
from shoal.testing import LossSuite, PrivacyModelSuite
from shoal_example_plugin.simpson import SimpsonDiversity
from shoal_example_plugin.steep import Steep


class TestSimpsonDiversity(PrivacyModelSuite):
    def models(self) -> Sequence[PrivacyModel]:
        return [SimpsonDiversity("s", l) for l in (1.2, 2, 2.5)]


class TestSteep(LossSuite):
    def losses(self) -> Sequence[Loss]:
        return [Steep(), Steep(power=1), Steep(power=3.5)]


def test_two_values_in_equal_shares_are_two_effective_values() -> None:
    assert SimpsonDiversity("s", 2).holds(4, {"a": 2, "b": 2}, {})
    assert not SimpsonDiversity("s", 2).holds(4, {"a": 3, "b": 1}, {})


def test_a_senseless_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="l must be above 1"):
        SimpsonDiversity("s", 1)
    with pytest.raises(ValueError, match="power must be at least 1"):
        Steep(power=0.5)

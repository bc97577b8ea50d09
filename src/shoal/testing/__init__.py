"""Conformance suites: what every privacy model and every loss must do, ours and anybody else's.

A plug-in subclasses a suite in its own tests and says what to test; pytest does the rest:

    class TestSimpson(PrivacyModelSuite):
        def models(self):
            return [SimpsonDiversity("s", 2)]

The cases are random with a fixed seed, so a failure comes back. Only NumPy and the standard library
are needed.
"""

from __future__ import annotations

from shoal.testing.losses import LossSuite
from shoal.testing.models import PrivacyModelSuite

__all__ = ["LossSuite", "PrivacyModelSuite"]

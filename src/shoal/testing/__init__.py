"""Conformance suites: what every part must do that can be plugged in, ours and anybody else's.

A plug-in subclasses a suite in its own tests and says what to test; pytest does the rest:

    class TestSimpson(PrivacyModelSuite):
        def models(self):
            return [SimpsonDiversity("s", 2)]

The cases are random with a fixed seed, so a failure comes back. Nothing is needed but what Shoal
itself needs.
"""

from __future__ import annotations

from shoal.testing.builders import BuilderSuite
from shoal.testing.formats import ReaderSuite, WriterSuite
from shoal.testing.losses import LossSuite
from shoal.testing.models import PrivacyModelSuite
from shoal.testing.strategies import StrategySuite

__all__ = [
    "BuilderSuite",
    "LossSuite",
    "PrivacyModelSuite",
    "ReaderSuite",
    "StrategySuite",
    "WriterSuite",
]

"""Conformance suites: what every plug-in must do, ours and those of third parties.

A plug-in subclasses a suite in its own tests and returns what to test; pytest does the rest:

    class TestSimpson(PrivacyModelSuite):
        def models(self):
            return [SimpsonDiversity("s", 2)]

The cases are random with a fixed seed, so a failure is reproducible. The suites need no package
that Shoal does not need.

One file per kind of plug-in: `models.py`, `losses.py`, `strategies.py`, `builders.py`,
`formats.py`. `classes.py` and `domains.py` make the random cases, `claims.py` has the checks that
all share.
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

"""The conformance suites of Shoal, and one value worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from shoal.loss.base import Loss
from shoal.privacy.base import PrivacyModel
from shoal.search.strategies import Strategy
from shoal.testing import (
    BuilderSuite,
    LossSuite,
    PrivacyModelSuite,
    ReaderSuite,
    StrategySuite,
    WriterSuite,
)
from shoal.testing.formats import Rows
from shoal_example_plugin.initials import Initials
from shoal_example_plugin.sampled import Sampled
from shoal_example_plugin.simpson import SimpsonDiversity
from shoal_example_plugin.stanzas import StanzaReader, StanzaWriter
from shoal_example_plugin.steep import Steep


class TestSimpsonDiversity(PrivacyModelSuite):
    def models(self) -> Sequence[PrivacyModel]:
        return [SimpsonDiversity("s", l) for l in (1.2, 2, 2.5)]


class TestSteep(LossSuite):
    def losses(self) -> Sequence[Loss]:
        return [Steep(), Steep(power=1), Steep(power=3.5)]


class TestSampled(StrategySuite):
    cases = 15

    def strategies(self) -> Sequence[Strategy]:
        return [Sampled(), Sampled(nodes=1)]


class TestInitials(BuilderSuite):
    def builders(self) -> Sequence[Initials]:
        return [Initials(), Initials(letters=1), Initials(letters=5)]

    def values(self) -> Sequence[str]:
        return ["Oslo", "Oslofjord", "O", "Ostrava", "Åbo", "...", "O...", " "]


class TestStanzaReader(ReaderSuite):
    def reader(self) -> StanzaReader:
        return StanzaReader()

    def files(self) -> Sequence[tuple[bytes, Mapping[str, str], Rows]]:
        text = "name: Ann\nage: 30\n\nname: two\\nlines\nage\n\nage: 5\n\n"
        rows: Rows = [
            {"name": "Ann", "age": "30"},
            {"name": "two\nlines", "age": None},
            {"name": None, "age": "5"},
        ]
        return [(text.encode(), {}, rows)]


class TestStanzaWriter(WriterSuite):
    def writer(self) -> StanzaWriter:
        return StanzaWriter()

    def reader(self) -> StanzaReader:
        return StanzaReader()


def test_two_values_in_equal_shares_are_two_effective_values() -> None:
    assert SimpsonDiversity("s", 2).holds(4, {"a": 2, "b": 2}, {})
    assert not SimpsonDiversity("s", 2).holds(4, {"a": 3, "b": 1}, {})


def test_a_senseless_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="l must be above 1"):
        SimpsonDiversity("s", 1)
    with pytest.raises(ValueError, match="power must be at least 1"):
        Steep(power=0.5)
    with pytest.raises(ValueError, match="letters must be at least 1"):
        Initials(letters=0)
    with pytest.raises(ValueError, match="nodes must be at least 1"):
        Sampled(nodes=0)

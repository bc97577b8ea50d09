"""The suites that plug-ins must pass, passed by everything that comes with Shoal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

import models_oracle as oracle
from shoal import plugins
from shoal.engines.formats.excel import ExcelReader, ExcelWriter
from shoal.engines.formats.xml import XmlReader, XmlWriter
from shoal.loss.base import Domain, Loss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.testing import LossSuite, PrivacyModelSuite, ReaderSuite, StrategySuite, WriterSuite
from shoal.testing.classes import MISSING, TREE
from shoal.testing.formats import Rows
from shoal.testing.losses import Plain
from shoal.testing.models import Holds
from shoal.values import Counts

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from shoal.loss.base import Floats
    from shoal.search.strategies import Strategy
    from shoal.values import Bools, Ints

MODELS: tuple[PrivacyModel, ...] = (
    KAnonymity(3),
    DistinctDiversity("s", 3),
    EntropyDiversity("s", 2.6),
    RecursiveDiversity("s", 1.5, 2),
    RecursiveDiversity("s", 3, 3),
    TCloseness("s", 0.3),
    TCloseness("s", 0.2, "ordered"),
    TCloseness("s", 0.3, "hierarchical"),
    AlphaAnonymity("s", 0.6),
    BetaLikeness("s", 0.5),
    BetaLikeness("s", 1.5, True),
    DeltaDisclosure("s", 0.7),
)

Values = Mapping[str | None, int]


def judge_of(model: PrivacyModel, table: Sequence[str | None]) -> oracle.Judge:
    """The oracle of a model, for a table with these values in this order."""
    tree = [
        [(MISSING if value is None else TREE[value])[level] for value in table]
        for level in range(len(MISSING))
    ]
    distances = {
        "equal": oracle.equal_distance,
        "ordered": oracle.ordered_distance,
        "hierarchical": oracle.tree_distance(tree),
    }
    match model:
        case DistinctDiversity():
            return oracle.distinct(model.l)
        case EntropyDiversity():
            return oracle.entropy(model.l)
        case RecursiveDiversity():
            return oracle.recursive(Fraction(str(model.c)), model.l)
        case TCloseness():
            limit = Fraction(str(model.t))
            return oracle.closeness(limit, len(table), distances[model.distance])
        case AlphaAnonymity():
            return oracle.alpha(Fraction(str(model.alpha)))
        case BetaLikeness():
            return oracle.beta(Fraction(str(model.beta)), len(table), model.enhanced)
        case DeltaDisclosure():
            return oracle.delta(model.delta, len(table))
    raise AssertionError(f"{model} has no oracle")


class TestBuiltInModels(PrivacyModelSuite):
    def models(self) -> Sequence[PrivacyModel]:
        return MODELS

    def plain(self, model: PrivacyModel) -> Holds:
        def holds(size: int, values: Values, table: Values) -> bool:
            if isinstance(model, KAnonymity):
                return size >= model.k
            order = sorted(table, key=lambda value: (value is None, value or ""))
            ranks = {value: i for i, value in enumerate(order)}
            listed, whole = (
                [ranks[value] for value, count in each.items() for _ in range(count)]
                for each in (values, table)
            )
            return judge_of(model, order)(listed, whole)

        return holds

    def test_no_model_is_left_out(self) -> None:
        assert {model.name for model in MODELS} == brought_by_shoal("privacy")


class TestBuiltInLosses(LossSuite):
    def losses(self) -> Sequence[Loss]:
        return (
            Iyengar(),
            Precision(),
            NonUniformEntropy(),
            Weighted(),
            Discernibility(),
            ClassSize(),
        )

    def plain(self, loss: Loss) -> Plain:
        return PLAIN_LOSSES[loss.name]

    def test_no_loss_is_left_out(self) -> None:
        assert {loss.name for loss in self.losses()} == brought_by_shoal("loss")


def brought_by_shoal(kind: str) -> set[str]:
    return {part.name for part in plugins.installed(kind) if part.distribution == "shoal"}


def under(domain: Domain, level: int, code: int) -> list[int]:
    """The values that share the group of a value at a level, missing left out."""
    values = range(len(domain.weights) - 1)
    return [v for v in values if domain.groups[level][v] == domain.groups[level][code]]


def plain_iyengar(domain: Domain, level: int, code: int) -> float:
    values = len(domain.weights) - 1
    if code == values or values == 1:
        return 0.0
    return (len(under(domain, level, code)) - 1) / (values - 1)


def plain_precision(domain: Domain, level: int, code: int) -> float:
    height = len(domain.groups) - 1
    return 0.0 if height == 0 or code == len(domain.weights) - 1 else level / height


def plain_entropy(domain: Domain, level: int, code: int) -> float:
    weights = domain.weights.tolist()
    occurring = [weight for weight in weights[:-1] if weight]
    if code == len(weights) - 1 or not weights[code]:
        return 0.0
    most = math.log2(sum(weights) / min(occurring))
    alike, own = (
        sum(weight for weight, group in zip(weights, groups, strict=True) if group == groups[code])
        for groups in (domain.groups[level], domain.groups[0])
    )
    bits = math.log2(alike / own)
    return min(bits / most, 1.0) if most else 0.0


def plain_weighted(domain: Domain, level: int) -> float:
    if domain.quantifiers is not None:
        return domain.quantifiers[level]
    return level / max(len(domain.groups) - 1, 1)


def plain_discernibility(sizes: Sequence[int], suppressed: int, records: int) -> float:
    paid = [size for size in sizes for _ in range(size)] + [records] * suppressed
    return sum(paid) / records**2


def plain_class_size(sizes: Sequence[int], suppressed: int, records: int) -> float:
    return (sum(sizes) + suppressed) / (len(sizes) or 1)


PLAIN_LOSSES: dict[str, Plain] = {
    "iyengar": plain_iyengar,
    "precision": plain_precision,
    "entropy": plain_entropy,
    "weighted": plain_weighted,
    "discernibility": plain_discernibility,
    "class-size": plain_class_size,
}


# Parts that are wrong in one way each: the suites would be worth nothing if these passed.


class Greedy(DistinctDiversity):
    def least_removal(self, counts: Counts) -> Ints:
        return counts.sizes


class AtMost(DistinctDiversity):
    """Few different values: a union of such classes can have more."""

    def satisfied(self, counts: Counts) -> Bools:
        few: Bools = np.diff(counts.histograms["s"].starts) <= self.l
        return few

    def least_removal(self, counts: Counts) -> Ints:
        return counts.sizes * 0


class Neighbourly(KAnonymity):
    def satisfied(self, counts: Counts) -> Bools:
        above: Bools = counts.sizes >= counts.sizes.mean()
        return above


class Boastful(KAnonymity):
    def reached(self, counts: Counts) -> float:
        return float(counts.sizes.sum())


class Contrary(KAnonymity):
    def reached(self, counts: Counts) -> float:
        return float(counts.sizes.min() % 3)


class Careless(KAnonymity):
    def satisfied(self, counts: Counts) -> Bools:
        counts.sizes[:] = 9
        return counts.sizes >= self.k


class Slow(KAnonymity):
    def satisfied(self, counts: Counts) -> Bools:
        rounds = 5 * (len(counts.sizes) // 2000) ** 2
        for _ in range(rounds):
            np.sort(counts.sizes[:2000])
        return counts.sizes >= self.k


class Disagreeing(KAnonymity):
    def holds(self, size: int, values: Values, table: Values) -> bool:
        return size > self.k


@pytest.mark.parametrize(
    ("model", "check", "sentence"),
    [
        (Greedy("s", 2), "least_removal_is_never_above_the_truth", "may stay"),
        (AtMost("s", 2), "a_union_of_good_classes_is_good_where", "not closed under union"),
        (Neighbourly(2), "a_class_is_judged_by_itself", "neighbours"),
        (Boastful(2), "what_classes_reach_is_what_the_weakest", "together"),
        (Contrary(3), "what_is_reached_tells_whether", "meets the demand"),
        (Careless(2), "answers_have_one_entry", "read-only"),
        (Slow(2), "ten_times_the_classes", "times as long"),
        (Disagreeing(2), "satisfied_agrees_with_plain_python", "plain Python"),
        (KAnonymity(2), "satisfied_agrees_with_plain_python", "no `holds`"),
        (AtMost("s", 2), "a_definition_that_demands", "gets"),
    ],
)
def test_a_wrong_model_is_caught(model: PrivacyModel, check: str, sentence: str) -> None:
    class Suite(PrivacyModelSuite):
        def models(self) -> Sequence[PrivacyModel]:
            return [model]

    with pytest.raises((AssertionError, ValueError), match=sentence):
        run_check(Suite(), check)


class Falling(Precision):
    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        return super().cell_costs(domain)[::-1]


class Dear(Precision):
    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        return tuple(2 * cost for cost in super().cell_costs(domain))


class MissingDear(Precision):
    def cell_costs(self, domain: Domain) -> tuple[Floats, ...]:
        return tuple(np.append(cost[:-1], 1.0) for cost in super().cell_costs(domain))


class FallingLevels(Weighted):
    def level_costs(self, domain: Domain) -> tuple[float, ...]:
        return super().level_costs(domain)[::-1]


class Hasty(Discernibility):
    def least(self, finest: Ints, dropped: int, records: int) -> float:
        return super().least(finest, dropped, records) + dropped / records**2


@dataclass(frozen=True)
class Nothing:
    name: str = "nothing"


@pytest.mark.parametrize(
    ("loss", "check", "sentence"),
    [
        (Falling(), "costs_of_cells", "falls"),
        (Dear(), "costs_of_cells", "outside 0 to 1"),
        (MissingDear(), "a_missing_cell", "missing cells most"),
        (FallingLevels(), "costs_of_levels", "falls"),
        (Hasty(), "the_least_loss_of_classes", "at least"),
        (Falling(), "a_loss_agrees_with_plain_python", "in plain Python"),
        (Nothing(), "a_loss_is_a_frozen_value", "not a loss of"),
    ],
)
def test_a_wrong_loss_is_caught(loss: Loss, check: str, sentence: str) -> None:
    class Suite(LossSuite):
        def losses(self) -> Sequence[Loss]:
            return [loss]

        def plain(self, loss: Loss) -> Plain:
            return PLAIN_LOSSES[loss.name]

    with pytest.raises(AssertionError, match=sentence):
        run_check(Suite(), check)


def run_check(suite: PrivacyModelSuite | LossSuite, check: str) -> None:
    """Run the one check whose name begins so."""
    (name,) = (name for name in dir(suite) if name.startswith(f"test_{check}"))
    getattr(suite, name)()


class TestOurStrategies(StrategySuite):
    cases = 4

    def strategies(self) -> Sequence[Strategy]:
        names = [
            part.name for part in plugins.installed("strategy") if part.distribution == "shoal"
        ]
        return [plugins.make("strategy", name, {}) for name in names]


class TestXmlReader(ReaderSuite):
    def reader(self) -> XmlReader:
        return XmlReader()

    def files(self) -> Sequence[tuple[bytes, Mapping[str, str], Rows]]:
        text = b"<a><p x='1'><y>2</y></p><p><y>3</y></p></a>"
        both: Rows = [{"x": "1", "y": "2"}, {"x": None, "y": "3"}]
        return [
            (text, {}, both),
            (text, {"row": "p", "fields": "attributes"}, [{"x": "1"}, {"x": None}]),
        ]


class TestXmlWriter(WriterSuite):
    def writer(self) -> XmlWriter:
        return XmlWriter()

    def reader(self) -> XmlReader:
        return XmlReader()

    def options(self) -> Sequence[Mapping[str, str]]:
        return [{}, {"row": "patient"}, {"fields": "attributes"}]


class TestExcelWriter(WriterSuite):
    def writer(self) -> ExcelWriter:
        return ExcelWriter()

    def reader(self) -> ExcelReader:
        return ExcelReader()

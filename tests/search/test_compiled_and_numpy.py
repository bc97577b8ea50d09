"""Problems with many attributes, of every kind: the compiled search finds what that in NumPy finds.

They are large enough that tuples are merged, keys become hashes, and persons are counted one by
one, which small problems never need.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest

from oracle import Ladder
from problems import Case, person_problem, sensitive_problem
from shoal import privacy
from shoal.encode.table import Population
from shoal.events import Proved
from shoal.loss.base import Loss
from shoal.loss.builtin import ClassSize, Discernibility, Iyengar, NonUniformEntropy, Weighted
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.search.compiled import release
from shoal.search.compiled.boxes import Box
from shoal.search.compiled.explorer import Explorer
from shoal.search.compiled.layout import fits, prepare
from shoal.search.incumbent import Limits
from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.values import Best, Closed

RECORDS = 300
FEW, MANY, WIDE, LONG = (8,) * 6, (8,) * 8, (8, 8, 8, 8, 8, 120), (160,) * 9
"""How many values the attributes have. In `MANY` tuples are merged, `WIDE` has one of many values,
and in `LONG` there are more combinations of values than 64 bits can number."""


@dataclass(frozen=True)
class Kind:
    """A kind of problem: what is demanded, by persons or not, how many people are in the population
    beside those of the records, the loss, and how many values the attributes have. With `room` 0 no
    tally of several classes fits.
    """

    models: tuple[PrivacyModel, ...] = ()
    loss: Loss = field(default_factory=Iyengar)
    aggregate: str = "mean"
    persons: bool = False
    people: int = 0
    widths: tuple[int, ...] = FEW
    room: int = 16


KINDS: dict[str, Kind] = {
    "sizes": Kind(widths=MANY),
    "levels": Kind(loss=Weighted(), widths=MANY),
    "geometric": Kind(loss=NonUniformEntropy(), aggregate="geometric", widths=MANY),
    "wide": Kind(widths=WIDE, room=0),
    "masks": Kind((DistinctDiversity("s", 3),), widths=MANY),
    "wide masks": Kind((DistinctDiversity("s", 2),), widths=WIDE, room=0),
    "entropy": Kind((EntropyDiversity("s", 2.2),)),
    "recursive": Kind((RecursiveDiversity("s", 2.0, 2),)),
    "equal closeness": Kind((TCloseness("s", 0.3),)),
    "ordered closeness": Kind((TCloseness("s", 0.2, "ordered"),), aggregate="geometric"),
    "hierarchical closeness": Kind((TCloseness("s", 0.3, "hierarchical"),)),
    "shares": Kind((AlphaAnonymity("s", 0.6), BetaLikeness("s", 1.5, True))),
    "disclosure": Kind((DeltaDisclosure("s", 1.5),)),
    "persons": Kind(persons=True, widths=MANY),
    "persons, wide": Kind(persons=True, widths=WIDE, room=0),
    "persons and masks": Kind((DistinctDiversity("s", 3),), persons=True),
    "discernibility": Kind(loss=Discernibility(), widths=MANY),
    "class size": Kind(loss=ClassSize()),
    "discernibility and entropy": Kind((EntropyDiversity("s", 2.0),), Discernibility()),
    "class size by persons": Kind(loss=ClassSize(), persons=True),
    "average risk": Kind((AverageRisk(0.1),)),
    "low average risk": Kind((AverageRisk(0.05), AverageRisk(0.02)), NonUniformEntropy()),
    "records above": Kind((RecordsAbove(0.1, 0.1), AverageRisk(0.12)), aggregate="geometric"),
    "average risk, wide": Kind((AverageRisk(0.1),), widths=WIDE, room=0),
    "average risk and masks": Kind((AverageRisk(0.1), DistinctDiversity("s", 3))),
    "average risk and closeness": Kind((AverageRisk(0.1), TCloseness("s", 0.3))),
    "average risk and classes": Kind((AverageRisk(0.1),), Discernibility()),
    "k-map": Kind((KMap(12),), people=600),
    "k-map, wide": Kind((KMap(12),), people=600, widths=WIDE, room=0),
    "k-map and class size": Kind((KMap(12),), ClassSize(), people=600),
    "delta-presence": Kind((DeltaPresence(0, 0.4),), people=600),
    "delta-presence and entropy": Kind(
        (DeltaPresence(0, 0.4), EntropyDiversity("s", 2.0), RecordsAbove(0.1, 0.2)), people=600
    ),
    "least presence": Kind((DeltaPresence(0.2, 0.9),), people=600),
    "hashed keys": Kind(widths=LONG),
    "hashed keys and masks": Kind((DistinctDiversity("s", 2),), widths=LONG),
    "hashed keys by persons": Kind(persons=True, widths=LONG),
    "hashed keys of cells": Kind(loss=Discernibility(), widths=LONG),
}
MERGED = ("sizes", "levels", "geometric", "masks", "persons", "discernibility")
"""Kinds whose tuples are merged. Sensitive values that are not bits keep tuples apart."""


def problem_of(kind: Kind, seed: int) -> Problem:
    """Random records with values of `s` and persons; groups merge in pairs."""
    random = np.random.default_rng(seed)
    ladders = tuple(
        Ladder({f"{i}": (f"{i}", f"a{i // 2}", f"b{i // 4}", "*") for i in range(width)})
        for width in kind.widths
    )
    shares = [0.35] * (len(ladders) - 1) + [0.02 if kind.widths == WIDE else 0.35]
    cells = [
        np.minimum(random.geometric(share, RECORDS), width) - 1
        for share, width in zip(shares, kind.widths, strict=True)
    ]
    rows = tuple(tuple(str(code) for code in row) for row in np.column_stack(cells).tolist())
    tops = tuple(each.height for each in ladders)
    priorities = tuple(Fraction(int(random.integers(1, 4)), 4) for _ in ladders)
    case = Case(rows, ladders, tops, priorities, int(random.integers(3, 7)), RECORDS // 5)
    values = (random.geometric(0.4, RECORDS).clip(max=5) - 2).tolist()
    if not kind.persons:
        problem = sensitive_problem(case, values, kind.models, kind.loss, kind.aggregate)
        return with_people(problem, kind.people, random) if kind.people else problem
    persons = random.integers(0, RECORDS // 2, RECORDS).tolist()
    return person_problem(case, persons, values, kind.models, kind.loss, kind.aggregate)


def with_people(problem: Problem, people: int, random: np.random.Generator) -> Problem:
    """The same with a population: the records, and people with the values of several of them."""
    table = problem.table
    codes = []
    for column in table.codes:
        values = column[random.integers(0, table.tuples, people)]
        alike = column[np.arange(people) % table.tuples]
        codes.append(np.concatenate((column, np.where(random.random(people) < 0.7, alike, values))))
    weights = np.concatenate((table.weights, np.ones(people, np.int64)))
    table = replace(table, population=Population(tuple(codes), weights))
    objective = replace(problem.objective, table=table)  # type: ignore[type-var]
    return Problem(table, problem.models, objective, problem.limit)


def proved(problem: Problem, strategy: BoxSearch) -> tuple[Best | None, list[Closed]]:
    """The best node of a search and the boxes that it closed."""
    closed: list[Closed] = []
    *_, last = strategy.search(problem, Limits(threads=1, log=closed.append))
    assert isinstance(last, Proved)
    return last.best, closed


def nodes_in(boxes: Sequence[Closed]) -> int:
    """The nodes of boxes, added up."""
    return sum(
        math.prod(high - low + 1 for low, high in zip(box.lo, box.hi, strict=True)) for box in boxes
    )


def models_of_the_package() -> set[type]:
    """All classes of privacy models."""
    names = [each.name for each in pkgutil.iter_modules(privacy.__path__) if each.name != "base"]
    modules = [importlib.import_module(f"shoal.privacy.{name}") for name in names]
    return {
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and hasattr(each, "least_removal")
    }


def test_every_model_of_the_package_is_compiled() -> None:
    searched = {type(model) for kind in KINDS.values() for model in kind.models}
    assert searched | {KAnonymity} == models_of_the_package()
    assert all(fits(problem_of(kind, seed=1)) for kind in KINDS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_compiled_search_finds_what_numpy_finds(name: str) -> None:
    problem = problem_of(KINDS[name], seed=len(name))
    best, closed = proved(problem, BoxSearch(room=KINDS[name].room))
    expected, _ = proved(problem, BoxSearch(in_numpy=True))
    assert best is not None
    assert best == expected
    assert nodes_in(closed) == problem.lattice.nodes


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if "average risk" in name])
def test_sizes_that_share_a_bin_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(KINDS[name], seed=len(name))
    expected, _ = proved(problem, BoxSearch())
    monkeypatch.setattr(release, "MOST_BINS", 3)
    best, closed = proved(problem, BoxSearch())
    assert best == expected
    assert nodes_in(closed) == problem.lattice.nodes


@pytest.mark.parametrize("name", MERGED)
def test_deep_boxes_have_merged_tuples(name: str) -> None:
    problem = problem_of(KINDS[name], seed=len(name))
    explorer = Explorer(prepare(problem), np.array([np.inf, 0.0, 0.0]), log=False)
    explorer.take(Box(0.0, problem.lattice.bottom, problem.lattice.top))
    while explorer.open:
        explorer.explore((np.inf, 0), 10**9)
    frames = explorer._arrays["frames"]
    assert frames["first"].max() >= problem.table.tuples

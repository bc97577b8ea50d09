"""Models of sensitive values, and the values of the tuples, in the form that the C code reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import SHARE_TOLERANCE, TOLERANCE, reference_shares
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.privacy.base import PrivacyModel
    from shoal.search.problem import Problem
    from shoal.values import Histogram

    Floats = NDArray[np.float64]

DIFFERENT, ENTROPY, RECURSIVE, SHARES, EQUAL, ORDERED, HIERARCHICAL = range(7)
"""Kinds of demands: distinct values, entropy, recursive diversity, limits of shares, and closeness
by one of three distances."""

BITS = 64
"""The values of an attribute with at most this many are kept as bit masks, too."""

MOST_LOGARITHMS = 2**20
"""The logarithms of counts up to this are in a table."""


@dataclass(frozen=True, eq=False)
class CompiledDemand:
    """A model: the least number of `different` values, a parameter, and two limits for each value.

    Distances have the shares of the table in `most`. `parents` is the hierarchy of the values.
    """

    attribute: str
    kind: int
    different: int
    number: float = 0.0
    most: Floats = field(default_factory=lambda: np.zeros(0))
    least: Floats = field(default_factory=lambda: np.zeros(0))
    parents: tuple[NDArray[np.int64], ...] = ()


class Values(NamedTuple):
    """The sensitive values of the tuples, the demands on them, and work space for one thread.

    Tuple `t` has `counted[i]` records with value `value[i]`, for `i` from `starts[t]` to below
    `starts[t + 1]`. The values of all attributes have consecutive numbers; those of demand `d`
    begin at `first[d]` and end before `last[d]`. `tally` has a row of all values for every group of
    any attribute, twice, and `sizes` how many records each has. `order` are the tuples by class,
    those of class `c` from `begins[c]` on, where `arranged` has the serial number of the box.
    """

    starts: NDArray[np.int64]
    value: NDArray[np.int32]
    counted: NDArray[np.int32]
    kind: NDArray[np.int64]
    number: NDArray[np.float64]
    different: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    most: NDArray[np.float64]
    least: NDArray[np.float64]
    ancestor: NDArray[np.int64]
    heights: NDArray[np.int64]
    logarithms: NDArray[np.float64]
    tally: NDArray[np.int32]
    sizes: NDArray[np.int32]
    touched: NDArray[np.int64]
    order: NDArray[np.uint32]
    begins: NDArray[np.int64]
    arranged: NDArray[np.int64]
    ranked: NDArray[np.int64]
    nodes: NDArray[np.float64]
    failed: NDArray[np.float64]


def is_known(model: PrivacyModel) -> bool:
    """Whether the C code knows a model."""
    return type(model) is KAnonymity or type(model) in _DEMANDS


def demands_of(problem: Problem) -> list[CompiledDemand]:
    """The models of sensitive values."""
    return [
        _DEMANDS[type(model)](model, problem.table.histograms[model.attribute])
        for model in problem.models
        if model.attribute is not None
    ]


def _distinct(model: DistinctDiversity, _: Histogram) -> CompiledDemand:
    return CompiledDemand(model.attribute, DIFFERENT, model.l)


def _entropy(model: EntropyDiversity, _: Histogram) -> CompiledDemand:
    enough = math.ceil(model.l - TOLERANCE)
    return CompiledDemand(model.attribute, ENTROPY, enough, math.log(model.l) - 2 * TOLERANCE)


def _recursive(model: RecursiveDiversity, _: Histogram) -> CompiledDemand:
    return CompiledDemand(model.attribute, RECURSIVE, model.l, model.c)


def _alpha(model: AlphaAnonymity, histogram: Histogram) -> CompiledDemand:
    caps = np.full(len(histogram.reference.values), model.alpha)
    return CompiledDemand(model.attribute, SHARES, 1, SHARE_TOLERANCE, caps, np.zeros_like(caps))


def _beta(model: BetaLikeness, histogram: Histogram) -> CompiledDemand:
    caps = model.caps(histogram)
    return CompiledDemand(model.attribute, SHARES, 1, SHARE_TOLERANCE, caps, np.zeros_like(caps))


def _delta(model: DeltaDisclosure, histogram: Histogram) -> CompiledDemand:
    p, factor = reference_shares(histogram), math.exp(model.delta)
    different = int(np.count_nonzero(p))
    return CompiledDemand(
        model.attribute, SHARES, different, -SHARE_TOLERANCE, factor * p, math.exp(-model.delta) * p
    )


def _closeness(model: TCloseness, histogram: Histogram) -> CompiledDemand:
    kind = {"equal": EQUAL, "ordered": ORDERED, "hierarchical": HIERARCHICAL}[model.distance]
    parents = histogram.reference.parents if kind == HIERARCHICAL else ()
    if parents and len(set(parents[-1].tolist())) > 1:
        parents = (*parents, np.zeros_like(parents[0]))
    shares = reference_shares(histogram)
    return CompiledDemand(model.attribute, kind, 1, model.t, shares, np.zeros(0), tuple(parents))


_DEMANDS: Mapping[type[Any], Callable[[Any, Histogram], CompiledDemand]] = MappingProxyType(
    {
        DistinctDiversity: _distinct,
        EntropyDiversity: _entropy,
        RecursiveDiversity: _recursive,
        AlphaAnonymity: _alpha,
        BetaLikeness: _beta,
        DeltaDisclosure: _delta,
        TCloseness: _closeness,
    }
)


def values_of(problem: Problem, demands: list[CompiledDemand]) -> Values:
    """The values of the tuples, and the demands, without work space."""
    table = problem.table
    names = list(dict.fromkeys(demand.attribute for demand in demands))
    sizes = [len(table.histograms[name].reference.values) for name in names]
    begins = dict(zip(names, np.cumsum([0, *sizes]).tolist(), strict=False))
    owners, values, counts = [], [], []
    for name in names:
        histogram = table.histograms[name]
        owners.append(np.repeat(np.arange(table.tuples), np.diff(histogram.starts)))
        values.append(histogram.values + begins[name])
        counts.append(histogram.counts)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    widest = max(sizes)
    nodes = max((int(row.max()) for d in demands for row in d.parents), default=0) + 1
    none, whole = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Values(
        np.searchsorted(owner[order], np.arange(table.tuples + 1)),
        np.concatenate(values)[order].astype(np.int32),
        np.concatenate(counts)[order].astype(np.int32),
        np.array([demand.kind for demand in demands]),
        np.array([demand.number for demand in demands]),
        np.array([demand.different for demand in demands]),
        np.array([begins[demand.attribute] for demand in demands]),
        np.array([begins[d.attribute] + sizes[names.index(d.attribute)] for d in demands]),
        _rows([[demand.most] for demand in demands], widest)[:, 0],
        _rows([[demand.least] for demand in demands], widest)[:, 0],
        _rows([demand.parents for demand in demands], widest).astype(np.int64),
        np.array([len(demand.parents) for demand in demands]),
        _times_logarithm(min(table.records, MOST_LOGARITHMS)),
        tally=none,
        sizes=none,
        touched=whole,
        order=none.astype(np.uint32),
        begins=whole,
        arranged=whole,
        ranked=whole,
        nodes=np.zeros((3, nodes)),
        failed=np.zeros(0),
    )


def with_work_space(values: Values, groups: int, tuples: int, classes: int, width: int) -> Values:
    """The same with work space for this many groups, tuples, classes and attributes."""
    total = int(values.last.max())
    return values._replace(
        tally=np.zeros(2 * groups * total, np.int32),
        sizes=np.zeros(2 * groups, np.int32),
        touched=np.zeros(2 * groups, np.int64),
        order=np.zeros(tuples, np.uint32),
        begins=np.zeros(classes + 3, np.int64),
        arranged=np.zeros(2, np.int64),
        ranked=np.zeros(total, np.int64),
        nodes=np.zeros_like(values.nodes),
        failed=np.zeros(width),
    )


def _rows(lists: list[Any], width: int) -> NDArray[np.float64]:
    """Lists of rows, padded with zeros to the longest of them."""
    found = np.zeros((len(lists), max(1, *map(len, lists)), width))
    for i, rows in enumerate(lists):
        for j, row in enumerate(rows):
            found[i, j, : len(row)] = row
    return found


def _times_logarithm(most: int) -> NDArray[np.float64]:
    """`n * log(n)` for every number up to `most`."""
    numbers = np.arange(most + 1, dtype=np.float64)
    return numbers * np.log(np.maximum(numbers, 1.0))

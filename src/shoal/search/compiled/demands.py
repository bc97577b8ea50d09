"""Models of sensitive values in the form that the C code reads: numbers and limits of shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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


def is_known(model: PrivacyModel) -> bool:
    """Whether a model is one of sizes or sensitive values; release.py has the others."""
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

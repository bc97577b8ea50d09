"""Problems that cannot be recoded locally, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.privacy.t_closeness import TCloseness
from shoal.recoding.local.prepare import MOST_LEVELS, PATH_BITS, paths_of
from shoal.search.compiled.library import missing
from shoal.search.objective import CellObjective

if TYPE_CHECKING:
    from shoal.search.problem import Problem

MOST_ATTRIBUTES = 256
"""More attributes than this are refused (local.h)."""

KNOWN_MODELS = (
    KAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    TCloseness,
    AverageRisk,
    RecordsAbove,
)
"""Models that groups can be guarded by. Models of plug-ins are not: the compiled code cannot ask
them."""


def refusal(problem: Problem) -> str | None:
    """Why a problem cannot be recoded locally, in one sentence; None if it can."""
    table = problem.table
    if not isinstance(problem.objective, CellObjective):
        return "the loss does not charge cells: local recoding needs iyengar, precision or entropy"
    unknown = [model for model in problem.models if type(model) not in KNOWN_MODELS]
    if any(isinstance(model, KMap | DeltaPresence) for model in unknown) or table.population:
        return (
            "a demand on the population needs classes that share no person, and labels of "
            "different levels can cover the same persons"
        )
    if unknown:
        return f"local recoding does not know the model {unknown[0].name}"
    if not any(attribute.priority > 0 for attribute in table.attributes):
        return "no quasi-identifier has a priority above 0"
    if len(table.attributes) > MOST_ATTRIBUTES:
        return f"local recoding takes at most {MOST_ATTRIBUTES} quasi-identifiers"
    for j, attribute in enumerate(table.attributes):
        if (
            attribute.limit > MOST_LEVELS
            or paths_of(table, j, problem.lattice.bottom[j]).bits > PATH_BITS
        ):
            return f"the hierarchy of {attribute.name!r} has too many levels with many groups"
    return missing()

"""A judge for every privacy model that comes with Shoal: does a class meet the demand?

Written from the definitions and not from the models of the search, so that a fault there is not
repeated here. Floats are compared with a tolerance on the accepting side: what the search accepts
is never refused for a rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from shoal.measure import distance, spread

if TYPE_CHECKING:
    from shoal.measure.classes import Values
    from shoal.measure.distance import Ancestors

TOLERANCE = 1e-9


class Unjudged(Exception):
    """Why a demand cannot be judged."""


class Members(NamedTuple):
    """One class: how many records it has, and those of their sensitive values that count.

    Where persons are counted, these are persons, or pairs of person and value.
    """

    size: int
    values: Values


@dataclass(frozen=True)
class Reference:
    """A sensitive attribute in the whole table, and the tree of its values where one is needed."""

    values: Values
    ancestors: Ancestors | None = None


@dataclass(frozen=True)
class Judge:
    """What is demanded, how much of it a class reaches, and whether that is enough."""

    demanded: str
    reached: Callable[[Members], float]
    holds: Callable[[Members], bool]


Parameters: TypeAlias = Mapping[str, Any]
JudgeMaker: TypeAlias = Callable[[Parameters, Reference], Judge]


def k_anonymity(parameters: Parameters, _: Reference) -> Judge:
    """At least k records."""
    k = int(parameters["k"])
    return Judge(f"k >= {k}", lambda c: c.size, lambda c: c.size >= k)


def distinct_diversity(parameters: Parameters, _: Reference) -> Judge:
    """At least l different values."""
    l = int(parameters["l"])
    return Judge(f"distinct l >= {l}", lambda c: len(c.values), lambda c: len(c.values) >= l)


def entropy_diversity(parameters: Parameters, _: Reference) -> Judge:
    """Entropy of at least log l."""
    l = float(parameters["l"])
    return Judge(
        f"entropy l >= {l:g}",
        lambda c: spread.effective_number(c.values),
        lambda c: spread.entropy(c.values) >= math.log(l) - TOLERANCE,
    )


def recursive_diversity(parameters: Parameters, _: Reference) -> Judge:
    """The top below c times the tail. No tolerance: counts are whole numbers, and c is exact."""
    c, l = float(parameters["c"]), int(parameters["l"])

    def holds(members: Members) -> bool:
        top, tail = spread.top_and_tail(members.values, l)
        return top < c * tail

    return Judge(
        f"recursive c = {c:g} at l = {l}",
        lambda members: spread.recursive_ratio(members.values, l),
        holds,
    )


def t_closeness(parameters: Parameters, table: Reference) -> Judge:
    """Not farther than t from the table."""
    t, kind = float(parameters["t"]), str(parameters.get("distance", "equal"))
    distance_to_table = distance.distance_of(kind, table.values, table.ancestors)
    return Judge(
        f"t <= {t:g} ({kind} distance)",
        lambda c: distance_to_table(c.values),
        lambda c: distance_to_table(c.values) <= t + TOLERANCE,
    )


def alpha_anonymity(parameters: Parameters, _: Reference) -> Judge:
    """No value in more than a share alpha of the records that have one."""
    alpha = float(parameters["alpha"])

    def holds(members: Members) -> bool:
        counts = members.values.values()
        return bool(counts) and at_most(max(counts), alpha * sum(counts))

    return Judge(f"alpha <= {alpha:g}", lambda c: spread.largest_share(c.values), holds)


def beta_likeness(parameters: Parameters, table: Reference) -> Judge:
    """The share of no value grew by more than beta, nor, when enhanced, by more than -ln p."""
    beta, enhanced = float(parameters["beta"]), bool(parameters.get("enhanced", False))
    total = sum(table.values.values())

    def largest_share(p: float) -> float:
        return (1 + (min(beta, -math.log(p)) if enhanced else beta)) * p

    shares = {value: largest_share(count / total) for value, count in table.values.items()}

    def holds(members: Members) -> bool:
        values, records = members.values, sum(members.values.values())
        return bool(values) and all(
            at_most(n, shares.get(v, 0.0) * records) for v, n in values.items()
        )

    gain = (spread.enhanced_gain if enhanced else spread.gain)(table.values)
    kind = "enhanced" if enhanced else "basic"
    return Judge(f"{kind} beta <= {beta:g}", lambda c: gain(c.values), holds)


def delta_disclosure(parameters: Parameters, table: Reference) -> Judge:
    """The logarithm of no share changed by delta or more."""
    delta, ratio = float(parameters["delta"]), spread.log_ratio(table.values)
    return Judge(
        f"delta < {delta:g}",
        lambda c: ratio(c.values),
        lambda c: ratio(c.values) < delta + TOLERANCE,
    )


def at_most(count: int, limit: float) -> bool:
    """Whether a number of records is within a limit; the tolerance grows with the limit."""
    return count <= limit + TOLERANCE * max(1.0, limit)


JUDGES: Mapping[str, JudgeMaker] = {
    "k-anonymity": k_anonymity,
    "distinct-diversity": distinct_diversity,
    "entropy-diversity": entropy_diversity,
    "recursive-diversity": recursive_diversity,
    "t-closeness": t_closeness,
    "alpha-anonymity": alpha_anonymity,
    "beta-likeness": beta_likeness,
    "delta-disclosure": delta_disclosure,
}
"""Makes the judge of each model from the parameters of a demand and the table."""

NEED_TABLE = frozenset({"t-closeness", "beta-likeness", "delta-disclosure"})
"""The models that compare a class with the whole table."""

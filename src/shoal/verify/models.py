"""A judge for every privacy model that comes with Shoal: does a class meet the demand?

Written from the definitions and not from the models of the search, so that a fault there is not
repeated here. Floats are compared with a tolerance on the accepting side: what the search accepts
is never refused for a rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from shoal.measure import distance, spread
from shoal.values import Finding

if TYPE_CHECKING:
    from shoal.measure.classes import Values
    from shoal.measure.distance import Ancestors

TOLERANCE = 1e-9


class Unjudged(Exception):
    """Why a demand cannot be judged."""


class Members(NamedTuple):
    """One class: how many records it has, and those of their sensitive values that count.

    Where persons are counted, these are persons, or pairs of person and value. `population` has the
    records of the class in the table of the population, where there is one.
    """

    size: int
    values: Values
    population: int = 0


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
TableJudge: TypeAlias = Callable[[str, Parameters, Sequence[int]], Finding]
"""Judges the sizes of all classes by the parameters of a demand; the first is its name."""


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


def k_map(parameters: Parameters, _: Reference) -> Judge:
    """At least k records in the population, of which the class is a part."""
    k = int(parameters["k"])
    return Judge(
        f"k >= {k} in the population",
        lambda c: c.population,
        lambda c: c.population >= max(k, c.size),
    )


def delta_presence(parameters: Parameters, _: Reference) -> Judge:
    """A share of the population between two limits."""
    least, most = float(parameters["least"]), float(parameters["most"])

    def holds(members: Members) -> bool:
        low, high = least * members.population, most * members.population
        return low <= members.size + TOLERANCE * max(1.0, low) and at_most(members.size, high)

    return Judge(
        f"{least:g} <= share of the population <= {most:g}",
        lambda c: c.size / c.population if c.population else math.inf,
        holds,
    )


def average_risk(name: str, parameters: Parameters, sizes: Sequence[int]) -> Finding:
    """Classes / records is at most the average."""
    most, classes, records = float(parameters["average"]), len(sizes), sum(sizes)
    reached = classes / records if records else 0.0
    saw = f"{classes:,} classes of {records:,} records: {reached:.6g}; at most {most:g} demanded"
    return Finding(name, at_most(classes, most * records), saw)


def records_above(name: str, parameters: Parameters, sizes: Sequence[int]) -> Finding:
    """The records with a risk above the threshold are at most a share of all."""
    threshold, most = float(parameters["threshold"]), float(parameters["share"])
    above = sum(size for size in sizes if size * threshold < 1 - TOLERANCE)
    records = sum(sizes)
    reached = above / records if records else 0.0
    saw = (
        f"{above:,} of {records:,} records have a risk above {threshold:g}: {100 * reached:.6g} %; "
        f"at most {100 * most:g} % demanded"
    )
    return Finding(name, at_most(above, most * records), saw)


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
    "k-map": k_map,
    "delta-presence": delta_presence,
}
"""Makes the judge of each model from the parameters of a demand and the table."""

TABLE_JUDGES: Mapping[str, TableJudge] = {
    "average-risk": average_risk,
    "records-above": records_above,
}
"""The judge of each demand on all classes together."""

NEED_TABLE = frozenset({"t-closeness", "beta-likeness", "delta-disclosure"})
"""The models that compare a class with the whole table."""

NEED_POPULATION = frozenset({"k-map", "delta-presence"})
"""The models that compare a class with the population."""

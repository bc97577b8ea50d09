"""What is demanded of the classes beyond k: one finding for each demand of the definition.

First a judge for every privacy model that comes with Shoal: does a class meet the demand? Judges
are written from the definitions of the models and not from the code that the search asks, so that a
fault there is not repeated here. Floats are compared with a tolerance on the accepting side: what
the search accepts is never refused for a rounding error.

Then `judge_demands`. A demand that cannot be judged fails, so that nothing unproved is released.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from shoal.definition.demands import demands_of
from shoal.errors import BadHierarchy
from shoal.measure import distance, spread
from shoal.measure.classes import counted_values
from shoal.privacy.base import PlainModel
from shoal.values import Finding
from shoal.verify.labels.listed import ancestors_of

if TYPE_CHECKING:
    from shoal.definition.demands import ModelSpec
    from shoal.definition.model import Definition
    from shoal.measure.classes import ClassTable, Values
    from shoal.measure.distance import Ancestors
    from shoal.verify.sources import People


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


NAMED_CLASSES = 10
"""How many failing classes are named."""


def judge_demands(
    definition: Definition,
    found: ClassTable,
    reference: Mapping[str, Values] | None,
    people: People | Unjudged | None = None,
) -> list[Finding]:
    """The finding about each demand beyond k.

    Where persons are counted, the sizes of `found` are persons, and its values and those of
    `reference` are pairs of person and value. The size that a demand on an attribute sees is the
    number of its values, missing ones included: the records of the class, or its pairs.
    `reference` has the values of each sensitive attribute in the whole source, None when the source
    is not known. Missing values count as the definition says. `people` are the classes in the
    population, or why they are not known.
    """
    return [
        _judged_in_population(demand, found, people)
        if demand.model in NEED_POPULATION
        else _judged(demand, definition, found, reference)
        for demand in demands_of(definition)
    ]


def names_of(definition: Definition) -> list[str]:
    """What the finding about each demand is called."""
    return [_name(demand) for demand in demands_of(definition)]


def _name(demand: ModelSpec) -> str:
    attribute = demand.parameters.get("attribute")
    return demand.model if attribute is None else f"{demand.model} of {attribute}"


def _judged(
    demand: ModelSpec,
    definition: Definition,
    found: ClassTable,
    reference: Mapping[str, Values] | None,
) -> Finding:
    attribute = demand.parameters.get("attribute")
    as_value = definition.missing.sensitive == "value"
    name = _name(demand)
    sizes: list[int] = found.sizes.tolist()
    if demand.model in TABLE_JUDGES:
        return TABLE_JUDGES[demand.model](name, demand.parameters, sizes)
    values: list[Values] = [{}] * found.classes
    table: Values | None = {}
    if attribute is not None:
        sizes = [sum(each.values()) for each in found.values[attribute]]
        values = [counted_values(each, as_value) for each in found.values[attribute]]
        table = None if reference is None else counted_values(reference[attribute], as_value)
    classes = list(map(Members, sizes, values))
    try:
        return _finding(_judge(demand, definition, table), name, found, classes)
    except (Unjudged, BadHierarchy) as error:
        why = error.what if isinstance(error, BadHierarchy) else error
        return Finding(name, False, f"not judged: {why}")


def _judged_in_population(
    demand: ModelSpec, found: ClassTable, people: People | Unjudged | None
) -> Finding:
    """A demand against the population.

    With a least share above 0 every class of the population must be released.
    """
    name = _name(demand)
    if people is None or isinstance(people, Unjudged):
        return Finding(name, False, f"not judged: {people or 'there is no population'}")
    if demand.parameters.get("least", 0) > 0 and people.absent:
        saw = f"{people.absent:,} classes of the population are not released"
        return Finding(name, False, saw)
    sizes = zip(found.sizes.tolist(), people.records.tolist(), strict=True)
    classes = [Members(size, {}, population) for size, population in sizes]
    return _finding(JUDGES[demand.model](demand.parameters, Reference({})), name, found, classes)


def _judge(demand: ModelSpec, definition: Definition, table: Values | None) -> Judge:
    """The judge of a built-in model, else that of a plugged-in one."""
    make = JUDGES.get(demand.model)
    if table is None and (make is None or demand.model in NEED_TABLE):
        raise Unjudged("it compares classes with the source, which cannot be read or has changed")
    if make is None:
        return _plug_in_judge(demand, table or {})
    ancestors = None
    if demand.parameters.get("distance") == "hierarchical":
        ancestors = ancestors_of(definition.attributes[demand.parameters["attribute"]].hierarchy)
    return make(demand.parameters, Reference(table or {}, ancestors))


def _plug_in_judge(demand: ModelSpec, table: Values) -> Judge:
    """The judge of a plugged-in model: its own method in plain Python."""
    model = demand.make()
    if not isinstance(model, PlainModel):
        raise Unjudged(f"{demand.model} has no method `holds` for the verifier")

    def holds(members: Members) -> bool:
        try:
            return bool(model.holds(members.size, members.values, table))
        except Exception as error:
            raise Unjudged(f"`holds` of {demand.model} raised {type(error).__name__}") from error

    return Judge(model.demanded(), lambda members: float(holds(members)), holds)


def _finding(judge: Judge, name: str, found: ClassTable, classes: Sequence[Members]) -> Finding:
    """The judgement of every class; the smallest of those that fail are named."""
    failing = [row for row, members in enumerate(classes) if not judge.holds(members)]
    if not failing:
        return Finding(name, True, f"{judge.demanded} in each of {len(classes):,} classes")
    chosen = found.first_of(failing, NAMED_CLASSES)
    named = [f"{found.name(row)} reaches {number(judge.reached(classes[row]))}" for row in chosen]
    more = f" and {len(failing) - len(named):,} more" if len(failing) > len(named) else ""
    saw = f"{len(failing):,} of {len(classes):,} classes fail, {judge.demanded} demanded: "
    return Finding(name, False, saw + "; ".join(named) + more)


def number(value: float) -> str:
    """A number as people read it; `no limit` for infinity."""
    return "no limit" if value == float("inf") else f"{value:.6g}"

"""What is demanded of the classes beyond k: one finding for each demand of the definition.

A demand that cannot be judged fails, so that nothing unproved is released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.definition.demands import demands_of
from shoal.errors import BadHierarchy
from shoal.measure.classes import counted_values
from shoal.privacy.base import PlainModel
from shoal.values import Finding
from shoal.verify.labels.listed import ancestors_of
from shoal.verify.models import (
    JUDGES,
    NEED_POPULATION,
    NEED_TABLE,
    TABLE_JUDGES,
    Judge,
    Members,
    Reference,
    Unjudged,
)

if TYPE_CHECKING:
    from shoal.definition.demands import ModelSpec
    from shoal.definition.model import Definition
    from shoal.measure.classes import ClassTable, Values
    from shoal.verify.population import People

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

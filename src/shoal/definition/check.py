"""Mistakes that show only when several keys, the file system or the source are looked at."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from shoal import plugins
from shoal.definition.demands import ModelSpec, demands_on
from shoal.definition.model import (
    Attribute,
    Csv,
    Database,
    Definition,
    Diversity,
    LossChoice,
    OutputFile,
    OutputSpark,
    OutputTable,
    Search,
    SourceLocation,
    Spark,
    Taxonomy,
)
from shoal.definition.outputs import clashes, sources_of
from shoal.definition.scalars import nearest, shown
from shoal.errors import BadDefinition, MissingExtra, Mistake, quoted
from shoal.loss.base import CellLoss

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_ROLES_OF: dict[str, tuple[str, ...]] = {
    "hierarchy": ("quasi-identifier", "sensitive"),
    "from": ("quasi-identifier",),
    "limit": ("quasi-identifier",),
    "priority": ("quasi-identifier",),
    "information loss": ("quasi-identifier",),
    "diversity": ("sensitive",),
    "closeness": ("sensitive",),
    "alpha": ("sensitive",),
    "likeness": ("sensitive",),
    "disclosure": ("sensitive",),
    "privacy": ("sensitive",),
}
"""The roles that each further key of an attribute makes sense for."""


def mistakes(definition: Definition) -> list[Mistake]:
    """Every mistake of the definition that can be seen without the data."""
    found = of_release(definition)
    for name, attribute in definition.attributes.items():
        found += of_attribute(name, attribute)
    return found + of_roles(definition)


def of_release(definition: Definition) -> list[Mistake]:
    """Mistakes of everything but the attributes."""
    return [
        *of_suppression(definition.suppression),
        *of_loss(definition.loss),
        *of_strategy(definition.search),
        *_of_effort(definition),
        *_of_paths(definition),
        *_of_models(
            ModelSpec(f"privacy.{model}", model, parameters)
            for model, parameters in definition.privacy.items()
        ),
    ]


def of_roles(definition: Definition) -> list[Mistake]:
    """Mistakes of all attributes together."""
    if not definition.quasi_identifiers:
        remedy = "give the role quasi-identifier to each column that others may know"
        return [Mistake("attributes", "there is no quasi-identifier", remedy)]
    if found := list(_of_person(definition)):
        return found
    weights = [definition.attributes[name].priority for name in definition.quasi_identifiers]
    if all(weight == 0 for weight in weights):
        remedy = "give at least one quasi-identifier a priority above 0"
        return [Mistake("attributes", "every priority is 0", remedy)]
    return []


def _of_person(definition: Definition) -> Iterator[Mistake]:
    """Columns that identify persons are identifiers; one of several may be a quasi-identifier.

    What identifies persons must not be released as it is. A birth date beside a name may be
    released in its generalized form.
    """
    person, attributes = definition.person, definition.attributes
    if len(set(person)) < len(person):
        yield Mistake("person", "names a column twice", "name each column once")
    for key, given in (("risk", definition.risk), ("population", definition.population)):
        if person and given is not None:
            remedy = f"leave out `{key}`, or `person`; with `person` k counts persons"
            yield Mistake(key, "is counted by records, and cannot be demanded by persons", remedy)
    roles = {name: attributes[name].role for name in person if name in attributes}
    for name, role in roles.items():
        if role in ("keep", "sensitive"):
            remedy = f"make {name} an identifier, which is never released"
            yield Mistake("person", f"{name!r} identifies persons, but is released", remedy)
    if person and all(roles.get(name) == "quasi-identifier" for name in person):
        remedy = "name a column that identifies a person, and make it an identifier"
        yield Mistake("person", "only quasi-identifiers identify persons", remedy)


def of_attribute(name: str, attribute: Attribute) -> list[Mistake]:
    """Mistakes of one attribute."""
    key = f"attributes.{name}"
    misplaced = list(_misplaced(key, attribute))
    if misplaced:
        return misplaced
    hierarchy = attribute.hierarchy
    found = list(hierarchy.mistakes(f"{key}.hierarchy")) if hierarchy else []
    return [
        *found,
        *([] if found else _of_levels(key, attribute)),
        *_of_information_loss(f"{key}.information loss", attribute.information_loss),
        *_of_demands(key, attribute),
    ]


def against_columns(
    definition: Definition, columns: Sequence[str], source_name: str, file: str = "definition"
) -> Definition:
    """The definition for a source of these columns: each of them has a role.

    Columns that it does not name get the role `others`, in the order of the source, after those it
    names; those of `person` are identifiers. Attributes that the source lacks, and columns without
    a role, are mistakes.
    """
    person = {name: "person" for name in definition.person if name not in definition.attributes}
    key_of = {**{name: f"attributes.{name}" for name in definition.attributes}, **person}
    found = [
        Mistake(
            key,
            f"no column {name!r} in {source_name}",
            nearest(name, columns, f"its columns are {quoted(columns)}"),
        )
        for name, key in key_of.items()
        if name not in columns
    ]
    unnamed = [name for name in columns if name not in key_of]
    if unnamed and definition.others is None:
        what = f"{quoted(unnamed)} of {source_name} has no role"
        if len(unnamed) > 1:
            what = f"{len(unnamed)} columns of {source_name} have no role: {quoted(unnamed)}"
        remedy = "name them, or add `others: drop` or `others: keep`"
        found.append(Mistake("attributes", what, remedy))
    if found:
        raise BadDefinition(file, found)
    others = {
        **dict.fromkeys(person, Attribute(role="identifier")),
        **dict.fromkeys(unnamed, Attribute(role=definition.others or "drop")),
    }
    whole = definition.model_copy(update={"attributes": {**definition.attributes, **others}})
    if found := list(_of_partitions(whole, every_column=True)):
        raise BadDefinition(file, found)
    return whole if others else definition


def of_suppression(suppression: float) -> Iterator[Mistake]:
    """A share that is none."""
    if suppression < 0:
        yield Mistake("suppression", "is below 0", "write for example `suppression: 5%`")
    elif isinstance(suppression, float) and suppression > 1:
        remedy = f"write `{suppression:g}%` for a share, or a whole number of records"
        yield Mistake(
            "suppression", f"{100 * suppression:.6g} % is over 100 % of the records", remedy
        )


def _of_name(key: str, name: str, known: Collection[str]) -> Iterator[Mistake]:
    if name not in known:
        yield Mistake(key, f"{shown(name)} is not known in this version", nearest(name, known))


def _of_paths(definition: Definition) -> Iterator[Mistake]:
    """No file that is written may be one that is read, or written twice."""
    for clash in clashes(definition):
        remedy = "write to another path, so that what is there stays as it is"
        yield Mistake(clash.key, clash.what, remedy)
    yield from _of_partitions(definition)
    yield from _of_tables(definition)


def _of_partitions(definition: Definition, *, every_column: bool = False) -> Iterator[Mistake]:
    """An output is partitioned by released columns, and others remain for the files.

    Unless `every_column` of the source has its attribute, one that is not named may be kept.
    """
    if not isinstance(definition.output, OutputFile):
        return
    key, partitions = "output.partition by", definition.output.partition_by
    released = definition.names("quasi-identifier", "sensitive", "keep")
    for name in partitions:
        known = name in definition.attributes or every_column or definition.others != "keep"
        if name not in released and known:
            remedy = nearest(name, released, f"released are {quoted(released)}")
            yield Mistake(key, f"{name!r} is not released", remedy)
    if len(set(partitions)) < len(partitions):
        yield Mistake(key, "names a column twice", "name each column once")
    elif released and set(released) == set(partitions) and (every_column or not definition.others):
        yield Mistake(key, "leaves no column for the files", "leave out one of the columns")


def _of_tables(definition: Definition) -> Iterator[Mistake]:
    """A table is not written over itself."""
    output = definition.output
    for name, source in sources_of(definition):
        if any(_is_same(location, output) for location in source.locations):
            yield Mistake("output", f"is the table of the {name}", "write to another table")


def _is_same(source: SourceLocation, output: object) -> bool:
    if isinstance(source, Database) and isinstance(output, OutputTable):
        return (source.url, source.table) == (output.url, output.table)
    return (
        isinstance(source, Spark)
        and isinstance(output, OutputSpark)
        and source.spark == output.spark
    )


def _misplaced(key: str, attribute: Attribute) -> Iterator[Mistake]:
    """Keys that say nothing for the role of the attribute."""
    given = attribute.model_dump(by_alias=True, exclude_defaults=True)
    for name, roles in _ROLES_OF.items():
        if name in given and attribute.role not in roles:
            what = f"is not allowed for an attribute of role {attribute.role}"
            remedy = f"remove it, or make the role {' or '.join(roles)}"
            yield Mistake(f"{key}.{name}", what, remedy)


def _of_levels(key: str, attribute: Attribute) -> Iterator[Mistake]:
    """Levels above the hierarchy or each other, and losses that are not one for each level."""
    lowest = attribute.lowest
    if attribute.limit is not None and lowest > attribute.limit:
        what = f"{lowest} is above the limit {attribute.limit}, so no level is allowed"
        yield Mistake(f"{key}.from", what, f"write a level from 0 to {attribute.limit}")
    known = attribute.hierarchy.heights if attribute.hierarchy else None
    if known is None:
        return
    least, greatest = known
    if attribute.limit is not None and attribute.limit > greatest:
        what = f"{attribute.limit} is above the hierarchy, whose top level is {greatest}"
        yield Mistake(f"{key}.limit", what, f"write a level from 0 to {greatest}")
    elif lowest > greatest:
        what = f"{lowest} is above the hierarchy, whose top level is {greatest}"
        yield Mistake(f"{key}.from", what, f"write a level from 0 to {greatest}")
    losses = attribute.information_loss
    if losses is not None and not least + 1 <= len(losses) <= greatest + 1:
        levels = f"{greatest + 1}" if least == greatest else f"{least + 1} or {greatest + 1}"
        what = f"has {len(losses)} numbers for {levels} levels"
        yield Mistake(f"{key}.information loss", what, "give one number for each level from 0 up")


def _of_information_loss(key: str, losses: Sequence[float] | None) -> Iterator[Mistake]:
    if losses is None:
        return
    if any(not 0 <= loss <= 1 for loss in losses):
        yield Mistake(key, "has a number outside 0 to 1", "give numbers from 0 to 1")
    if any(later < loss for loss, later in pairwise(losses)):
        remedy = "give numbers that never fall from level to level, as in [0, 0.3, 1]"
        yield Mistake(key, "falls from one level to the next", remedy)


def _of_demands(key: str, attribute: Attribute) -> Iterator[Mistake]:
    if attribute.role != "sensitive":
        return
    diversity, closeness = attribute.diversity, attribute.closeness
    demands = list(demands_on(key.removeprefix("attributes."), attribute))
    if not demands and diversity is None:
        remedy = "add `diversity: {distinct: 3}` or `closeness: {t: 0.2}`, or make it keep"
        yield Mistake(key, "is sensitive, but nothing is demanded of it", remedy)
    if diversity is not None:
        yield from _of_diversity(f"{key}.diversity", diversity)
    yield from _of_models(demand for demand in demands if ".privacy." in demand.key)
    if closeness and closeness.distance == "hierarchical" and attribute.hierarchy is None:
        what = "hierarchical distance needs a hierarchy"
        remedy = "add `hierarchy:` to the attribute, or use another distance"
        yield Mistake(f"{key}.closeness.distance", what, remedy)
    elif (
        closeness
        and closeness.distance == "hierarchical"
        and not isinstance(attribute.hierarchy, Csv | Taxonomy)
    ):
        what = "hierarchical distance needs a hierarchy that names its values: a file or a tree"
        remedy = "write the hierarchy to a file with `shoal hierarchy make`, and give that file"
        yield Mistake(f"{key}.hierarchy", what, remedy)


def _of_models(demands: Iterable[ModelSpec]) -> Iterator[Mistake]:
    """Models of plug-ins that are not installed, or do not take their parameters."""
    for demand in demands:
        try:
            demand.make()
        except MissingExtra as error:
            yield Mistake(demand.key, error.what, error.hint)
        except ValueError as error:
            yield Mistake(demand.key, str(error), "see the documentation of the model")


def of_loss(choice: LossChoice) -> Iterator[Mistake]:
    """A loss that is not installed, or for which an aggregate means nothing."""
    try:
        loss = plugins.make("loss", choice.name, choice.parameters)
    except MissingExtra:
        yield from _of_name("loss", choice.name, plugins.names("loss"))
        return
    except ValueError as error:
        yield Mistake("loss.parameters", str(error), "see the documentation of the loss")
        return
    if choice.aggregate != "mean" and not isinstance(loss, CellLoss):
        what = f"{choice.name} is no loss of cells, so there is nothing to aggregate"
        yield Mistake("loss.aggregate", what, "remove it")


def of_strategy(search: Search) -> Iterator[Mistake]:
    """A strategy that is not installed, or does not take its parameters."""
    try:
        plugins.make("strategy", search.strategy, search.of_strategy)
    except MissingExtra as error:
        known = plugins.names("strategy")
        if search.strategy in known:
            yield Mistake("search.strategy", error.what, error.hint)
        yield from _of_name("search.strategy", search.strategy, known)
    except ValueError as error:
        yield Mistake("search", str(error), "see the documentation of the strategy")


def _of_effort(definition: Definition) -> Iterator[Mistake]:
    """The effort of local recoding says nothing of the search for a node."""
    if definition.recoding == "full-domain" and definition.search.effort is not None:
        what = "is for local recoding, and the definition recodes full-domain"
        yield Mistake("search.effort", what, "leave it out, or write `recoding: local`")


def _of_diversity(key: str, diversity: Diversity) -> Iterator[Mistake]:
    kinds = list(diversity.model_dump(exclude_none=True))
    if not kinds:
        remedy = "write `distinct: 3`, `entropy: 3` or `recursive: {c: 4, l: 3}`"
        yield Mistake(key, "names no kind", remedy)

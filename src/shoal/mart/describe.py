"""A catalog as researchers see it: columns, levels, links and policy, and nothing of the records.

Labels are those that the catalog itself states, in a tree or above the values of a hierarchy file.
No source is opened, so no value and no number comes from the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from shoal.definition.demands import demands_on
from shoal.definition.hierarchies.base import TOP
from shoal.definition.hierarchies.listed import Csv
from shoal.definition.hierarchies.registry import written
from shoal.errors import Refused, quoted
from shoal.mart.write import catalog_mapping
from shoal.report.sections import Section
from shoal.report.shown import Shown

if TYPE_CHECKING:
    from shoal.definition.demands import ModelSpec
    from shoal.definition.hierarchies.base import Kind
    from shoal.mart.catalog import Catalog, ColumnRef, SharedColumn

_WIDEST = 40
"""More characters of labels than a line of a terminal has room for."""


@dataclass(frozen=True)
class Level:
    """A level: its labels where the catalog states them, else the rule that makes them.

    The information loss is None where it depends on the data: on the number of levels there.
    """

    level: int
    rule: str
    labels: tuple[str, ...] | None
    information_loss: float | None


@dataclass(frozen=True)
class Column:
    """A column that a source shares.

    A quasi-identifier without levels has no hierarchy in the catalog; one is proposed from its
    values.
    """

    name: str
    source: str
    column: str
    role: str
    derive: str | None
    levels: tuple[Level, ...]
    lowest: int
    limit: int | None
    priority: float | None
    demands: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class MartDescription(Shown):
    """What a mart shares and demands; `closed` are the sources that are not for the asker."""

    mart: str
    person: str
    columns: tuple[Column, ...]
    untransformed: Mapping[str, str]
    closed: tuple[str, ...]
    links: tuple[Mapping[str, Any], ...]
    policy: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        return asdict(self)

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each column and level; columns without levels have one row."""
        return [
            {
                "name": column.name,
                "source": column.source,
                "role": column.role,
                "level": None if level is None else level.level,
                "labels": None if level is None else _level_text(level),
                "information_loss": None if level is None else level.information_loss,
                "limit": column.limit,
            }
            for column in self.columns
            for level in column.levels or (None,)
        ]

    def sections(self) -> Sequence[Section]:
        """What there is in short, a table for each source, links and policy."""
        sources = dict.fromkeys(column.source for column in self.columns)
        lead = (
            f"The mart {self.mart!r} shares {_number(len(self.columns), 'column')} of "
            f"{_number(len(sources), 'source')}. Persons are those of {self.person!r}."
        )
        closed = [f"Not for this asker: {quoted(self.closed)}."] if self.closed else []
        return (
            Section("", (lead, *closed)),
            *(self._source(name) for name in sources),
            *self._links(),
            Section("Policy", tuple(policy_lines(self.policy))),
        )

    def _source(self, name: str) -> Section:
        columns = [column for column in self.columns if column.source == name]
        rows = tuple(row for column in _joined(columns) for row in _rows(column))
        reason = self.untransformed.get(name)
        lines = (f"Released unchanged: {reason}",) if reason else ()
        if any(column.levels for column in columns):
            heading = ("column", "role", "level", "labels", "loss")
            return Section(name, lines, heading, rows, numbers=(2, 4))
        rows = tuple((column, role, note) for column, role, _, note, _ in rows)
        return Section(name, lines, ("column", "role", "notes"), rows)

    def _links(self) -> Iterator[Section]:
        if self.links:
            yield Section("Links", tuple(map(_link_text, self.links)))


def describe(catalog: Catalog, asker: str | None = None) -> MartDescription:
    """What the catalog shares with an asker; without one, all that it shares with anybody.

    Refused with the code `policy` if the asker may not ask at all.
    """
    admitted = catalog.policy.askers
    if asker is not None and admitted is not None and asker not in admitted:
        raise Refused(
            f"{asker!r} may not ask for the mart {catalog.name!r}",
            code="policy",
            hint="ask the owner of the mart to be admitted",
        )
    closed = tuple(
        name
        for name, source in catalog.sources.items()
        if asker is not None and source.askers is not None and asker not in source.askers
    )
    shared = catalog.short_names(ref for ref in catalog.columns if ref.source not in closed)
    columns = tuple(_column(name, ref, catalog.column(ref)) for ref, name in shared.items())
    data = catalog_mapping(catalog)
    policy = {"k": catalog.policy.k, "suppression": 0, **data.get("policy", {})}
    return MartDescription(
        catalog.name,
        catalog.person.source,
        columns,
        {
            name: " ".join(source.untransformed.split())
            for name, source in catalog.sources.items()
            if source.untransformed is not None and name not in closed
        },
        closed,
        tuple({"optional": None, **link} for link in data.get("links", ())),
        {key: value for key, value in policy.items() if key != "askers"},
    )


def stated_levels(catalog: Catalog, ref: ColumnRef) -> tuple[Level, ...]:
    """The levels of a quasi-identifier as far as the catalog states them; else none."""
    column = catalog.column(ref)
    return tuple(_levels(ref.column, column)) if column.role == "quasi-identifier" else ()


def stated_paths(catalog: Catalog, ref: ColumnRef) -> tuple[tuple[str, ...], ...]:
    """From each label that the catalog states to the top, for a picture of the tree.

    A path begins with a value, in a hierarchy file with the label above it: values there may have
    been taken from the data. None for a hierarchy that is a rule.
    """
    column = catalog.column(ref)
    kind = column.hierarchy if column.role == "quasi-identifier" else None
    if kind is None or not kind.names_values:
        return ()
    first = 1 if isinstance(kind, Csv) else 0
    return tuple(dict.fromkeys(row[first:] for row in kind.rows(ref.column, {}).rows))


def _column(name: str, ref: ColumnRef, column: SharedColumn) -> Column:
    return Column(
        name,
        ref.source,
        ref.column,
        column.role,
        column.derive,
        tuple(_levels(ref.column, column)) if column.role == "quasi-identifier" else (),
        column.lowest,
        column.limit,
        column.priority,
        tuple(map(_demand_text, demands_on(ref.column, column))),
    )


def _demand_text(demand: ModelSpec) -> str:
    given = {key: value for key, value in demand.parameters.items() if key != "attribute"}
    return f"{demand.model} ({', '.join(f'{key} {value}' for key, value in given.items())})"


def _levels(name: str, column: SharedColumn) -> Iterator[Level]:
    """The levels of a hierarchy, as far as they are known without the data."""
    kind = column.hierarchy
    if kind is None:
        return
    rules = list(_rules(name, kind))
    losses = column.information_loss or ()
    if not losses and (kind.names_values or len(rules) == 2):
        losses = tuple(level / max(1, len(rules) - 1) for level in range(len(rules)))
    for level, (rule, labels) in enumerate(rules):
        loss = losses[level] if level < len(losses) else None
        yield Level(level, rule, labels, loss)


def _rules(name: str, kind: Kind) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """For each level how its labels are made, and these where the catalog states them.

    The values in a hierarchy file may have been taken from the data, so they are not shown.
    """
    if kind.names_values:
        for level, labels in enumerate(zip(*kind.rows(name, {}).rows, strict=True)):
            is_stated = level > 0 or not isinstance(kind, Csv)
            rule = "the values" if level == 0 else "listed"
            yield rule, tuple(dict.fromkeys(labels)) if is_stated else None
        return
    yield "the values", None
    stated = written(kind)
    listed = stated.get(kind.key) if isinstance(stated, Mapping) else None
    if isinstance(listed, list):
        yield from ((f"{kind.key} {_plain(each)}", None) for each in listed)
    elif kind.listed != 0:
        yield f"{stated}", None
    yield "everything", (TOP,)


def _plain(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _joined(columns: Sequence[Column]) -> Iterator[Column]:
    """The columns, with a run of many kept ones that differ only in their names as one."""
    for (role, derive), group in groupby(columns, lambda each: (each.role, each.derive)):
        run = list(group)
        if role == "keep" and derive is None and len(run) > 3:
            names = f"{run[0].name} to {run[-1].name} ({len(run)} columns)"
            yield Column(names, run[0].source, names, role, None, (), 0, None, None, ())
        else:
            yield from run


def _rows(column: Column) -> Iterator[tuple[str, ...]]:
    """The rows of a column in the table of its source."""
    notes = [f"derived by {column.derive}"] if column.derive is not None else []
    notes += [f"limit {column.limit}"] if column.limit is not None else []
    notes += [f"from {column.lowest}"] if column.lowest else []
    notes += column.demands
    if column.role == "quasi-identifier" and not column.levels:
        notes.append("proposed from the values")
    note = _cut(", ".join(notes))
    if not column.levels:
        yield column.name, column.role, "", note, ""
    for level in column.levels:
        first = level.level == 0
        loss = "" if level.information_loss is None else f"{level.information_loss:.3g}"
        yield (
            column.name if first else "",
            column.role if first else "",
            str(level.level),
            _cut(_level_text(level)),
            loss,
        )
    if column.levels and note:
        yield "", "", "", note, ""


def _level_text(level: Level) -> str:
    return level.rule if level.labels is None else ", ".join(level.labels)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _link_text(link: Mapping[str, Any]) -> str:
    one, other = (f"{name} ({', '.join(keys)})" for name, keys in link["between"].items())
    absent = f"; {link['optional']} may be absent" if link["optional"] else ""
    return f"{one} to {other}: {link['kind']}{absent}."


def policy_lines(policy: Mapping[str, Any]) -> Iterator[str]:
    """The rules of a policy in sentences."""
    yield f"Every class has at least {policy['k']} persons."
    most = policy["suppression"]
    if most == 0:
        yield "No record may be suppressed."
    else:
        amount = _number(most, "record") if isinstance(most, int) else f"{most} of the records"
        yield f"At most {amount} may be suppressed."
    if "share" in policy:
        yield f"A release has at most {policy['share']} of the persons of a source."
    if "diversity" in policy:
        kinds = ", ".join(f"{kind} {value}" for kind, value in policy["diversity"].items())
        yield f"Sensitive columns are diverse in every class: {kinds}."
    for group in policy.get("apart", ()):
        yield f"Never released together: {quoted(group)}."
    whose = "of anybody" if policy.get("across") == "all" else "of the same asker"
    verb = "reported" if policy.get("overlap") == "report" else "refused"
    yield f"A release that can be intersected with an earlier one {whose} is {verb}."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"

"""How anonymous is a table as it is? Measured without a definition."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from shoal.errors import BadData, BadHierarchy
from shoal.measure.classes import count_classes, counted_values
from shoal.measure.disclosure import Disclosure, disclosure
from shoal.measure.matching import Matching, judge_all_matches, judge_match
from shoal.measure.pairs import PAIR_LIMIT
from shoal.measure.persons import Persons, persons_in, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shoal.engines.base import Source
    from shoal.measure.classes import ClassTable, Values
    from shoal.measure.distance import Ancestors
    from shoal.measure.persons import Tally
    from shoal.values import Caution, Ints

_BOUNDS = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Bucket:
    """How many classes have from `least` to `most` (None: no end) records, or persons, and how many
    records they have in all."""

    least: int
    most: int | None
    classes: int
    records: int

    @property
    def label(self) -> str:
        """The sizes as people write them: `1`, `3-4`, `100+`."""
        if self.most is None:
            return f"{self.least}+"
        return f"{self.least}" if self.least == self.most else f"{self.least}-{self.most}"


@dataclass(frozen=True)
class PersonMeasure:
    """The classes of a table by persons, who are identified by some `columns`.

    `everybody` is the number of persons of the table. A unique person has a class of their own. The
    sizes of `class_sizes` are numbers of persons.
    """

    columns: tuple[str, ...]
    everybody: int
    smallest_class: int
    largest_class: int
    average_class: float
    unique_persons: int
    class_sizes: tuple[Bucket, ...]


@dataclass(frozen=True)
class Measure:
    """The classes of a table: k is the smallest, and a class of one is a unique record.

    Classes are those of extended match, where missing equals missing. `matches` judges the table by
    each requested relation; `sensitive` says what the classes disclose, `warnings` what the other
    columns do. Where `persons` are counted, they decide: k is the number of persons of
    the class with the fewest, matches are persons, and a person counts once with each of their
    sensitive values.
    """

    name: str
    quasi_identifiers: tuple[str, ...]
    records: int
    classes: int
    smallest_class: int
    largest_class: int
    average_class: float
    unique_records: int
    incomplete_records: int
    class_sizes: tuple[Bucket, ...]
    matches: tuple[Matching, ...] = ()
    sensitive: tuple[Disclosure, ...] = ()
    persons: PersonMeasure | None = None
    warnings: tuple[Caution, ...] = ()

    @property
    def k(self) -> int:
        """The greatest k for which the table is k-anonymous, 0 when it is empty.

        That is by the one requested relation; by extended match when there are several.
        """
        judged = self.matches[0].k if len(self.matches) == 1 else None
        counted = self.persons or self
        return counted.smallest_class if judged is None else judged

    @property
    def sizes(self) -> tuple[Bucket, ...]:
        """The classes by size, in persons where they are counted."""
        return (self.persons or self).class_sizes

    @property
    def unit(self) -> str:
        """What the sizes of classes are."""
        return "class size" if self.persons is None else "persons in a class"

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that the table does not withstand, each in a line."""
        found = []
        if self.persons is not None and self.persons.unique_persons:
            alone = _count(self.persons.unique_persons, "person", "persons")
            found.append(f"uniqueness: {alone} alone in a class")
        elif self.unique_records:
            found.append(f"uniqueness: {self._records(self.unique_records)} alone in a class")
        for each in self.sensitive:
            if each.homogeneous_classes:
                named = "; ".join(f"{name} with {name.size}" for name in each.named)
                found.append(
                    f"homogeneity of {each.attribute}: "
                    f"{_count(each.homogeneous_classes, 'class', 'classes')} with one value only, "
                    f"{self._records(each.homogeneous_records)}, the largest: {named}"
                )
        return tuple(found)

    def facts(self) -> list[tuple[str, str]]:
        """What was measured, as pairs to be shown."""
        return [
            ("quasi-identifiers", ", ".join(self.quasi_identifiers)),
            ("records", f"{self.records:,}"),
            *self._of_persons(),
            ("classes", f"{self.classes:,}"),
            ("smallest class (k)", self._size("smallest_class")),
            ("average class", self._size("average_class", ",.1f")),
            ("largest class", self._size("largest_class")),
            ("unique records", self._share(self.unique_records)),
            ("records with a missing quasi-identifier", self._share(self.incomplete_records)),
        ]

    def _of_persons(self) -> list[tuple[str, str]]:
        """The persons and the unique ones, where they are counted."""
        if self.persons is None:
            return []
        return [
            ("persons", f"{self.persons.everybody:,}"),
            ("unique persons", f"{self.persons.unique_persons:,}"),
        ]

    def _size(self, name: str, form: str = ",") -> str:
        """A size of classes: records, and persons before them where they are counted."""
        records = format(getattr(self, name), form)
        if self.persons is None:
            return records
        return f"persons: {format(getattr(self.persons, name), form)}, records: {records}"

    def _share(self, records: int) -> str:
        return f"{records:,} ({records / max(1, self.records):.1%})"

    def _records(self, records: int) -> str:
        """`1 record (0.2%)`, `20 records (4.0%)`."""
        share = f"{records / max(1, self.records):.1%}"
        return f"{_count(records, 'record', 'records')} ({share})"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.k}-anonymous" if self.records else self.name]
        lines += [f"{what}: {value}" for what, value in self.facts()]
        lines += [
            f"classes of {bucket.label}: {bucket.classes:,}, {self._records(bucket.records)}"
            for bucket in self.sizes
        ]
        for match in self.matches:
            lines.append(f"{match.match} match: {shown_k(match)}; {match.attack}")
        for each in self.sensitive:
            lines += [f"{each.attribute}, {what}: {value}" for what, value in each.facts()]
        return "\n".join([*lines, *self.attacks, *(each.text for each in self.warnings)])

    def _repr_html_(self) -> str:
        tables = [_html([], self.facts())]
        sizes = [
            (bucket.label, f"{bucket.classes:,}", f"{bucket.records:,}") for bucket in self.sizes
        ]
        tables.append(_html([self.unit, "classes", "records"], sizes))
        if len(self.matches) > 1:
            rows = [(each.match, shown_k(each), each.attack) for each in self.matches]
            tables.append(_html(["match", "", ""], rows))
        tables += [_html([each.attribute, ""], each.facts()) for each in self.sensitive]
        sentences = (*self.attacks, *(each.text for each in self.warnings))
        attacks = "".join(f"<p>{escape(line)}</p>" for line in sentences)
        heading = f"<strong>{escape(self.name)}: k = {self.k}</strong>"
        return f"<div>{heading}{''.join(tables)}{attacks}</div>"


def shown_k(match: Matching) -> str:
    """`k = 5`, or why it is not known."""
    return f"not counted: {match.not_counted}" if match.k is None else f"k = {match.k:,}"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _html(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first cell of a row says what the others are about."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heading)
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(row[0])}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def measure(
    source: Source,
    quasi_identifiers: Sequence[str],
    missing: Sequence[str] = (),
    *,
    person: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    match: str = "extended",
    hierarchies: Mapping[str, Ancestors] | None = None,
    missing_as_value: bool = False,
    k: int | None = None,
    pair_limit: int = PAIR_LIMIT,
    progress: Callable[[float], None] | None = None,
) -> Measure:
    """Count the classes of any table; empty text, null and the `missing` texts are equal values.

    `match` is one of MATCHES, or `all`; with `k`, the records with fewer matches are counted. A
    missing sensitive value is no value, or with `missing_as_value` one more. `hierarchies` are the
    trees of sensitive attributes, for hierarchical distance. The maybe matches compare at most
    `pair_limit` pairs of classes; `progress` is called with the share that is done. `person`
    names the columns that identify a person; then persons are counted, by extended or basic match,
    since the others make no classes.
    """
    if person and match not in ("extended", "basic"):
        raise BadData(
            f"persons cannot be counted by {match} match, which makes no classes",
            code="persons-without-classes",
            hint="count persons by extended or basic match, or leave them out",
        )
    found = count_classes(
        source,
        quasi_identifiers,
        sensitive=sensitive,
        missing=missing,
        missing_sensitive=missing,
    )
    persons = _persons(source, found, person, sensitive, missing) if person else None
    by_persons = None if persons is None else persons.found
    trees = hierarchies or {}
    return Measure(
        name=source.name,
        quasi_identifiers=found.quasi_identifiers,
        records=found.records,
        classes=found.classes,
        smallest_class=found.smallest,
        largest_class=int(found.sizes.max(initial=0)),
        average_class=found.records / max(1, found.classes),
        unique_records=found.classes - len(found.sizes[found.sizes > 1]),
        incomplete_records=found.incomplete,
        class_sizes=_buckets(found.sizes, found.sizes),
        matches=(
            judge_all_matches(found, k, limit=pair_limit, progress=progress)
            if match == "all"
            else (
                judge_match(
                    found, match, k, persons=by_persons, limit=pair_limit, progress=progress
                ),
            )
        ),
        sensitive=tuple(
            _disclosure_of(found, persons, name, missing_as_value, trees.get(name))
            for name in sensitive
        ),
        persons=None if persons is None else _person_measure(found, persons, person),
    )


def _persons(
    source: Source,
    found: ClassTable,
    person: Sequence[str],
    sensitive: Sequence[str],
    missing: Sequence[str],
) -> Persons:
    """The same classes by persons."""
    names = found.quasi_identifiers

    def count(name: str | None) -> tuple[Tally, Ints]:
        counted = tally(source, names, person, sensitive=name, missing=missing)
        return counted, counted.rows_of(found)

    return persons_in(found, sensitive, count)


def _person_measure(found: ClassTable, persons: Persons, columns: Sequence[str]) -> PersonMeasure:
    sizes = persons.found.sizes
    return PersonMeasure(
        tuple(columns),
        persons.everybody,
        persons.found.smallest,
        int(sizes.max(initial=0)),
        float(sizes.sum() / max(1, len(sizes))),
        persons.alone,
        _buckets(sizes, found.sizes),
    )


def _disclosure_of(
    found: ClassTable,
    persons: Persons | None,
    name: str,
    missing_as_value: bool,
    tree: Ancestors | None,
) -> Disclosure:
    """One sensitive attribute, with its distribution in the table itself as reference."""
    values = (found if persons is None else persons.found).values[name]
    classes = [counted_values(each, missing_as_value) for each in values]
    table = _summed(classes)
    if persons is not None:
        table = counted_values(persons.reference[name], missing_as_value)
    try:
        return disclosure(name, found, classes, table, tree)
    except BadHierarchy as error:
        raise BadHierarchy(f"{name}: {error.what}", code=error.code, hint=error.hint) from None


def _summed(classes: Sequence[Values]) -> Values:
    table: dict[str | None, int] = {}
    for values in classes:
        for value, count in values.items():
            table[value] = table.get(value, 0) + count
    return table


def _buckets(sizes: Ints, records: Ints) -> tuple[Bucket, ...]:
    """How many classes have a size from one bound to the next, and how many records."""
    ends = [least - 1 for least in _BOUNDS[1:]]
    buckets = []
    for least, most in zip(_BOUNDS, [*ends, None], strict=True):
        inside = sizes >= least if most is None else (sizes >= least) & (sizes <= most)
        buckets.append(Bucket(least, most, int(inside.sum()), int(records[inside].sum())))
    return tuple(buckets)

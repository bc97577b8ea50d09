"""A first definition for a table, guessed from the names of its columns and their counts.

The guesses err on the side of protection: what may name a person is an identifier, what others may
know is a quasi-identifier. Every guess comes with its reason. No value of the data is written, but
texts that mean missing, and frequent ones that keep a column from being one of numbers or dates.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

from shoal.definition.column_meaning import Sound
from shoal.definition.hierarchies.registry import EXAMPLES
from shoal.definition.model import Attribute, Dates, Diversity, Hierarchy, Intervals, Role, Suppress
from shoal.definition.obstacles import obstacle
from shoal.definition.write import WIDTH, attribute_mapping, yaml_lines
from shoal.spellings import FIRST, missing_spellings

Propose: TypeAlias = Callable[[Sequence[str]], Hierarchy | None]

MISSING_TOKENS = FIRST
"""Texts that usually mean that a value is missing."""
MOST_NODES = 20_000
"""How large a lattice the first run should search."""
FEW = 50
"""Up to so many distinct values a column is a category, not a measurement."""

ALONE = 0.95
"""Measurements of which so many are different find the record of whoever is known to have one."""

MANY = 20
"""From so many distinct values on, a number or a name may be that of a person."""


@dataclass(frozen=True)
class Profile:
    """A column as it is counted: its distinct values, its records, and those without a value.

    `alike` are columns in which records with the same value of this one agree, as those of a person
    would in birth and sex. Of a column with very many values, `values` may be a sample; `others`
    is the number of the rest. `obstacle` says what keeps it from being one of numbers or dates.
    """

    name: str
    values: tuple[str, ...]
    records: int
    missing: int
    alike: tuple[str, ...] = ()
    others: int = 0
    obstacle: str = ""

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return len(self.values) + self.others

    @property
    def present(self) -> int:
        """The records that have a value."""
        return self.records - self.missing

    @property
    def share(self) -> float:
        """The distinct values as a share of the records that have one."""
        return self.distinct / max(1, self.present)

    @cached_property
    def sound(self) -> Sound:
        """What the name sounds like."""
        return Sound(self.name)


@dataclass(frozen=True)
class Guess:
    """What a column may be, and why."""

    profile: Profile
    attribute: Attribute
    reason: str
    by_name: bool = False


@dataclass(frozen=True)
class Repeated:
    """Columns that identify persons, of whom some have several records."""

    columns: tuple[str, ...]
    persons: int
    records: int


@dataclass(frozen=True)
class Draft:
    """What the definition says besides its attributes, as the file writes it.

    `reading` are sentences about how the source is read, `unusual` about texts for missing values.
    """

    source: str | Mapping[str, Any]
    output: str
    k: int
    missing: tuple[str, ...]
    person: Repeated | None = None
    reading: tuple[str, ...] = ()
    unusual: tuple[str, ...] = ()


def missing_tokens(counts: Mapping[str, Mapping[str | None, int]]) -> tuple[str, ...]:
    """The texts that seem to mean that a value is missing in some column."""
    return tuple(found.text for found in missing_spellings(counts))


def profile(name: str, counted: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """A column from the records that have each of its values, with these texts as missing."""
    values = tuple(sorted(v for v in counted if v is not None and v not in missing))
    records = sum(counted.values())
    present = {value: counted[value] for value in values if value}
    absent = records - sum(counted[value] for value in values)
    return Profile(name, values, records, absent, obstacle=obstacle(present))


def guess_all(profiles: Sequence[Profile], propose: Propose) -> list[Guess]:
    """A guess for every column: at least one quasi-identifier, and not too many to search."""
    guesses = [guess(profile, propose(profile.values)) for profile in profiles]
    if not any(found.attribute.role == "quasi-identifier" for found in guesses):
        guesses = _with_one_quasi_identifier(guesses, propose)
    return _searchable(guesses)


def guess(profile: Profile, hierarchy: Hierarchy | None) -> Guess:
    """What one column may be, given the hierarchy that fits its values."""
    role, reason, by_name = _role(profile, hierarchy)
    if role != "identifier":
        reason = f"{reason} {profile.obstacle}".strip()
    if role == "quasi-identifier":
        attribute = Attribute(role=role, hierarchy=hierarchy or Suppress())
    elif role == "sensitive":
        distinct = 3 if profile.distinct >= 10 else 2
        attribute = Attribute(role=role, diversity=Diversity(distinct=distinct))
    else:
        attribute = Attribute(role=role)
    return Guess(profile, attribute, reason, by_name)


def _role(profile: Profile, hierarchy: Hierarchy | None) -> tuple[Role, str, bool]:
    """The role, its reason, and whether the name of the column decided; the first rule wins."""
    sound, distinct = profile.sound, profile.distinct
    if distinct == 0:
        return "drop", "It has no values that can be compared.", False
    if _names_a_person(profile, isinstance(hierarchy, Intervals)):
        return "identifier", "The name sounds like something that names a person.", True
    if _is_prose(profile):
        return "drop", "Long texts may say anything about a person.", False
    if sound.sensitive and distinct > 1:
        return "sensitive", "The name sounds like something a person would not want known.", True
    if sound.known:
        return "quasi-identifier", "The name sounds like something that others may know.", True
    if profile.alike:
        agree = f"Records with the same value agree in {_listed(profile.alike)}"
        return "identifier", f"{agree}, so it seems to identify persons.", False
    if _is_measured(profile, hierarchy) and profile.share >= ALONE and profile.records >= MANY:
        what = "Numbers that look measured, but nearly every record has one of its own, which finds"
        return (
            "drop",
            f"{what} it where it is known. Keep them if nobody else can know them.",
            False,
        )
    if _is_measured(profile, hierarchy):
        return "keep", "Numbers that look measured; others will hardly know them.", False
    if profile.share >= 0.9 and profile.records >= 20 and not isinstance(hierarchy, Dates):
        return "identifier", "Nearly every record has a value of its own.", False
    if distinct == 1 and profile.missing == 0:
        return "keep", "It is the same in every record.", False
    if isinstance(hierarchy, Dates):
        return "quasi-identifier", "Others may know dates.", False
    if isinstance(hierarchy, Intervals) and distinct > FEW:
        return "keep", "Many different numbers; others will hardly know them.", False
    if distinct <= FEW:
        return "quasi-identifier", "A category with few values, which others may know.", False
    return "quasi-identifier", "Many records share a value, and others may know it.", False


def _names_a_person(profile: Profile, numeric: bool) -> bool:
    """Whether the name says so, and the values are as many as the name lets one expect."""
    sound, distinct = profile.sound, profile.distinct
    if sound.number_of_person or sound.contact or (sound.name_of_person and not numeric):
        return True
    if distinct >= MANY or profile.share >= 0.5:
        if sound.number_of_case:
            return True
        if sound.number_alone and distinct**2 >= profile.present:
            return True
    return sound.maybe_person and profile.share >= 0.1


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _is_prose(profile: Profile) -> bool:
    """Whether the values are mostly of their own and long: five words or more, 40 characters."""
    values = profile.values
    words = sum(value.count(" ") + 1 for value in values) / len(values)
    length = sum(map(len, values)) / len(values)
    return profile.share > 0.5 and words >= 5 and length >= 40


def _is_measured(profile: Profile, hierarchy: Hierarchy | None) -> bool:
    """Whether the values are numbers and most have decimals."""
    decimals = sum(bool(re.search(r"\.\d*[1-9]", value)) for value in profile.values)
    return isinstance(hierarchy, Intervals) and decimals > len(profile.values) / 2


def _with_one_quasi_identifier(guesses: Sequence[Guess], propose: Propose) -> list[Guess]:
    """The column with the fewest values becomes the quasi-identifier, identifiers if they must."""
    chosen = min(
        guesses,
        key=lambda found: (found.attribute.role == "identifier", found.profile.distinct or FEW),
    )
    hierarchy = propose(chosen.profile.values) or Suppress()
    attribute = Attribute(role="quasi-identifier", hierarchy=hierarchy)
    reason = (
        "No column looks like a quasi-identifier, and one is needed; choose another if you can."
        f" {chosen.profile.obstacle}"
    ).strip()
    promoted = replace(chosen, attribute=attribute, reason=reason)
    return [promoted if found is chosen else found for found in guesses]


def _searchable(guesses: Sequence[Guess]) -> list[Guess]:
    """Drop quasi-identifiers, those guessed by their name last, until the lattice is searchable."""
    chosen: set[str] = set()
    sizes: list[int] = []
    for found in sorted(guesses, key=lambda found: not found.by_name):
        hierarchy = found.attribute.hierarchy
        if hierarchy is not None:
            levels = (hierarchy.heights or (1, 1))[1] + 1
            if not sizes or prod(sizes) * levels <= MOST_NODES:
                sizes.append(levels)
                chosen.add(found.profile.name)
    reason = "It may be a quasi-identifier, but with all of them the first search would be long."
    return [
        found
        if found.attribute.hierarchy is None or found.profile.name in chosen
        else replace(
            found,
            attribute=Attribute(role="drop"),
            reason=f"{reason} {found.profile.obstacle}".strip(),
        )
        for found in guesses
    ]


def write_draft(draft: Draft, guesses: Sequence[Guess]) -> str:
    """The definition as commented YAML."""
    return "".join(f"{line}\n" for line in _lines(draft, guesses))


def _lines(draft: Draft, guesses: Sequence[Guess]) -> Iterator[str]:
    yield "# A definition to start from. The roles below are guesses: look at each of them."
    yield "# Relative paths are relative to this file."
    yield from _comment(draft.reading)
    yield from yaml_lines("source", draft.source)
    yield from yaml_lines("output", draft.output)
    yield ""
    yield "# Every released record shares its quasi-identifiers with at least k - 1 others."
    yield from yaml_lines("k", draft.k)
    if draft.person is not None:
        yield from _person_lines(draft.person)
    yield "# At most so many records may be left out: a share, or a whole number of records."
    yield "suppression: 5%"
    yield "# Empty values are missing; so are the texts listed here."
    yield from _comment(draft.unusual)
    yield from yaml_lines("missing", {"values": list(draft.missing)})
    yield "# All values of a column at one level; `local`: each class at its own, and less is lost."
    yield "recoding: full-domain"
    yield "# The search may end sooner with a proof, or later if you give it more time."
    yield "search: {time limit: 5 min}"
    yield ""
    yield "# Roles:"
    yield "#   identifier        names a person; never released"
    yield "#   quasi-identifier  others may know it; generalized along its hierarchy"
    yield "#   sensitive         needs a demand, such as diversity: {distinct: 3}"
    yield "#   keep, drop        released unchanged, left out"
    examples = f"# Hierarchies: {', '.join(EXAMPLES)}."
    yield from textwrap.wrap(examples, WIDTH, subsequent_indent="#   ", break_on_hyphens=False)
    yield "# `limit: 2` beside a hierarchy allows no level above 2; `priority` weighs attributes."
    yield "attributes:"
    for found in guesses:
        profile = found.profile
        values = "value" if profile.distinct == 1 else "values"
        counts = f"{profile.distinct:,} distinct {values}, {profile.missing:,} missing."
        for line in textwrap.wrap(f"{counts} {found.reason}", WIDTH - 4):
            yield f"  # {line}"
        yield from yaml_lines(profile.name, attribute_mapping(found.attribute), "  ")


def _comment(sentences: Sequence[str]) -> Iterator[str]:
    """Each sentence as a comment of its own."""
    for sentence in sentences:
        for line in textwrap.wrap(sentence, WIDTH - 2, break_on_hyphens=False):
            yield f"# {line}"


def _person_lines(found: Repeated) -> Iterator[str]:
    """The key `person`, and why it is there."""
    reason = (
        f"{found.records:,} records have {found.persons:,} different values of "
        f"{_listed(found.columns)}, so some persons have several records. With this line k counts "
        "persons; take it out if each record is of another person."
    )
    for line in textwrap.wrap(reason, WIDTH - 2):
        yield f"# {line}"
    columns = found.columns
    yield from yaml_lines("person", columns[0] if len(columns) == 1 else list(columns))

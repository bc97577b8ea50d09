"""What the result of a run states, read from its JSON: its claims, and the proposed hierarchies.

An attacker who edits a result can edit its hierarchies. The labels of a proposed hierarchy say
which values they mean: a number lies in `[20,30)`, a code begins with `12`. So an edited hierarchy
can change how fine the levels are, but no label can mean values that it does not name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from shoal.definition.model import Dates, Hierarchy, Intervals, Mask, Suppress
from shoal.definition.read import from_mapping
from shoal.definition.write import to_mapping
from shoal.errors import BadData
from shoal.values import Finding
from shoal.verify.levels import labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.values import StatedLevels


PROPOSED_KINDS = (Dates, Intervals, Mask, Suppress)
"""The kinds of hierarchies that a run proposes."""


@dataclass(frozen=True)
class Stated:
    """Claims to be compared with the release, and the hierarchies that the run proposed.

    `records` and `removed` speak of the source, `numbers` of the release.
    """

    levels: Mapping[str, StatedLevels]
    records: int
    removed: int
    numbers: Mapping[str, int]
    hierarchies: Mapping[str, Any]
    input_sha256: str | None
    output_sha256: str | None = None


def read_stated(path: Path) -> Stated:
    """The claims in a result, or in a report with one; anything that is no such file is BadData."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        _refuse(path, f"cannot be read ({error.strerror})")
    except ValueError:
        _refuse(path, "is not JSON")
    if isinstance(found, dict) and isinstance(found.get("result"), dict):
        found = found["result"]
    if not isinstance(found, dict):
        _refuse(path, "is not a result")
    levels, hierarchies = found.get("levels"), found.get("hierarchies", {})
    if not isinstance(levels, dict):
        _refuse(path, "states no `levels`")
    stated_levels = {name: _level(path, each) for name, each in levels.items()}
    if not isinstance(hierarchies, dict):
        _refuse(path, "has `hierarchies` that are no mapping")
    records, removed = found.get("records"), found.get("removed", 0)
    if not _is_count(records) or not _is_count(removed):
        _refuse(path, "states no number of `records` and `removed`")
    numbers = _numbers(path, found, records - removed)
    read, written = (
        None if found.get(key) is None else str(found[key])
        for key in ("input_sha256", "output_sha256")
    )
    return Stated(stated_levels, records, removed, numbers, hierarchies, read, written)


def _level(path: Path, stated: object) -> StatedLevels:
    """A level; or, as local recoding states it, the records at each level."""
    if _is_count(stated):
        return stated
    if not isinstance(stated, dict) or not all(map(_is_level_with_records, stated.items())):
        _refuse(path, "states no `levels`")
    return {int(level): records for level, records in stated.items()}


def _is_level_with_records(item: tuple[str, object]) -> bool:
    level, records = item
    return level.isascii() and level.isdecimal() and _is_count(records)


def _numbers(path: Path, found: Mapping[str, Any], judged: int) -> dict[str, int]:
    """What the result states about the release; some keys may be absent."""
    keys = ("suppressed", "classes", "smallest_class", "persons", "smallest_class_persons")
    stated = {key: found[key] for key in keys if found.get(key) is not None}
    if not all(map(_is_count, stated.values())):
        _refuse(path, f"states no numbers as {', '.join(map(repr, stated))}")
    numbers = {
        "records": judged - stated["suppressed"] if "suppressed" in stated else None,
        "classes": stated.get("classes"),
        "smallest class": stated.get("smallest_class"),
        "persons": stated.get("persons"),
        "fewest persons": stated.get("smallest_class_persons"),
    }
    return {name: number for name, number in numbers.items() if number is not None}


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _refuse(path: Path, why: str) -> NoReturn:
    raise BadData(
        f"{path} {why}",
        code="bad-result",
        hint="give the file that `shoal run --json` wrote, or leave out --result",
    )


def lacking_hierarchies(definition: Definition, hierarchies: Mapping[str, Any]) -> tuple[str, ...]:
    """The quasi-identifiers whose hierarchies are in the result alone."""
    return tuple(
        name
        for name in definition.quasi_identifiers
        if name in hierarchies and definition.attributes[name].hierarchy is None
    )


def with_hierarchies(definition: Definition, hierarchies: Mapping[str, Any]) -> Definition:
    """The definition with the proposed hierarchies where it gives none itself."""
    lacking = lacking_hierarchies(definition, hierarchies)
    if not lacking:
        return definition
    mapping = to_mapping(definition)
    for name in lacking:
        written = mapping["attributes"][name]
        attribute = dict(written) if isinstance(written, dict) else {"role": written}
        mapping["attributes"][name] = {**attribute, "hierarchy": hierarchies[name]}
    return from_mapping(mapping, file="definition with the hierarchies of the result")


def judge_proposal(name: str, spec: Hierarchy, values: Collection[str] | None) -> Finding:
    """A hierarchy that a run may have proposed for these values, if they are known."""
    finding = f"hierarchy of {name}"
    if not isinstance(spec, PROPOSED_KINDS):
        return Finding(finding, False, "the result states one of a kind that no run proposes")
    if values is None:
        return Finding(finding, True, "not judged: the values of the source are not known")
    labels = labels_of(spec, values)
    columns = [labels.generalized(level) for level in range(labels.last + 1)]
    lacking = len(values) - min(map(len, columns))
    if lacking:
        saw = f"the one of the result lacks {lacking:,} of {len(values):,} values"
        return Finding(finding, False, saw)
    if not all(_nests(lower, upper) for lower, upper in pairwise(columns)):
        return Finding(finding, False, "the one of the result is not nested")
    return Finding(finding, True, f"nested, and covers all {len(values):,} values")


def _nests(lower: Mapping[str, str], upper: Mapping[str, str]) -> bool:
    """Whether values with one label have one label at the level above."""
    above: dict[str, str] = {}
    return all(above.setdefault(lower[value], upper[value]) == upper[value] for value in lower)

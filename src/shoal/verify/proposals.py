"""Hierarchies that a run proposed, taken from its result, and what can be checked of them.

Whoever edits a result can edit its hierarchies. A proposal is of a kind whose labels say themselves
which values they stand for: a number lies in `[20,30)`, a code begins with `12`. So an edited one
can change how fine the levels are, but no label can stand for values that it does not name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shoal.definition.model import Dates, Hierarchy, Intervals, Mask, Suppress
from shoal.definition.read import from_mapping
from shoal.definition.write import to_mapping
from shoal.values import Finding
from shoal.verify.levels import labels_of

if TYPE_CHECKING:
    from shoal.definition.model import Definition

KINDS = (Dates, Intervals, Mask, Suppress)


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
    if not isinstance(spec, KINDS):
        return Finding(finding, False, "the result states one of a kind that no run proposes")
    if values is None:
        return Finding(finding, True, "not judged: the values of the source are not known")
    labels = labels_of(spec, values)
    columns = [labels.generalized(level) for level in range(labels.last + 1)]
    lacking = len(values) - min(map(len, columns))
    if lacking:
        saw = f"the one of the result has no place for {lacking:,} of {len(values):,} values"
        return Finding(finding, False, saw)
    if not all(_nests(lower, upper) for lower, upper in pairwise(columns)):
        return Finding(finding, False, "the one of the result is not nested")
    return Finding(finding, True, f"nested, with a place for all {len(values):,} values")


def _nests(lower: Mapping[str, str], upper: Mapping[str, str]) -> bool:
    """Whether values with one label have one label at the level above."""
    above: dict[str, str] = {}
    return all(above.setdefault(lower[value], upper[value]) == upper[value] for value in lower)

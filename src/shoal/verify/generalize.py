"""What the values of a source become at the levels of a release, by the verifier's own reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from shoal.engines.base import Generalization
from shoal.errors import BadHierarchy
from shoal.verify.judges import Unjudged
from shoal.verify.labels.base import missing_label
from shoal.verify.levels import labels_of

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition


def generalizations(
    definition: Definition, levels: Mapping[str, int], values: Mapping[str, Collection[str]]
) -> dict[str, Generalization]:
    """The generalization of each quasi-identifier; Unjudged where a value has no label."""
    return {
        name: _generalization(name, definition.attributes[name], levels[name], values[name])
        for name in definition.quasi_identifiers
    }


def _generalization(
    name: str, attribute: Attribute, level: int, values: Collection[str]
) -> Generalization:
    if attribute.hierarchy is None:
        raise Unjudged(
            f"the definition gives no hierarchy for {name!r}; give the result of the run"
        )
    try:
        labels = labels_of(attribute.hierarchy, values)
    except BadHierarchy as error:
        raise Unjudged(error.what) from error
    if level > labels.last:
        raise Unjudged(f"{name!r} has no level {level}")
    missing = missing_label(labels, level)
    if level == 0 and missing is None:
        return Generalization((), ())
    known = labels.generalized(level)
    lacking = sum(1 for value in values if value not in known)
    if lacking:
        raise Unjudged(f"{lacking:,} values of {name!r} have no place in its hierarchy")
    texts = tuple(values)
    return Generalization(texts, tuple(known[text] for text in texts), missing)

"""What is demanded of the sensitive values of each class, and who judges it.

A judge looks at one class: the values it holds with their counts, those of the whole table, and the
parameters of the demand. It says whether the class meets the demand. A demand that no judge knows
fails, so that nothing unproved is released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.values import Finding

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition

Values: TypeAlias = Mapping[str | None, int]
Judge: TypeAlias = Callable[[Values, Values, Any], bool]

JUDGES: Mapping[str, Judge] = {}
"""One judge for each kind of demand: distinct, entropy, recursive, closeness."""


def demands(attribute: Attribute) -> dict[str, Any]:
    """The demands on a sensitive attribute: their kind and parameters."""
    found: dict[str, Any] = {}
    if attribute.diversity is not None:
        kinds = ("distinct", "entropy", "recursive")
        found = {kind: getattr(attribute.diversity, kind) for kind in kinds}
    found["closeness"] = attribute.closeness
    return {kind: parameters for kind, parameters in found.items() if parameters is not None}


def unjudged(definition: Definition) -> list[Finding]:
    """A failing finding for every demand that has no judge."""
    return [
        Finding(
            f"{kind} of {name}", False, "not judged: the verifier does not know this demand yet"
        )
        for name, attribute in definition.attributes.items()
        for kind in demands(attribute)
        if kind not in JUDGES
    ]

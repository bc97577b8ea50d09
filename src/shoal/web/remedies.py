"""The remedies of an infeasible demand as changes of the definition, to be made with one click.

The texts are those of `shoal.search.explain`. One that is not understood has no change: pages then
show it as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from shoal.web.edits import with_value

_NUMBER = r"([0-9][0-9.,]*(?:e[+-]?[0-9]+)?)"
_WHOLE = ("k-anonymity", "distinct-diversity")
_OF_ATTRIBUTE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "distinct-diversity": ("diversity", "distinct"),
        "entropy-diversity": ("diversity", "entropy"),
        "t-closeness": ("closeness", "t"),
        "alpha-anonymity": ("alpha",),
        "beta-likeness": ("likeness", "beta"),
        "delta-disclosure": ("disclosure",),
    }
)
"""Where the one number of each model stands, below the attribute."""
_OF_RELEASE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "k-anonymity": ("k",),
        "average-risk": ("risk", "average"),
        "records-above": ("risk", "records above", "share"),
    }
)


def applied(definition: Mapping[str, Any], remedy: str) -> dict[str, Any] | None:
    """The definition with the remedy, None where it is not understood."""
    changes = list(_changes(definition, remedy))
    if not changes:
        return None
    changed = dict(definition)
    for path, value in changes:
        changed = with_value(changed, path, value)
    return changed


def _changes(
    definition: Mapping[str, Any], remedy: str
) -> Iterator[tuple[Sequence[str], int | float]]:
    if found := re.fullmatch(rf"allow {_NUMBER} suppressed records?", remedy):
        yield ("suppression",), int(found[1].replace(",", ""))
    elif found := re.fullmatch(rf"weaken (\S+?) to {_NUMBER} or (?:below|above)", remedy):
        if found[1] in _OF_RELEASE:
            yield _OF_RELEASE[found[1]], _number(found[1], found[2])
    elif found := re.fullmatch(
        rf"weaken (\S+?) of (.+) to {_NUMBER} or (?:below|above)", remedy, re.DOTALL
    ):
        if found[1] in _OF_ATTRIBUTE and found[2] in definition.get("attributes", {}):
            path = ("attributes", found[2], *_OF_ATTRIBUTE[found[1]])
            yield path, _number(found[1], found[3])
    elif found := re.fullmatch(r"raise the limits? (of .+)", remedy, re.DOTALL):
        yield from _limits(definition, found[1])


def _number(model: str, text: str) -> int | float:
    value = float(text.replace(",", ""))
    return math.floor(value) if model in _WHOLE else value


def _limits(
    definition: Mapping[str, Any], text: str
) -> Iterator[tuple[Sequence[str], int | float]]:
    """`of zip to 4 and of age to 3`: nothing unless every part names a known attribute."""
    found: list[tuple[Sequence[str], int | float]] = []
    names = sorted(definition.get("attributes", {}), key=len, reverse=True)
    rest = text
    while rest:
        for name in names:
            match = re.match(rf"of {re.escape(name)} to ([0-9]+)(?: and |$)", rest)
            if match:
                found.append((("attributes", name, "limit"), int(match[1])))
                rest = rest[match.end() :]
                break
        else:
            return
    yield from found

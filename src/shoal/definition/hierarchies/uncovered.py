"""The error for values of the data that a hierarchy does not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import BadHierarchy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHOWN = 10
_MISSING_LIKE = frozenset(
    {"?", "-", "--", ".", "n/a", "na", "nan", "nil", "none", "null", "unknown"}
)


def refuse_uncovered(
    attribute: str, uncovered: Iterable[str], counts: Mapping[str, int], remedy: str
) -> None:
    """Raise BadHierarchy when there are uncovered values; the most frequent are named first."""
    values = sorted(uncovered, key=lambda value: (-counts[value], value))
    if not values:
        return
    shown = ", ".join(f"{value!r} ({_records(counts[value])})" for value in values[:_SHOWN])
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    number = "1 value" if len(values) == 1 else f"{len(values)} values"
    raise BadHierarchy(
        f"hierarchy of {attribute!r} does not cover {number} of the data: {shown}{more}",
        hint=f"{remedy}; or, where the value means missing, say {_missing_example(values)}",
        code="uncovered-value",
    )


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _missing_example(values: list[str]) -> str:
    """The line of a definition that declares what looks like a missing value as missing."""
    tokens = [value for value in values if value.strip().casefold() in _MISSING_LIKE]
    listed = ", ".join('"' + token + '"' for token in tokens[:_SHOWN] or ["?"])
    return f"missing: {{values: [{listed}]}}"

"""The rows of a hierarchy that a builder of a plug-in makes of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal import plugins
from shoal.encode.counted import natural
from shoal.errors import BadHierarchy, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import PluggedIn


def plugged_rows(
    attribute: str, spec: PluggedIn, counts: Mapping[str, int]
) -> list[tuple[str, ...]]:
    """A row for each value, in natural order; the builder gives it whole, the value first."""
    builder = plugins.make("builder", spec.builder, spec.parameters)
    try:
        given = [_row(row) for row in builder.build(sorted(counts, key=natural))]
    except UserError:
        raise
    except Exception as error:
        raise BadHierarchy(
            f"the builder {spec.builder!r} makes no hierarchy of {attribute!r}"
            f" ({type(error).__name__})",
            code="builder-failed",
            hint="see that the values are what the builder is for, or choose another hierarchy",
        ) from error
    return sorted(given, key=lambda row: natural(row[0]))


def _row(row: Any) -> tuple[str, ...]:
    labels = tuple(row)
    if not labels or not all(isinstance(label, str) for label in labels):
        raise TypeError("a row is the value and its labels, all of them text")
    return labels

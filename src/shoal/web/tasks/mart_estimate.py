"""About how many rows a request would release, and at which levels, for its asker.

Arguments: `catalog`, `request`, `asker`. The result is an order of magnitude, or the refusal
that the request would get; the mart's log gets an entry:
    {"estimate": {"at_least": 100, "at_most": 999, "levels": {...}}}
    or  {"refused": problem}  or  {"failed": problem}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.mart import estimate
from shoal.web.mart.working import answered, asker_observes

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The estimate as JSON."""

    def about(catalog: Catalog) -> dict[str, Any]:
        asked, asker = arguments["request"], arguments["asker"]
        found = estimate(catalog, asked, asker=asker, observe=asker_observes(context))
        return {"estimate": found.to_dict()}

    return answered(arguments, about)

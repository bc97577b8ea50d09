"""What a demand means on the data, before any search.

Arguments: `layout`, the definition and its files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.feasibility import assess
from shoal.web.laid_out import laid_out

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The lattice, both its ends, what warns; why nothing is feasible, where that is so."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        return assess(definition, observe=context.observe, file=layout["file"]).to_dict()

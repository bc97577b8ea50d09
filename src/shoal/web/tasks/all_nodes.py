"""Every node of the lattice; nothing is released.

Arguments: `layout`; `near_optimum` and `at_most` as of `shoal lattice`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.lattice import lattice
from shoal.report.result import finite
from shoal.web.laid_out import laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The nodes as `shoal lattice --json` writes them."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = lattice(
            definition,
            near_optimum=arguments["near_optimum"],
            at_most=arguments["at_most"],
            watch=watch_of(context),
            file=layout["file"],
        )
    plain: dict[str, Any] = finite(found.to_dict())
    return plain

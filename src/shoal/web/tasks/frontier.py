"""What each k and each suppression limit costs; nothing is released.

Arguments: `layout`; `k` and `suppression`, the grid; `seconds`, the most that it may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.frontier import frontier
from shoal.report.result import finite
from shoal.web.laid_out import laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The points as `shoal frontier --json` writes them; stopping keeps what is proved."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = frontier(
            definition,
            arguments["k"],
            arguments["suppression"],
            time_limit=arguments.get("seconds"),
            watch=watch_of(context),
            file=layout["file"],
        )
    plain: dict[str, Any] = finite(found.to_dict())
    return plain

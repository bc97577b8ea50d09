"""The least lossy safe nodes; nothing is released.

Arguments: `layout`; `best`, how many nodes, or `minimal` for all minimal ones, `at_most` so many;
`seconds`, the most that the search may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.solutions import MOST_MINIMAL, solutions
from shoal.report.result import finite
from shoal.web.laid_out import laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The nodes as `shoal solutions --json` writes them; stopping keeps what was found."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = solutions(
            definition,
            arguments.get("best", 10),
            minimal=arguments.get("minimal", False),
            at_most=arguments.get("at_most", MOST_MINIMAL),
            time_limit=arguments.get("seconds"),
            watch=watch_of(context),
            file=layout["file"],
        )
    plain: dict[str, Any] = finite(found.to_dict())
    return plain

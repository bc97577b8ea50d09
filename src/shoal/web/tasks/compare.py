"""The source beside what would be released; nothing is released.

Arguments: `layout`; `levels` of the node, or `kept`, the file of a local recoding; `raw`, true
where the custodian asked to see original values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.side_by_side import side_by_side
from shoal.web.laid_out import kept_of, laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The comparison as `SideBySide` has it."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = side_by_side(
            definition,
            arguments.get("levels"),
            kept=kept_of(arguments),
            raw=arguments.get("raw") is True,
            watch=watch_of(context),
            file=layout["file"],
        )
    return found.to_dict()

"""The nodes of the picture: all where they fit, else those around one; nothing is released.

Arguments: `layout`; `around`, the levels of the node to stand at; `also`, further nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.explore import explore
from shoal.web.laid_out import laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The nodes as `Explored` has them."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = explore(
            definition,
            arguments.get("around"),
            arguments.get("also", ()),
            watch=watch_of(context),
            file=layout["file"],
        )
    return found.to_dict()

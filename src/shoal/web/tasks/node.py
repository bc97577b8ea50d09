"""What one node gives, beside another one such as the optimum; nothing is released.

Arguments: `layout`; `levels`; `other`, the levels of the node to compare with, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.one_node import describe_node
from shoal.web.laid_out import laid_out
from shoal.web.watching import watch_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The node as `NodeReport` has it."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = describe_node(
            definition,
            arguments["levels"],
            arguments.get("other"),
            watch=watch_of(context),
            file=layout["file"],
        )
    return found.to_dict()

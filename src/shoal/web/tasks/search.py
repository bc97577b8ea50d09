"""The least lossy safe node; nothing is released.

Arguments: `layout`, the definition and its files. Stopping the job keeps the best node found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.best_node import find_best
from shoal.web.laid_out import laid_out

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The node with its numbers; its events say best, bound and gap as they change."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        return find_best(definition, observe=context.observe, file=layout["file"]).to_dict()

"""The least lossy safe node or local recoding; nothing is released.

Arguments: `layout`, the definition and its files. Stopping the job keeps the best that was found.
The folder gets a local recoding as `recoding.npz`, for the tasks that show and release it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.best_node import find_best
from shoal.web.laid_out import KEPT, laid_out

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """What was found with its numbers; events say best, bound and gap as they change."""
    layout = arguments["layout"]
    with laid_out(layout) as definition:
        found = find_best(
            definition,
            observe=context.observe,
            file=layout["file"],
            keep=context.folder / KEPT,
        )
    return found.to_dict()

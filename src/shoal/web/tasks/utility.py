"""What a release is still good for.

Arguments: `layout`, the release among its files; `target`, a column to predict, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.utility import utility
from shoal.report.result import finite
from shoal.web.laid_out import laid_out

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The measures as `shoal utility --json` writes them."""
    context.say("phase", {"phase": "measure", "detail": ""})
    with laid_out(arguments["layout"]) as definition:
        found = utility(definition, arguments["target"])
    plain: dict[str, Any] = finite(found.to_dict())
    return plain

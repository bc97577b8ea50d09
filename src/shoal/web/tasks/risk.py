"""How likely people are recognised in a source, and in its release where that is there.

Arguments: `layout`; `threshold`, `fraction`, `population` and `sets` as of `shoal risk`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.analysis.before_after import risk
from shoal.report.result import finite
from shoal.web.laid_out import laid_out

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The measures as `shoal risk --json` writes them."""
    context.say("phase", {"phase": "measure", "detail": ""})
    with laid_out(arguments["layout"]) as definition:
        found = risk(
            definition,
            threshold=arguments["threshold"],
            fraction=arguments["fraction"],
            population=arguments["population"],
            largest_set=arguments["sets"],
        )
    plain: dict[str, Any] = finite(found.to_dict())
    return plain

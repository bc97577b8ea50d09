"""Release what a request asks of the mart.

Arguments: `catalog`, `request`, `asker`, `file`: the name of the release. The asker is who
sent the request, as the server knows. A refusal of the mart is a result, not a failure of the job:
    {"released": {...}}  or  {"refused": problem}  or  {"failed": problem}
The folder of a release has the release and `report.html`. Progress says the phase and nothing else:
numbers of tuples would tell the asker of records that are not released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.mart import request
from shoal.web.mart.model import REPORT
from shoal.web.mart.working import answered, asker_observes

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The result of the release, or the problem of the refusal."""

    def release(catalog: Catalog) -> dict[str, Any]:
        result = request(
            catalog,
            arguments["request"],
            output=context.folder / arguments["file"],
            asker=arguments["asker"],
            observe=asker_observes(context),
            report=context.folder / REPORT,
        )
        return {"released": {**result.to_dict(), "output": arguments["file"]}}

    return answered(arguments, release)

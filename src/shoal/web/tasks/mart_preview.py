"""What a request would release, for the custodian who decides; nothing is released or logged.

Arguments: `catalog`, `request`, `asker`. The result has all counts, so it is never shown to
the asker:
    {"result": {...} | None, "refusal": problem | None}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.mart import preview
from shoal.web.mart.working import opened
from shoal.web.problems import problem_of

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The preview as JSON."""
    with opened(arguments) as catalog:
        found = preview(
            catalog, arguments["request"], asker=arguments["asker"], observe=context.observe
        )
    return {
        "result": None if found.result is None else found.result.to_dict(),
        "refusal": None if found.refusal is None else problem_of(found.refusal),
    }

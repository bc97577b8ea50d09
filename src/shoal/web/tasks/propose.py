"""What would be released, with the warnings that a person must read first; nothing is released.

Arguments: `layout`; `levels`, the node, or `kept`, the file of a local recoding. It runs the
release up to the question, and answers no.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shoal.definition.read import override
from shoal.errors import Declined
from shoal.pipeline import run as release
from shoal.report.result import finite, to_dict
from shoal.web.laid_out import kept_of, laid_out

if TYPE_CHECKING:
    from shoal.report.proposal import Proposal
    from shoal.web.jobs.model import Context

NO_SEARCH = {"search": {"time limit": "0.001s"}}
"""The node is known: no better one is looked for here."""


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The result that the release would have, examples of labels, and the largest classes."""
    layout = arguments["layout"]
    seen: list[Proposal] = []

    def refuse(proposal: Proposal) -> bool:
        seen.append(proposal)
        return False

    with laid_out(layout) as definition, contextlib.suppress(Declined):
        release(
            override(definition, NO_SEARCH, layout["file"]),
            observe=context.observe,
            file=layout["file"],
            node=arguments.get("levels"),
            kept=kept_of(arguments),
            ask=refuse,
        )
    shown = seen[0]
    plain: dict[str, Any] = finite(
        {
            "result": to_dict(shown.result),
            "examples": [asdict(each) for each in shown.examples],
            "largest": [asdict(each) for each in shown.largest],
        }
    )
    return plain

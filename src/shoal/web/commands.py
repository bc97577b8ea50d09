"""The command that makes the same release in a terminal, quoted so that it can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from shoal.errors import UserError
from shoal.steps.choosing import parse_levels


def run_command(
    definition: str,
    *,
    levels: Mapping[str, int] | None = None,
    time_limit: str | None = None,
    report: str | None = None,
    transformation: str | None = None,
    assignment: str | None = None,
) -> str:
    """`shoal run` with these options, for a POSIX shell."""
    words = ["shoal", "run", definition if not definition.startswith("-") else f"./{definition}"]
    if levels is not None:
        words += [f"--node={text}" for text in node_options(levels)]
    if time_limit is not None:
        words += ["--time-limit", time_limit]
    if report is not None:
        words += ["--report", report]
    if transformation is not None:
        words += ["--transformation", transformation]
    if assignment is not None:
        words += ["--assignment", assignment]
    return shlex.join(words)


def node_options(levels: Mapping[str, int]) -> list[str]:
    """The values of --node: one where that is read back as it is, else one for each column."""
    each = [f"{name}={level}" for name, level in levels.items()]
    try:
        return [",".join(each)] if parse_levels([",".join(each)]) == dict(levels) else each
    except UserError:
        return each

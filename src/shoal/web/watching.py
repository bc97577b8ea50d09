"""The lines of a long analysis as events of a job: what is being done, and how much of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context

_PART = re.compile(r"\b([\d,]+) of ([\d,]+)\b")


def watch_of(context: Context) -> Callable[[str], None]:
    """A function for `watch` of an analysis: it says each line to those who follow the job."""

    def watch(line: str) -> None:
        words, _, detail = line.partition(": ")
        data: dict[str, Any] = {"phase": words, "detail": detail}
        part = _PART.search(detail)
        if part is not None:
            done, total = (int(number.replace(",", "")) for number in part.groups())
            data["share"] = done / max(total, 1)
        context.say("phase", data)

    return watch

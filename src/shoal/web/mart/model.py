"""A request that somebody sends to the mart, its states, and what a client may say in one.

    draft -> sent -> waiting -> approved -> running -> released
                        |                      |-----> refused (by the mart), failed
                        +--> refused (by a custodian), cancelled

With `approval = "never"` a sent request is not waiting: its release is made at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from shoal.errors import BadDefinition, Mistake, did_you_mean
from shoal.web.refusals import TooLarge

RequestState: TypeAlias = Literal[
    "draft",
    "sent",
    "waiting",
    "approved",
    "running",
    "released",
    "refused",
    "failed",
    "cancelled",
]
STATES: tuple[RequestState, ...] = get_args(RequestState)
STARTED: tuple[RequestState, ...] = ("sent", "approved", "running")
"""States in which a job makes the release, or will do so."""

KEYS = (
    *("purpose", "project", "select", "k", "suppression", "scope", "recoding"),
    *("priorities", "limits", "keys", "diversity", "format"),
)
"""The keys of a request that a client may state. Who asks is who is logged in; where the release
goes is the server's business, and so is how it is searched for."""

FORMATS: Mapping[str, str] = {"csv": "CSV", "parquet": "Parquet", "xlsx": "Excel"}
"""The formats of a release, by the ending of its file."""
REPORT = "report.html"
"""The name of the file with the report of a release."""
LONGEST = 65_536
"""The most characters of a request as JSON."""


@dataclass(frozen=True)
class MartRequest:
    """A request and what became of it.

    `body` are the asker's words, with the keys above. `reason` is what a custodian said;
    `problem` is why the mart did not release it, as problem+json. `job` makes the release,
    `preview` the numbers for who decides. Times are seconds since 1970.
    """

    id: str
    asker: str
    state: RequestState
    body: Mapping[str, Any]
    created: float
    changed: float
    sent: float | None = None
    decided: float | None = None
    decided_by: str | None = None
    reason: str | None = None
    problem: Mapping[str, Any] | None = None
    job: str | None = None
    preview: str | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """The request as the mart reads it."""
        return {key: value for key, value in self.body.items() if key != "format"}

    @property
    def file(self) -> str:
        """The name of the file with the release."""
        return f"release.{self.body.get('format', 'csv')}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the API: nothing of jobs, which belong to the server."""
        return {
            "id": self.id,
            "asker": self.asker,
            "state": self.state,
            "request": dict(self.body),
            "created": self.created,
            "changed": self.changed,
            "sent": self.sent,
            "decided": self.decided,
            "decided_by": self.decided_by,
            "reason": self.reason,
            "problem": None if self.problem is None else dict(self.problem),
        }


def checked_body(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a client states, if it has no other keys and is not too long.

    Empty values count as not stated.
    """
    mistakes = [
        Mistake(
            key, "cannot be stated here", did_you_mean(key, KEYS).lstrip("; ") or "leave it out"
        )
        for key in data
        if key not in KEYS
    ]
    if data.get("format", "csv") not in (*FORMATS, None):
        mistakes.append(Mistake("format", "is no known format", f"choose {' or '.join(FORMATS)}"))
    if mistakes:
        raise BadDefinition("request", mistakes)
    body = {key: value for key, value in data.items() if value not in (None, "", [], {})}
    if _length(body) > LONGEST:
        raise TooLarge("the request is too long", "ask for fewer columns or conditions")
    return body


def _length(body: Mapping[str, Any]) -> int:
    """How long a request is as JSON; refuses what JSON or UTF-8 cannot say."""
    try:
        return len(json.dumps(body, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, TypeError, RecursionError):
        what, remedy = "has a value that cannot be stored", "use plain texts and numbers"
        raise BadDefinition("request", [Mistake("request", what, remedy)]) from None

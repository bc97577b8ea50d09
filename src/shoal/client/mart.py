"""The data mart of a Shoal server, from Python: `client.mart`.

    asked = client.mart.ask({"purpose": "staging", "project": ["PT", "age"], "k": 5})
    asked.wait()
    asked.save_release("release.csv")

Who asks is who has the client's token. Where a custodian decides, `wait` waits for the decision.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shoal.errors import Declined, Interrupted, Refused, rebuilt

if TYPE_CHECKING:
    from shoal.client.session import Session

PAUSE = 1.0
"""Seconds between two looks at a request or an estimate."""


@dataclass(frozen=True)
class RemoteRequest:
    """A request to the mart of a server."""

    session: Session
    id: str

    def about(self) -> dict[str, Any]:
        """All that the server says about it: words, state, decision and problem."""
        return self._json("GET")

    def state(self) -> str:
        """draft, sent, waiting, approved, running, released, refused, failed or cancelled."""
        return str(self.about()["state"])

    def wait(self, seconds: float | None = None) -> dict[str, Any]:
        """Wait for the release, and return its result.

        Raises the refusal of the mart, Declined with the reason where a custodian refused, and
        TimeoutError after so many seconds.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while (about := self.about())["state"] in ("sent", "waiting", "approved", "running"):
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"the request is still {about['state']}")
            time.sleep(PAUSE)
        if about["problem"] is not None:
            raise rebuilt(about["problem"])
        if about["state"] == "refused":
            what = f"{about['decided_by']} refused the request: {about['reason']}"
            raise Declined(what, code="declined")
        if about["state"] == "cancelled":
            raise Interrupted("the request was taken back", code="interrupted")
        return self.result()

    def result(self) -> dict[str, Any]:
        """What was released: levels, counts, warnings, the digest of the log's entry."""
        return self._json("GET", "/result")

    def save_release(self, path: str | Path) -> Path:
        """Save the release."""
        return self.session.download(f"{self._path}/release", path)

    def save_report(self, path: str | Path) -> Path:
        """Save the report, an HTML page."""
        return self.session.download(f"{self._path}/report", path)

    def cancel(self) -> None:
        """Take the request back; a draft is deleted."""
        self.session.json("POST", f"{self._path}/cancel")

    def retry(self) -> None:
        """Begin a request again that failed."""
        self._json("POST", "/retry")

    def approve(self, reason: str = "") -> None:
        """Let the mart release it; for custodians."""
        self._json("POST", "/approve", json={"reason": reason})

    def refuse(self, reason: str) -> None:
        """Refuse it with a reason, which the asker reads; for custodians."""
        self._json("POST", "/refuse", json={"reason": reason})

    def preview(self) -> dict[str, Any]:
        """What it would release, with its risk and overlaps; for custodians.

        The answer has `result` and `refusal`, the problem that the mart would refuse it with.
        """
        found = _awaited(self.session, f"{self._path}/preview")
        return {"result": found["result"], "refusal": found["refusal"]}

    @property
    def _path(self) -> str:
        return f"/mart/requests/{quote(self.id, safe='')}"

    def _json(self, method: str, path: str = "", **options: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.session.json(method, self._path + path, **options)
        return found


@dataclass(frozen=True)
class RemoteMart:
    """The mart of a server, as one of its users."""

    session: Session

    def catalog(self) -> dict[str, Any]:
        """What the mart shares with you: columns, hierarchies, links and policy; no records."""
        found: dict[str, Any] = self.session.json("GET", "/mart/catalog")
        return found

    def check(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Every mistake of a request that its words and the catalog show, with key and code."""
        answer = self.session.json("POST", "/mart/requests/check", json=dict(request))
        found: list[dict[str, Any]] = answer["mistakes"]
        return found

    def estimate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """About how many rows a request would release, where the policy alone decides.

        The mart's log gets an entry. Raises the refusal that the request would get.
        """
        answer = self.session.json("POST", "/mart/estimates", json=dict(request))
        found = _awaited(self.session, f"/mart/estimates/{answer['id']}")
        for state in ("refused", "failed"):
            if state in found:
                raise rebuilt(found[state])
        estimate: dict[str, Any] = found["estimate"]
        return estimate

    def ask(self, request: Mapping[str, Any]) -> RemoteRequest:
        """Send a request: a mapping with the keys of a request file, without asker and output.

        BadDefinition with all mistakes where it has any.
        """
        answer = self.session.json("POST", "/mart/requests", json=dict(request))
        return RemoteRequest(self.session, answer["id"])

    def request(self, request_id: str) -> RemoteRequest:
        """A request by its id, also of an earlier program."""
        found = RemoteRequest(self.session, request_id)
        found.about()
        return found

    def requests(self, *, whose: str = "mine") -> list[dict[str, Any]]:
        """Your requests, the newest first; with `whose="all"`, for custodians, all sent ones."""
        answer = self.session.json("GET", "/mart/requests", params={"whose": whose})
        found: list[dict[str, Any]] = answer["requests"]
        return found

    def log(self) -> list[dict[str, Any]]:
        """Every entry of the mart's log; for custodians."""
        found: list[dict[str, Any]] = self.session.json("GET", "/mart/log")["entries"]
        return found

    def check_log(self, contains: Sequence[str] = ()) -> dict[str, Any]:
        """Whether the mart's log is as it was written, and has these digests; for custodians."""
        params = {"contains": list(contains)}
        found: dict[str, Any] = self.session.json("GET", "/mart/log/check", params=params)
        return found


def _awaited(session: Session, path: str) -> dict[str, Any]:
    """The answer of a preview or an estimate, once it is there."""
    while (found := session.json("GET", path))["state"] in ("waiting", "running"):
        time.sleep(PAUSE)
    if found["problem"] is not None:
        raise rebuilt(found["problem"])
    if found["answer"] is None:
        raise Refused("this was not worked out, or is not kept any more", code="not-found")
    answer: dict[str, Any] = found["answer"]
    return answer

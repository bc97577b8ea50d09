"""What became of requests: previews for who decides, releases, reports, estimates and the log.

Nobody gets a path. A release can be had by its asker and by custodians, until the server deletes
it; a preview by custodians alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import BadDefinition
from shoal.mart.log import Log
from shoal.mart.log_view import LogTable
from shoal.web.mart.model import REPORT, MartRequest, checked_body
from shoal.web.mart.service import OWNER, Marts
from shoal.web.refusals import Forbidden, NotFound, Refusal
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.mart.log_view import LogCheck
    from shoal.web.jobs.model import Job
    from shoal.web.jobs.queue import Jobs
    from shoal.web.users import User

ESTIMATES_A_DAY = 20
DAY = 24 * 3600


class TooManyEstimates(Refusal):
    """The asker has had as many estimates as a day has."""

    status = 429

    def __init__(self) -> None:
        super().__init__(
            f"you have had {ESTIMATES_A_DAY} estimates within a day, which is as many as one may",
            code="too-many-estimates",
            hint="send the request, or estimate it tomorrow",
        )


@dataclass(frozen=True)
class Progress:
    """How far a job of the mart is, and its answer when it is done."""

    state: str
    phase: str
    answer: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the API."""
        return {
            "state": self.state,
            "phase": self.phase,
            "answer": self.answer,
            "problem": self.problem,
        }


class MartResults:
    """What requests led to."""

    def __init__(self, marts: Marts, jobs: Jobs) -> None:
        self._marts, self._jobs = marts, jobs

    def phase(self, user: User, id: str) -> str:
        """What the job of a request is doing at the moment."""
        request = self._marts.get(user, id)
        return "" if request.job is None else self._progress(request.job, request.asker).phase

    def preview(self, user: User, id: str) -> Progress:
        """What a waiting request would lead to, for a custodian."""
        require(user, "custodian")
        request = self._marts.get(user, id)
        if request.asker == user.name and not self._marts.may_decide(user, request):
            raise Forbidden("the numbers of a request are not for who sent it")
        if request.preview is None:
            raise NotFound("nothing was worked out for this request", "work it out again")
        return self._progress(request.preview, request.asker)

    def result(self, user: User, id: str) -> Mapping[str, Any]:
        """The result of a released request."""
        request = self._released(user, id)
        found: Mapping[str, Any] = self._jobs.result(str(request.job), OWNER + request.asker)
        return dict(found["released"])

    def release(self, user: User, id: str) -> Path:
        """The file of a released request, for its asker and for custodians."""
        request = self._released(user, id)
        return self._jobs.folder(str(request.job), OWNER + request.asker) / request.file

    def report(self, user: User, id: str) -> Path:
        """The report of a released request."""
        request = self._released(user, id)
        return self._jobs.folder(str(request.job), OWNER + request.asker) / REPORT

    def has_files(self, request: MartRequest) -> bool:
        """Whether the release of a request is still kept."""
        try:
            self._jobs.get(str(request.job), OWNER + request.asker)
        except NotFound:
            return False
        return request.state == "released"

    def start_estimate(self, user: User, data: Mapping[str, Any]) -> str:
        """Begin to estimate what a request would release; the id of the estimate.

        Only where the policy alone decides: where a custodian approves first, an asker learns
        nothing of the records before that. So many a day, and each is in the mart's log.
        """
        require(user, "researcher")
        if self._marts.needs_approval:
            raise Forbidden(
                "a custodian decides on requests here, so nothing is estimated before",
                "send the request: the custodian sees the numbers",
            )
        if found := self._marts.mistakes(user, data):
            raise BadDefinition("request", found)
        now = time.time()
        request = MartRequest("", user.name, "draft", checked_body(data), now, now)
        table, arguments = self._marts.table, self._marts.arguments(request)
        if not table.add_estimate(user.name, most=ESTIMATES_A_DAY, since=now - DAY):
            raise TooManyEstimates
        return self._jobs.submit("mart_estimate", arguments, owner=OWNER + user.name).id

    def estimate(self, user: User, id: str) -> Progress:
        """How far an estimate of the user is, and what it says."""
        require(user, "researcher")
        if self._job(id, user.name).task != "mart_estimate":
            raise NotFound("there is no such estimate")
        return self._progress(id, user.name)

    def log(self, user: User) -> LogTable:
        """The mart's log, for custodians."""
        require(user, "custodian")
        return LogTable(Log(self._marts.catalog(user).log).entries())

    def check_log(self, user: User, contains: Sequence[str] = ()) -> LogCheck:
        """Whether the mart's log is as it was written, and has these digests."""
        require(user, "custodian")
        return Log(self._marts.catalog(user).log).check(contains)

    def _released(self, user: User, id: str) -> MartRequest:
        request = self._marts.get(user, id)
        if request.state != "released":
            raise NotFound("nothing was released for this request", "look at its state")
        if not self.has_files(request):
            raise NotFound("the release was deleted, as all are after a while", "ask again")
        return request

    def _job(self, id: str, asker: str) -> Job:
        return self._jobs.get(id, OWNER + asker)

    def _progress(self, id: str, asker: str) -> Progress:
        try:
            job = self._job(id, asker)
        except NotFound:
            return Progress("deleted", "")
        phase = str(job.progress.get("phase", "")) if job.progress.get("event") == "phase" else ""
        answer = self._jobs.result(id, OWNER + asker) if job.state == "done" else None
        return Progress(job.state, phase, answer, job.problem)

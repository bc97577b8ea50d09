"""`Marts`: requests to the mart and who may do what with them. Every rule of that is here.

- A researcher composes and sends requests, and sees only their own. The asker of a release is the
  name of the account, never something that a client states.
- A custodian sees all sent requests and decides on them, but never on their own: two persons stand
  behind each release. With a single user there is nobody else, so that user decides.
- With `approval = "always"` no job that releases is started before a custodian approved; with
  "never" the policy of the catalog alone decides.
- Jobs of the mart belong to an owner that is no user, so that their results and files can be had
  through this class alone.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shoal.errors import BadDefinition, Mistake, ShoalError
from shoal.mart import request_mistakes
from shoal.web.jobs.queue import TooManyJobs
from shoal.web.mart.catalog import CatalogFile, CatalogView, NoMart, view_of
from shoal.web.mart.model import STARTED, MartRequest, RequestState, checked_body
from shoal.web.mart.table import RequestTable
from shoal.web.problems import problem_of
from shoal.web.refusals import Conflict, Forbidden, NotFound, TooMany
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.web.audit import Audit
    from shoal.web.jobs.queue import Jobs
    from shoal.web.settings import MartSettings, Settings
    from shoal.web.store import Store
    from shoal.web.users import User

OWNER = "mart of "
"""Before the name of an asker: the owner of the jobs that the mart runs for them."""
MOST_REQUESTS = 2000
"""So many requests one asker may have in all."""
LONGEST_REASON = 2000


class Marts:
    """The mart of the server, if it has one."""

    def __init__(self, settings: Settings, store: Store, jobs: Jobs, audit: Audit) -> None:
        taken = [each.name for each in settings.users if each.name.startswith(OWNER)]
        if taken:
            raise ValueError(f"no user may be called {taken[0]!r}")
        self._settings, self._jobs, self._audit = settings, jobs, audit
        self.table = RequestTable(store)
        self._file = None if settings.mart is None else CatalogFile(settings.mart)
        self._starting = threading.Lock()

    @property
    def is_there(self) -> bool:
        """Whether the server has a mart."""
        return self._file is not None

    @property
    def settings(self) -> MartSettings:
        """What server.toml says of the mart."""
        if self._settings.mart is None:
            raise NoMart
        return self._settings.mart

    @property
    def needs_approval(self) -> bool:
        """Whether a custodian decides on each request."""
        return self.settings.approval == "always"

    # The catalog

    def catalog(self, user: User) -> Catalog:
        """The catalog; what is wrong with a broken one is for custodians."""
        if self._file is None:
            raise NoMart
        return self._file.get() if "custodian" in user.roles else self._file.for_asker()

    def view(self, user: User, *, as_asker: bool = False) -> CatalogView:
        """What the mart shares with a user; with custodians all, unless they are to ask."""
        require(user, "researcher", "custodian")
        is_asker = as_asker or "custodian" not in user.roles
        return view_of(self.catalog(user), user.name if is_asker else None)

    # Requests of a researcher

    def mistakes(self, user: User, data: Mapping[str, Any]) -> tuple[Mistake, ...]:
        """Every mistake of a request that its words and the catalog show; nothing is opened."""
        require(user, "researcher")
        catalog = self.catalog(user)
        try:
            body = checked_body(data)
        except BadDefinition as error:
            return tuple(error.mistakes)
        asked = {key: value for key, value in body.items() if key != "format"}
        found = request_mistakes(catalog, asked, user.name)
        if self.needs_approval and not str(body.get("purpose", "")).strip():
            remedy = "say what the data is for: a custodian decides by it"
            found = (*found, Mistake("purpose", "is missing", remedy, code="bad-definition"))
        return found

    def draft(self, user: User, data: Mapping[str, Any]) -> MartRequest:
        """Keep a request that is not sent yet; it may have mistakes."""
        require(user, "researcher")
        self.settings  # noqa: B018 there is no request without a mart
        if self.table.number(user.name) >= MOST_REQUESTS:
            raise TooMany("you have as many requests as one user may have")
        now = time.time()
        id = secrets.token_hex(16)
        request = MartRequest(id, user.name, "draft", checked_body(data), now, now)
        self.table.add(request)
        return request

    def save(self, user: User, id: str, data: Mapping[str, Any]) -> MartRequest:
        """Change a draft."""
        self._own(user, id)
        body = checked_body(data)
        self._change(id, ("draft",), "only a draft can be changed", body=body)
        return self._own(user, id)

    def send(self, user: User, id: str) -> MartRequest:
        """Send a draft: it waits for a custodian, or its release is made at once."""
        request = self._own(user, id)
        if found := self.mistakes(user, request.body):
            raise BadDefinition("request", found)
        state = "waiting" if self.needs_approval else "sent"
        why = "it was sent before"
        self._change(id, ("draft",), why, state=state, sent=time.time())
        self._audit.record(user.name, "sent a request to the mart", f"request {id}")
        if state == "waiting":
            with suppress(TooManyJobs):  # a custodian can begin it later
                self._preview(self._own(user, id))
        return self._refreshed(self._own(user, id))

    def cancel(self, user: User, id: str) -> MartRequest | None:
        """Take a request back; None where it was a draft, which is deleted.

        One that is being made is interrupted, and the mart's log says so; one that was released
        stays released.
        """
        request = self._refreshed(self._own(user, id))
        if request.state == "draft" and self.table.delete_draft(id):
            return None
        if request.state == "running" and request.job is not None:
            self._jobs.stop(request.job, OWNER + request.asker)
        else:
            before: tuple[RequestState, ...] = ("waiting", "sent", "approved")
            self._change(id, before, "it has come to its end", state="cancelled")
            if request.job is not None:
                self._jobs.cancel(request.job, OWNER + request.asker)
        self._audit.record(user.name, "took a request to the mart back", f"request {id}")
        return self._refreshed(self._own(user, id))

    def retry(self, user: User, id: str) -> MartRequest:
        """Begin a failed request again; an approval still counts, since nothing was changed."""
        request = self._refreshed(self._own(user, id))
        if request.decided_by is None and self.needs_approval:
            state: RequestState = "waiting"
        else:
            state = "sent" if request.decided_by is None else "approved"
        why = "only a request that failed can be begun again"
        self._change(id, ("failed",), why, state=state, job=None, problem=None)
        self._audit.record(user.name, "began a request to the mart again", f"request {id}")
        return self._refreshed(self._own(user, id))

    def of(self, user: User) -> list[MartRequest]:
        """The user's own requests, the newest first."""
        require(user, "researcher")
        self.settings  # noqa: B018
        return [self._refreshed(each) for each in self.table.of(user.name)]

    def get(self, user: User, id: str) -> MartRequest:
        """One's own request, or for a custodian any that was sent; else NotFound."""
        require(user, "researcher", "custodian")
        self.settings  # noqa: B018
        request = self.table.get(id)
        if request is None or not self._may_see(user, request):
            raise _not_found()
        return self._refreshed(request)

    # Decisions of a custodian

    def everyone(self, user: User) -> list[MartRequest]:
        """All requests that were sent, the newest first."""
        require(user, "custodian")
        self.settings  # noqa: B018
        return [self._refreshed(each) for each in self.table.everyone()]

    def may_decide(self, user: User, request: MartRequest) -> bool:
        """Whether a user may decide on a request: a custodian who did not send it."""
        is_own = request.asker == user.name and not self._settings.single_user
        return "custodian" in user.roles and not is_own

    def approve(self, user: User, id: str, reason: str = "") -> MartRequest:
        """Let the mart release what a waiting request asks for."""
        self._decide(user, id, "approved", reason)
        return self.get(user, id)

    def refuse(self, user: User, id: str, reason: str) -> MartRequest:
        """Refuse a waiting request; the asker reads the reason."""
        require(user, "custodian")
        if not reason.strip():
            what, remedy = "is missing", "say why, so that the asker can ask better"
            raise BadDefinition("decision", [Mistake("reason", what, remedy)])
        self._decide(user, id, "refused", reason)
        return self.get(user, id)

    def preview_again(self, user: User, id: str) -> MartRequest:
        """Work the numbers for the decision out again: the log or the sources may have changed."""
        require(user, "custodian")
        request = self.get(user, id)
        if request.state != "waiting":
            raise Conflict("the request is not waiting for a decision", "look at its result")
        self._preview(request)
        return self.get(user, id)

    # Inside

    def arguments(self, request: MartRequest) -> dict[str, Any]:
        """What the tasks of the mart are told. The asker is the account that sent the request."""
        return {
            "catalog": str(self.settings.catalog),
            "request": request.asked,
            "asker": request.asker,
        }

    def _may_see(self, user: User, request: MartRequest) -> bool:
        if request.asker == user.name:
            return True
        return "custodian" in user.roles and request.state != "draft"

    def _own(self, user: User, id: str) -> MartRequest:
        require(user, "researcher")
        self.settings  # noqa: B018
        request = self.table.get(id)
        if request is None or request.asker != user.name:
            raise _not_found()
        return request

    def _change(self, id: str, before: Sequence[RequestState], why: str, **values: Any) -> None:
        if not self.table.change(id, before, **values):
            raise Conflict(f"the request cannot be changed: {why}", "look at its state")

    def _decide(self, user: User, id: str, state: RequestState, reason: str) -> None:
        require(user, "custodian")
        request = self.get(user, id)
        if not self.may_decide(user, request):
            raise Forbidden(
                "nobody decides on a request of their own", "ask another custodian to decide"
            )
        if len(reason) > LONGEST_REASON:
            remedy = f"use at most {LONGEST_REASON} characters"
            raise BadDefinition("decision", [Mistake("reason", "is too long", remedy)])
        self._change(
            id,
            ("waiting",),
            "it is not waiting for a decision",
            state=state,
            reason=reason.strip() or None,
            decided=time.time(),
            decided_by=user.name,
        )
        self._audit.record(user.name, f"{state} a request to the mart", f"request {id}")

    def _preview(self, request: MartRequest) -> None:
        """Start the job that works out what a custodian should know."""
        owner = OWNER + request.asker
        job = self._jobs.submit("mart_preview", self.arguments(request), owner=owner)
        self.table.change(request.id, ("waiting",), preview=job.id)

    def _refreshed(self, request: MartRequest) -> MartRequest:
        """The request in the state that its job is in; a job that should run is started."""
        if request.state not in STARTED:
            return request
        if request.job is None:
            with suppress(TooManyJobs):  # it is begun when it is looked at again
                request = self._started(request)
        values = self._outcome(request)
        changed = bool(values) and self.table.change(request.id, STARTED, **values)
        if changed and values["state"] == "released":
            self._audit.record(request.asker, "was given a release", f"request {request.id}")
        return self.table.get(request.id) or request

    def _started(self, request: MartRequest) -> MartRequest:
        """Start the job of the release, once."""
        with self._starting:
            latest = self.table.get(request.id)
            if latest is None or latest.job is not None or latest.state not in STARTED:
                return latest or request
            arguments = {**self.arguments(latest), "file": latest.file}
            job = self._jobs.submit("mart_request", arguments, owner=OWNER + latest.asker)
            self.table.change(latest.id, STARTED, job=job.id)
            return self.table.get(latest.id) or latest

    def _outcome(self, request: MartRequest) -> dict[str, Any]:
        """What the job of a request makes of it; nothing where it only waits."""
        if request.job is None:
            return {}
        owner = OWNER + request.asker
        try:
            job = self._jobs.get(request.job, owner)
            if job.state == "running" and request.state != "running":
                return {"state": "running"}
            if job.state in ("cancelled", "failed", "interrupted"):
                state = "cancelled" if job.state == "cancelled" else "failed"
                return {"state": state, "problem": job.problem}
            if job.state != "done":
                return {}
            result = self._jobs.result(request.job, owner)
        except ShoalError as error:
            return {"state": "failed", "problem": problem_of(error)}
        for state in ("refused", "failed"):
            if state in result:
                return {"state": state, "problem": result[state]}
        return {"state": "released"}


def plain(mistake: Mistake) -> dict[str, Any]:
    """A mistake for the API."""
    return {key: value for key, value in asdict(mistake).items() if key != "line"}


def _not_found() -> NotFound:
    return NotFound("there is no such request", "list your requests to see what there is")

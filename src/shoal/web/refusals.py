"""Errors that a server answers with an HTTP status of their own."""

from __future__ import annotations

from typing import ClassVar

from shoal.errors import UserError


class Refusal(UserError):
    """A request that is refused; `status` is the HTTP status of the answer."""

    status: ClassVar[int] = 400


class NotLoggedIn(Refusal):
    """Nobody is logged in, or the token or session is not valid."""

    status = 401

    def __init__(self, what: str = "you are not logged in", hint: str = "log in again") -> None:
        super().__init__(what, code="not-logged-in", hint=hint)


class Forbidden(Refusal):
    """The user may not do this."""

    status = 403

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, code="forbidden", hint=hint)


class NotFound(Refusal):
    """No such thing, or it belongs to somebody else: both get the same answer."""

    status = 404

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, code="not-found", hint=hint)


class WrongMethod(Refusal):
    """The address is right, but not for this method."""

    status = 405

    def __init__(self) -> None:
        super().__init__(
            "this address does not take that method",
            code="bad-request",
            hint="see /api/v1/openapi.json",
        )


class Conflict(Refusal):
    """What should be changed was changed by somebody else, or is not in a state for it."""

    status = 409

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, code="conflict", hint=hint)


class TooLarge(Refusal):
    """The request is larger than the server allows."""

    status = 413

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, code="too-large", hint=hint)


class TooMany(Refusal):
    """Too many requests in a short time; `seconds` says when to try again."""

    status = 429

    def __init__(self, what: str, seconds: int = 60) -> None:
        super().__init__(what, code="too-many-requests", hint=f"try again in {seconds} seconds")
        self.seconds = seconds


class Slow(Refusal):
    """The body of a request came too slowly."""

    status = 408

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, code="too-slow", hint=hint)

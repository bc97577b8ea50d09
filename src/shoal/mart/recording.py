"""Every request leaves an entry in the log: released, refused or failed.

A release is logged before it is published, so nothing leaves that the log does not know. If
publishing then fails, a second entry says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.errors import BadHierarchy, Declined, Infeasible, Refused, ShoalError, UserError

if TYPE_CHECKING:
    from shoal.mart.log import Log
    from shoal.mart.request import Request

REFUSALS = (UserError, Infeasible, Refused, Declined)
"""Errors that are an answer to a request; every other one is a failure of the mart."""


@dataclass
class Asked:
    """What is known of a request so far: the log gets it, however the request ends."""

    asker: str | None = None
    request: Mapping[str, Any] | None = None
    sources: Mapping[str, str | None] = field(default_factory=dict)

    def entry(self, kind: str, **more: Any) -> dict[str, Any]:
        """An entry for the log."""
        known = {"asker": self.asker, "request": self.request, "sources": dict(self.sources)}
        return {"kind": kind, **known, **more}


@contextmanager
def recorded(log: Log) -> Iterator[Asked]:
    """Log a request that ends with an error, once, and raise the error again.

    A log that cannot be written is the error then, unless it is why the request ended.
    """
    asked = Asked()
    try:
        log.entries()
        yield asked
    except BaseException as error:
        kind = "refused" if isinstance(error, REFUSALS) else "failed"
        code, reason = _reason(error)
        try:
            log.append(asked.entry(kind, code=code, reason=reason))
        except ShoalError as failure:
            if code != failure.code:
                raise failure from error
        raise


def _reason(error: BaseException) -> tuple[str, str]:
    """The code of an error and what it says; never a value of the data."""
    if isinstance(error, BadHierarchy):
        return error.code, "a hierarchy of the catalog does not fit its source"
    if isinstance(error, ShoalError):
        return error.code, error.what
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "interrupted; nothing was released"
    return "internal-error", type(error).__name__


def as_asked(request: Request) -> dict[str, Any]:
    """A request as plain values for the log: what was asked, not where the answer goes."""
    plain = request.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude={"select", "output", "report"}
    )
    return {**plain, "select": [str(condition) for condition in request.select]}

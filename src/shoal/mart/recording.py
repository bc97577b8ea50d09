"""Every request leaves an entry in the log: released, refused or failed.

A release is logged before it is published, so nothing leaves that the log does not know. If
publishing then fails, a second entry says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.read import content, parse
from shoal.errors import (
    BadDefinition,
    BadHierarchy,
    Declined,
    Infeasible,
    Refused,
    ShoalError,
    UserError,
)
from shoal.mart.log import Log
from shoal.mart.write import request_mapping

if TYPE_CHECKING:
    from shoal.mart.request import Request

REFUSALS = (UserError, Infeasible, Refused, Declined)
"""Errors that are an answer to a request; every other one is a failure of the mart."""


@dataclass
class Asked:
    """What is known of a request so far: the log gets it, however the request ends.

    `is_released` says that the log has an entry of its release.
    """

    asker: str | None = None
    request: Mapping[str, Any] | None = None
    sources: Mapping[str, str | None] = field(default_factory=dict)
    is_released: bool = False

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
        with _without_values():
            yield asked
    except BaseException as error:
        is_answer = isinstance(error, REFUSALS) and not asked.is_released
        kind = "refused" if is_answer else "failed"
        code, reason = reason_of(error)
        try:
            log.append(asked.entry(kind, code=code, reason=reason))
        except ShoalError as failure:
            if code != failure.code:
                raise failure from error
        raise


@contextmanager
def _without_values() -> Iterator[None]:
    """An asker is not told which values of a source its hierarchy does not cover."""
    try:
        yield
    except BadHierarchy as error:
        if error.code != "uncovered-value":
            raise
        raise BadHierarchy(
            error.what.partition(" of the data: ")[0],
            code=error.code,
            hint="tell the owner of the mart: `shoal mart check` says more",
        ) from None


@contextmanager
def recorded_mistakes(catalog: object) -> Iterator[None]:
    """Log a request that ends because its catalog has mistakes, where the catalog names a log.

    Whatever is wrong with that log, the mistakes are what the asker is told.
    """
    try:
        yield
    except BadDefinition as error:
        log = _log_of(catalog)
        if log is not None:
            with suppress(ShoalError):
                log.append(Asked().entry("refused", code=error.code, reason=error.what))
        raise


def _log_of(catalog: object) -> Log | None:
    """The log that a catalog with mistakes names, if that much of it can be read."""
    data, folder = catalog, Path()
    if isinstance(catalog, str | Path):
        path = Path(catalog)
        data, folder = parse(content(path), str(path), path.suffix.lower()).data, path.parent
    named = data.get("log") if isinstance(data, Mapping) else None
    return Log(folder / named) if isinstance(named, str) and named else None


def reason_of(error: BaseException) -> tuple[str, str]:
    """The code of an error and what it says; never a value of the data."""
    if isinstance(error, BadHierarchy):
        return error.code, "a hierarchy of the catalog does not fit its source"
    if isinstance(error, ShoalError):
        return error.code, error.what
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "interrupted; nothing was released"
    return "internal-error", type(error).__name__


def as_asked(request: Request) -> dict[str, Any]:
    """A request in the keys of its file for the log: what was asked, not where the answer goes."""
    found = request_mapping(request)
    return {key: value for key, value in found.items() if key not in ("output", "report")}

"""Errors as application/problem+json (RFC 9457), with the codes of the command line."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shoal.errors import (
    BadDefinition,
    Bug,
    Declined,
    Infeasible,
    Interrupted,
    Refused,
    ShoalError,
    UserError,
)
from shoal.web.refusals import Refusal

DOCS = "docs/errors.md"
"""The page of the documentation that explains the codes."""
STATUS: tuple[tuple[type[ShoalError], int], ...] = (
    (UserError, 422),
    (Infeasible, 409),
    (Refused, 409),
    (Declined, 409),
    (Interrupted, 409),
    (Bug, 500),
)


def status_of(error: ShoalError) -> int:
    """The HTTP status of an error."""
    if isinstance(error, Refusal):
        return error.status
    return next((status for kind, status in STATUS if isinstance(error, kind)), 409)


def problem_of(error: ShoalError) -> dict[str, Any]:
    """The members of a problem: those of the standard, then ours.

    `kind` is the class of the error in Python, `mistakes` are those of a definition.
    """
    first, *more = error.what.split("\n")
    problem: dict[str, Any] = {
        "type": f"{DOCS}#{error.code}",
        "title": first,
        "status": status_of(error),
        "detail": "\n".join([first, *more]),
        "code": error.code,
        "hint": error.hint,
        "kind": _kind(error),
    }
    if isinstance(error, BadDefinition):
        problem["mistakes"] = [asdict(mistake) for mistake in error.mistakes]
        problem["file"] = error.file
    if isinstance(error, Infeasible):
        problem["reasons"] = list(error.reasons)
        problem["remedies"] = list(error.remedies)
    return problem


def _kind(error: ShoalError) -> str:
    """The name of the nearest class that shoal.errors has."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "shoal.errors")

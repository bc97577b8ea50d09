"""Who may call an operation, and how the description of the API says so."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from shoal.web.api.models import Problem
from shoal.web.security import user_of
from shoal.web.users import User, require

BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="The token that an administrator gave you."
)
PROBLEM = {"$ref": f"#/components/schemas/{Problem.__name__}"}
MEANINGS = {
    400: "The request cannot be understood",
    401: "No valid token",
    403: "A role is missing",
    404: "There is no such thing, or it belongs to somebody else",
    408: "The body came too slowly",
    409: "Not possible in the present state",
    413: "The body is too large",
    415: "The file is none that Shoal reads",
    422: "The request or its definition has mistakes",
    429: "Too many requests or jobs",
    507: "The disk of the server is full",
}


def secured() -> list[Any]:
    """The dependencies of routes behind the guard: it has checked the token before."""
    return [Depends(BEARER)]


def custodian(request: Request) -> User:
    """Who asks; refused unless it is a custodian."""
    user = user_of(request)
    require(user, "custodian")
    return user


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that an operation may answer with; those of access come by themselves."""
    return {
        status: {
            "description": MEANINGS[status],
            "content": {"application/problem+json": {"schema": PROBLEM}},
        }
        for status in sorted({400, 401, 403, 429, *statuses})
    }

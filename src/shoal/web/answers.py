"""Errors as answers: a plain page for people, problem+json for programs; never a traceback.

The text of an exception that is not ours may hold values of the data. So it is neither shown nor
logged: the log has its type and where it was raised, under a number that the answer names.
"""

from __future__ import annotations

import logging
import secrets
from html import escape
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from shoal.errors import BadDefinition, Bug, Mistake, ShoalError
from shoal.web.bodies import BODY, LimitedBody
from shoal.web.origins import READING
from shoal.web.problems import problem_of, status_of
from shoal.web.refusals import (
    NotFound,
    NotLoggedIn,
    Refusal,
    Slow,
    TooLarge,
    TooMany,
    WrongMethod,
)

API = "/api/"
GONE = 499
"""The status of answers that nobody reads, in the log."""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Shoal</title>
{head}<link rel="icon" href="/static/shoal.svg">
<link rel="stylesheet" href="/static/shoal.css">
<link rel="stylesheet" href="/static/plain.css">
</head>
<body class="plain">
<main>
<header><img src="/static/shoal.svg" alt=""><span>Shoal</span></header>
{body}
</main>
</body>
</html>
"""
log = logging.getLogger("shoal.web")


def plain_page(title: str, body: str, status: int = 200, head: str = "") -> Response:
    """A page without scripts. `body` is HTML: whatever is put into it must be escaped before."""
    return HTMLResponse(PAGE.format(title=escape(title), head=head, body=body), status)


def answer_to(error: Exception, request: HTTPConnection) -> Response:
    """The answer to a request that ended with an error.

    Where the client has gone, the error is only that nobody waits for the answer any more.
    """
    body = request.scope.get(BODY)
    if isinstance(body, LimitedBody) and body.gone:
        return Response(status_code=GONE)
    known = known_error(error)
    method, path = request.scope.get("method"), request.scope["path"]
    wants_page = "text/html" in request.headers.get("accept", "") and method in READING
    if not wants_page or path.startswith(API):
        content = problem_of(known)
        answer: Response = JSONResponse(
            content, status_of(known), media_type="application/problem+json"
        )
    elif isinstance(known, NotLoggedIn):
        return RedirectResponse("/login" if path == "/" else f"/login?next={quote(path)}", 303)
    else:
        answer = plain_page("Error", _text_of(known), status_of(known))
    if isinstance(known, NotLoggedIn):
        answer.headers["www-authenticate"] = "Bearer"
    if isinstance(known, TooMany):
        answer.headers["retry-after"] = str(known.seconds)
    if isinstance(known, TooLarge | Slow):
        answer.headers["connection"] = "close"  # the rest of the body is not read
    return answer


def answer_errors(app: FastAPI) -> None:
    """Let an application answer all its errors so."""

    async def answer(request: Request, error: Exception) -> Response:
        return answer_to(error, request)

    for kind in (ShoalError, RequestValidationError, HTTPException, Exception, 404):
        app.add_exception_handler(kind, answer)


def where(error: BaseException) -> str:
    """The type of an exception and where it was raised, without its text."""
    places = []
    trace = error.__traceback__
    while trace:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__} at {' > '.join(places[-6:])}"


def known_error(error: Exception) -> ShoalError:
    """The error as one of ours; any other is logged under the number that its hint names."""
    if isinstance(error, ShoalError):
        return error
    if isinstance(error, RequestValidationError):
        found = [
            Mistake(".".join(map(str, each["loc"])), str(each["msg"]).lower(), "see the OpenAPI")
            for each in error.errors()
        ]
        return BadDefinition("request", found)
    if isinstance(error, HTTPException) and error.status_code == 404:
        return NotFound("there is no such page", "look at the address, or begin at /")
    if isinstance(error, HTTPException) and error.status_code == 405:
        return WrongMethod()
    if isinstance(error, HTTPException) and error.status_code < 500:
        return Refusal("the server does not understand this request", code="bad-request")
    number = secrets.token_hex(4)
    log.error("error %s: %s", number, where(error))
    hint = f"report it with the number {number}, which is in the server's log"
    return Bug("the server has made a mistake", code="bug", hint=hint)


def _text_of(error: ShoalError) -> str:
    first, *more = error.what.split("\n")
    lines = [_sentence(line.strip()) for line in [*more, error.hint] if line]
    shown = "".join(f"<p>{escape(line)}</p>\n" for line in lines)
    return (
        f"<h1>{escape(_sentence(first))}</h1>\n{shown}"
        f'<p><a href="/">To the first page</a></p>\n<p class="hint">Code: {escape(error.code)}</p>'
    )


def _sentence(words: str) -> str:
    """The words with a capital letter at their beginning."""
    return words[:1].upper() + words[1:]

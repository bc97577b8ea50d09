"""Logging in and out: plain HTML, without scripts and without a websocket."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from fastapi import Request
from nicegui import app
from starlette.responses import RedirectResponse, Response

from shoal.web.answers import plain_page
from shoal.web.refusals import NotLoggedIn, TooMany
from shoal.web.security import address_of, session_of, set_session_cookie, user_of
from shoal.web.services import Services
from shoal.web.sockets import close_ended
from shoal.web.users import User

FORM = """<h1>Log in</h1>
<p>Release tabular data so that every record hides in a crowd.</p>
<form method="post" action="/login">
<input type="hidden" name="next" value="{next}">
<label for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus
 spellcheck="false"{invalid}>
{problem}<button type="submit">Log in</button>
</form>
<p class="hint">An administrator of this server gives you the token. It is shown only once; if you
have lost it, ask for a new one.</p>"""
LOCAL = """<h1>Log in</h1>
<p>{why}</p>
<p class="hint">The address with its token is in the terminal where <code>shoal ui</code> runs. It
can be used once. For another browser, stop <code>shoal ui</code> there with Ctrl-C and start it
again: your projects stay.</p>"""


def register(services: Services) -> None:
    """Define the routes /login, /start and /logout."""

    @app.get("/login", include_in_schema=False)
    def show_login(request: Request) -> Response:
        if services.settings.single_user:
            return _local_page("You are not logged in.", 200)
        return _form(request.query_params.get("next", "/"))

    @app.post("/login", include_in_schema=False)
    async def log_in(request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        after = fields.get("next", ["/"])[0]
        try:
            token = fields.get("token", [""])[0].strip()
            user = services.users.log_in(token, address_of(request.scope))
        except NotLoggedIn as error:
            services.audit.record("-", "failed to log in")
            return _form(after, f"{error.what}; {error.hint}", error.status)
        except TooMany as error:
            return _form(after, f"{error.what}; {error.hint}", error.status)
        return _logged_in(RedirectResponse(_own_path(after), 303), user)

    @app.get("/start", include_in_schema=False)
    def start(request: Request) -> Response:
        user = services.users.use_one_time_token(request.query_params.get("token", ""))
        if user is None:
            return _local_page("This address has been used already, or is not complete.", 401)
        body = '<h1>Logged in</h1>\n<p><a href="/">Open your projects</a></p>'
        head = '<meta http-equiv="refresh" content="0;url=/">\n'
        return _logged_in(plain_page("Logged in", body, head=head), user)

    @app.post("/logout", include_in_schema=False)
    async def log_out(request: Request) -> Response:
        if session := session_of(request):
            services.users.end_session(session)
        await close_ended(services.users)
        services.audit.record(user_of(request).name, "logged out")
        answer = RedirectResponse("/login", 303)
        set_session_cookie(answer.headers, services, "")
        return answer

    def _logged_in(answer: Response, user: User) -> Response:
        set_session_cookie(answer.headers, services, services.users.begin_session(user))
        services.audit.record(user.name, "logged in")
        return answer


def _form(after: str, problem: str = "", status: int = 200) -> Response:
    sentence = escape(f"{problem[:1].upper()}{problem[1:]}.")
    shown = f'<p class="problem" id="problem" role="alert">{sentence}</p>\n'
    body = FORM.format(
        next=escape(_own_path(after)),
        invalid=' aria-invalid="true" aria-describedby="problem"' if problem else "",
        problem=shown if problem else "",
    )
    return plain_page("Log in", body, status)


def _local_page(why: str, status: int) -> Response:
    body = LOCAL.format(why=escape(why))
    return plain_page("Log in", body, status)


def _own_path(after: str) -> str:
    """A path of this server, or its first page. `//host` and `/\\host` are other servers."""
    is_own = after.startswith("/") and after[1:2] not in ("/", "\\") and after.isprintable()
    return after if is_own and not after.startswith(("/login", "/start", "/logout")) else "/"

"""`shoal serve`: several users, with the settings of server.toml."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from shoal.errors import UserError
from shoal.web.services import open_services
from shoal.web.serving import bound_socket, serve
from shoal.web.settings import ROLES
from shoal.web.settings_file import NAME, read_settings
from shoal.web.users import hash_of, new_token


def run_team(config: Path, check: bool, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; with `check` only read the settings."""
    settings = read_settings(config)
    if check:
        say(f"{config} is right: {len(settings.users)} users, {len(settings.sources)} sources")
        return
    listening = bound_socket(settings.host, settings.port)
    settings = replace(settings, port=listening.getsockname()[1])
    services = open_services(settings)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    outside = f", for users at https://{settings.hosts[0]}" if settings.https else ""
    say(f"Shoal listens at http://{host}:{settings.port}{outside}. Ctrl-C stops.")
    serve(services, listening, quiet=False)
    say("stopped")


def lines_of_new_user(name: str, roles: Sequence[str]) -> str:
    """A new token, and the lines of server.toml that let its user in."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name!r} is no name",
            code="bad-name",
            hint="use up to 64 letters, digits and . _ - @ without spaces",
        )
    if unknown := [role for role in roles if role not in ROLES]:
        raise UserError(
            f"{unknown[0]!r} is no role", code="bad-name", hint=f"choose of {', '.join(ROLES)}"
        )
    token = new_token()
    listed = ", ".join(f'"{role}"' for role in dict.fromkeys(roles))
    return (
        f"The token of {name}, shown only now:\n\n  {token}\n\nLines for server.toml:\n\n"
        f'[[users]]\nname = "{name}"\nroles = [{listed}]\ntoken = "{hash_of(token)}"'
    )

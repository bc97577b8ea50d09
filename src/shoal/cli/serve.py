"""`shoal serve`: the web application for a team, as server.toml says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HELP = """Serve Shoal to a team: pages and REST, as server.toml says.

\b
Examples:
  shoal serve --new-token alice --role custodian
  shoal serve --config server.toml --check
  shoal serve --config server.toml

\b
A small server.toml:
  folder = "/var/lib/shoal"
  https = true
  hosts = ["shoal.example.org"]
  proxies = ["127.0.0.1"]
  [[users]]
  name = "alice"
  roles = ["custodian"]
  token = "sha256:..."

It listens on 127.0.0.1 without TLS, so put a TLS proxy before it. Ctrl-C or SIGTERM stops it.
"""


def serve(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The settings, a TOML file.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say whether the settings are right, and leave.")
    ] = False,
    new_token: Annotated[
        str | None,
        typer.Option("--new-token", metavar="NAME", help="Make a token for a user, and leave."),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="A role of the new user: custodian, researcher or admin."),
    ] = None,
) -> None:
    """Serve Shoal to a team: pages and REST, as server.toml says."""
    if new_token is not None:
        from shoal.web.team import lines_of_new_user

        typer.echo(lines_of_new_user(new_token, role or ["custodian"]))
        return
    if config is None:
        raise typer.BadParameter("name the settings, such as --config server.toml")
    from shoal.web.team import run_team

    run_team(config, check, typer.echo)


serve.__doc__ = HELP

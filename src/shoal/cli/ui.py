"""`shoal ui`: the web application for one person, on this machine only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HELP = """Open Shoal in the browser, for yourself, on this machine only.

\b
Examples:
  shoal ui
  shoal ui --no-browser --port 9000
  shoal ui --folder /encrypted/shoal

The address has a token that can be used once, then the browser is logged in. Projects and uploads
are kept in a private folder until you delete them. Ctrl-C stops it.
"""


def ui(
    port: Annotated[
        int | None,
        typer.Option("--port", help="The port; without it 8765 or the next that is free."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Keep projects here, instead of the folder of your account."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the address in the browser.")
    ] = True,
) -> None:
    """Open Shoal in the browser, for yourself, on this machine only."""
    from shoal.web.local import run_local

    run_local(port, folder, browser, typer.echo)


ui.__doc__ = HELP

"""`shoal ui`: one user, on loopback, with a folder of the user's own."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from shoal.web.services import open_services
from shoal.web.serving import bound_socket, serve
from shoal.web.settings import DAY, GIB, Limits, Settings

HOST = "127.0.0.1"
PORT = 8765
LIMITS = Limits(
    upload_bytes=20 * GIB, job_seconds=DAY, keep_seconds=90 * DAY, session_seconds=7 * DAY
)
"""The machine is the user's own, so the limits only stop what has gone wrong."""


def data_folder() -> Path:
    """Where the projects of this account are kept, by the custom of the system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "shoal"


def run_local(
    port: int | None, folder: Path | None, browser: bool, say: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C; the address with its one-time token is said and opened."""
    listening = bound_socket(HOST, PORT if port is None else port, or_next=port is None)
    bound: int = listening.getsockname()[1]
    folder = (folder or data_folder()).absolute()
    settings = Settings(folder=folder, host=HOST, port=bound, limits=LIMITS, single_user=True)
    services = open_services(settings)
    address = f"http://{HOST}:{bound}/start?token={services.users.new_one_time_token()}"
    say(f"Shoal is at {address}")
    say(f"The address can be used once. Projects are kept in {folder}. Ctrl-C stops.")
    with _opened(address, folder) if browser else nullcontext():
        serve(services, listening, quiet=True)
    say("stopped")


@contextmanager
def _opened(address: str, folder: Path) -> Iterator[None]:
    """Open the address in the browser by a private file that leads there.

    Every user of the machine can read the arguments of a process, so the token is none of them.
    """
    page = folder / "open.html"
    page.unlink(missing_ok=True)
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f'<meta http-equiv="refresh" content="0;url={address}">\n')
    opening = threading.Timer(0.5, webbrowser.open, [page.as_uri()])
    opening.daemon = True
    opening.start()
    try:
        yield
    finally:
        opening.cancel()
        page.unlink(missing_ok=True)

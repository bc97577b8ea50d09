"""`shoal ui`: one user, on loopback, with a folder of the user's own."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from shoal.web.services import open_services
from shoal.web.serving import bound_socket, serve
from shoal.web.settings import Settings

HOST = "127.0.0.1"
PORT = 8765


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
    settings = Settings(folder=folder, host=HOST, port=bound, single_user=True)
    services = open_services(settings)
    address = f"http://{HOST}:{bound}/start?token={services.users.new_one_time_token()}"
    say(f"Shoal is at {address}")
    say(f"The address can be used once. Projects are kept in {folder}. Ctrl-C stops.")
    if browser:
        opening = threading.Timer(0.5, webbrowser.open, [address])
        opening.daemon = True
        opening.start()
    serve(services, listening, quiet=True)
    say("stopped")

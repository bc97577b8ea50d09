"""Run the application in a process: sockets, log and uvicorn."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys

import uvicorn

from shoal.errors import UserError
from shoal.web.answers import where
from shoal.web.app import create_app
from shoal.web.services import Services
from shoal.web.slow_headers import with_header_limit

SHUTDOWN_SECONDS = 3
BACKLOG = 2048
MOST_CONNECTIONS = 1000


class PrivateFormatter(logging.Formatter):
    """Writes an exception as its type and place only: its text may hold values of the data."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else record.msg
        if not isinstance(error, BaseException):
            return super().format(record)
        shown = logging.makeLogRecord(record.__dict__ | {"exc_info": None, "exc_text": None})
        shown.msg, shown.args = where(error), ()
        return super().format(shown)


def bound_socket(host: str, port: int, *, or_next: bool = False) -> socket.socket:
    """A socket that listens on the port; with `or_next` on the first free one from there on.

    Connections wait in it until the application has started.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for each in range(port, port + (50 if or_next else 1)):
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, each))
            found.listen(BACKLOG)
        except OSError:
            found.close()
        else:
            return found
    raise UserError(
        f"nothing can listen on {host}, port {port}",
        code="port-in-use",
        hint="another program uses the port, or the address is not one of this machine; "
        "choose another with --port",
    )


def serve(services: Services, listening: socket.socket, *, quiet: bool) -> None:
    """Answer requests until the process is told to stop, by Ctrl-C or SIGTERM."""
    _log_to_stderr(logging.WARNING if quiet else logging.INFO)
    settings = services.settings
    config = uvicorn.Config(
        create_app(services),
        http=with_header_limit(),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        ws_max_size=settings.limits.json_bytes,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(PrivateFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("shoal.web").setLevel(level)

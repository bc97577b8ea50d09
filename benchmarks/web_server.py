"""A real `shoal serve` for the benchmarks of the web application: its process, users and memory."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass
class Server:
    """A server that runs in a folder; it can be killed and started again there."""

    folder: Path
    users: int
    limits: Mapping[str, object] = field(default_factory=dict)
    base: str = ""
    process: subprocess.Popen[str] | None = None
    tokens: list[str] = field(default_factory=list)

    def configure(self) -> None:
        """Write server.toml with custodians and new tokens."""
        self.tokens = [secrets.token_urlsafe(32) for _ in range(self.users)]
        limits = "".join(f"{key} = {value}\n" for key, value in self.limits.items())
        users = "".join(
            f'[[users]]\nname = "user{number}"\nroles = ["custodian", "admin"]\n'
            f'token = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'
            for number, token in enumerate(self.tokens)
        )
        text = f'folder = "data"\nport = 0\n[limits]\n{limits}{users}'
        (self.folder / "server.toml").write_text(text, encoding="utf-8")

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "shoal", "serve", "--config", "server.toml"],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=_heed_signals,
            )
        assert self.process.stdout is not None
        found = re.search(r"http://[0-9.]+:[0-9]+", self.process.stdout.readline())
        assert found, (self.folder / "server.log").read_text()
        self.base = found[0]
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.base}/api/v1/health", timeout=60).is_success:
                    return
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def end(self, number: signal.Signals = signal.SIGINT) -> None:
        """Send the process a signal, and wait for its end."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.communicate(timeout=60)

    @property
    def resident(self) -> int:
        """Bytes of memory of the server's process."""
        assert self.process is not None
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * 4096

    def workers(self) -> list[int]:
        """Processes that work in the server's folder, of this or of an earlier server."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.folder / "data"):
                    found.append(int(process.name))
        return found


def _heed_signals() -> None:
    """A shell's background job ignores Ctrl-C; the server is not to inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def serving(folder: Path, users: int, **limits: object) -> Iterator[Server]:
    """A server with so many users, which ends with the context."""
    server = Server(folder, users, limits)
    server.configure()
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.end()

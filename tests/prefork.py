"""Runs `shoal` commands and Python code in forks of a process that has imported everything.

Importing takes a second for every new process, and the tests start hundreds. A fork is a process
like any other: it has its own folder, environment, streams, signals and exit code. What depends on
how a process starts is tested with new ones (`commands.start`).

`run` asks the server of this test process, which is this module run as a program. For each command
the server forks a keeper; the keeper forks the command, waits for it, and answers with its exit
code. `program` writes a `shoal` program for shells that does the same.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

IMPORTED = (
    *("duckdb", "lxml.etree", "numpy", "openpyxl", "pandas", "psycopg", "pyarrow.dataset"),
    *("pyarrow.pandas_compat", "pymysql", "rich.progress", "rich.table", "sqlalchemy", "yaml"),
    *("shoal.applying.apply", "shoal.cli.app", "shoal.engines.database", "shoal.pipeline"),
    "shoal.search.strategies.box",
)
"""What commands need; no threads may run after these imports, since forks do not have them."""

WITHOUT_THREADS = {
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Keeps NumPy and Arrow from starting threads when they are imported."""

MESSAGE = 1 << 20
FLUSH_FAILED = 120
"""Python's exit code where the output could not be written in the end."""


def run(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    streams: Sequence[int],
    seconds: float | None = None,
    kill_after: float | None = None,
    address: str | None = None,
    code: str | None = None,
) -> int:
    """The exit code of a command; `streams` are its standard input, output and error.

    Where there is `code`, the process runs that Python code instead of `shoal`. After `seconds` it
    is an error. A command that runs longer than `kill_after` is killed, which
    gives -9.
    """
    request = {
        "arguments": [*arguments],
        "code": code,
        "folder": str(folder),
        "environment": {**environment},
        "kill_after": kill_after,
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(address or _server())
        message = json.dumps(request).encode()
        if len(message) > MESSAGE:
            raise ValueError("arguments and environment are too long")
        socket.send_fds(connection, [message], list(streams))
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(64)
    if not answer:
        raise RuntimeError("the command ended without an exit code")
    return int(answer)


PROGRAM = """#!{python} -IS
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from prefork import run
sys.exit(run(sys.argv[1:], folder=Path.cwd(), environment=os.environ, streams=[0, 1, 2],
             address={address!r}))
"""


def program(folder: Path) -> None:
    """Write the program `shoal` into a folder."""
    tests = str(Path(__file__).parent)
    path = folder / "shoal"
    path.write_text(PROGRAM.format(python=sys.executable, tests=tests, address=_server()))
    path.chmod(0o755)


@functools.cache
def _server() -> str:
    """The address of the server of this test process, which ends with it."""
    folder = tempfile.TemporaryDirectory(prefix="test-prefork-")
    atexit.register(folder.cleanup)
    address = f"{folder.name}/socket"
    environment = {**os.environ, **WITHOUT_THREADS}
    program = [sys.executable, __file__, address]
    server = subprocess.Popen(program, env=environment, stdin=subprocess.PIPE)
    atexit.register(_stop, server)
    while not Path(address).exists():
        if server.poll() is not None:
            raise RuntimeError("the server of the commands did not start")
        time.sleep(0.02)
    return address


def _stop(server: subprocess.Popen[bytes]) -> None:
    """The server ends when its input does; it is killed if somebody else still holds that open."""
    assert server.stdin is not None
    server.stdin.close()
    try:
        server.wait(5)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def serve(address: str) -> None:
    """Fork a keeper for every command that is asked for, until the test process is gone."""
    for name in IMPORTED:
        __import__(name)
    _warm_up()
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("an import started a thread")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{address}.new")
        listening.listen()
        Path(f"{address}.new").rename(address)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _keep(connection)
                return
            connection.close()
    gc.unfreeze()  # so that the libraries end without complaints


def _warm_up() -> None:
    """Do once what every command does first, and share it: a fork copies only what it changes.

    Commands read the entry points, and parse arguments with code that is imported when it is first
    needed; a file that is not there ends them before any thread starts. Objects that the garbage
    collector does not look at stay shared.
    """
    import typer.main
    from typer.testing import CliRunner

    from shoal import plugins
    from shoal.cli.app import app

    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(app)
    CliRunner().invoke(app, ["run", f"{__file__}/no-such-file.yaml"])
    for kind in plugins.GROUPS:
        plugins.names(kind)
    gc.collect()
    gc.freeze()


def _keep(connection: socket.socket) -> None:
    """Run one command in a fork, and answer with its exit code, or the signal that ended it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, *_ = socket.recv_fds(connection, MESSAGE, 3)
    while more := connection.recv(MESSAGE):
        message += more
    request = json.loads(message)
    command = os.fork()
    if command == 0:
        connection.close()
        _command(request, streams)
    if request["kill_after"] is not None:
        signal.signal(signal.SIGALRM, lambda *_: _kill(command))
        signal.setitimer(signal.ITIMER_REAL, request["kill_after"])
    status = os.waitpid(command, 0)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    connection.close()
    os._exit(0)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _command(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Be the command."""
    from shoal.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    sys.argv = ["shoal", *request["arguments"]]
    try:
        if request["code"] is None:
            main()
        exec(request["code"], {"__name__": "__main__"})
        _end(0)
    except SystemExit as end:
        _end(end.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _end(1)


def _end(code: Any) -> NoReturn:
    """End as a new process does: wait for threads, run the exit functions, flush the streams.

    But free no memory: what is freed would be copied first, and that takes longer than a command.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(ValueError):  # a stream that is closed already
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            code = FLUSH_FAILED
    os._exit(code or 0)


if __name__ == "__main__":
    serve(sys.argv[1])

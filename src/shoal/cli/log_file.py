"""The option `--log-file` of the commands that run something: what they did, appended to a file.

A line says when, by which process, what began, what was counted and decided, how long it took, and
the code of an error. It has no value of the data. Only its owner can read the file. A file that is
no such log is refused, so that no data is appended to by mistake; so is a pipe or a device, whose
permissions are not those of a log.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from typing import TextIO

    from shoal.errors import BadOutput

OPTION = Annotated[
    Path | None,
    typer.Option("--log-file", help="Append what was done here; no values of the data."),
]
FORM = "%(asctime)sZ %(process)d %(levelname)s %(name)s: %(message)s"
BEGINNING = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d+ [A-Z]+ shoal\b")
"""What the first line of such a file begins with."""


def with_log_file(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give the function of a command the option, by the name that the log has of the command."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def logging_command(*, log_file: Path | None = None, **arguments: Any) -> None:
            if log_file is None:
                function(**arguments)
                return
            _refuse_used(log_file, arguments)
            with _handler(log_file), _said(name):
                function(**arguments)

        _declare(logging_command, function)
        return logging_command

    return decorate


def _declare(logging_command: Callable[..., None], function: Callable[..., None]) -> None:
    """Let typer see the parameters of the function, and the option."""
    signature, keyword = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
    hints = {**get_type_hints(function, include_extras=True), "log_file": OPTION}
    parameters = [
        each.replace(kind=keyword, annotation=hints[each.name])
        for each in signature.parameters.values()
    ]
    option = inspect.Parameter("log_file", keyword, default=None, annotation=OPTION)
    logging_command.__annotations__ = hints
    vars(logging_command)["__signature__"] = inspect.Signature([*parameters, option])


@contextmanager
def _handler(path: Path) -> Iterator[None]:
    """Append what Shoal logs to the file."""
    from shoal.calling.logs import LOGGER

    with _opened(path) as file:
        handler = logging.StreamHandler(file)
        form = logging.Formatter(FORM, "%Y-%m-%dT%H:%M:%S")
        form.converter = time.gmtime
        handler.setFormatter(form)
        level = LOGGER.level
        LOGGER.addHandler(handler)
        LOGGER.setLevel(logging.INFO)
        try:
            yield
        finally:
            LOGGER.removeHandler(handler)
            LOGGER.setLevel(level)


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Log that a command begins and how it ends."""
    from shoal.calling.logs import code_of, logger
    from shoal.version import __version__

    log = logger("command")
    log.info("shoal %s begins (version %s)", name, __version__)
    try:
        yield
    except typer.Exit as end:
        log.info("shoal %s ends with exit code %s", name, end.exit_code)
        raise
    except BaseException as error:
        log.error("shoal %s fails: %s", name, code_of(error))
        raise
    log.info("shoal %s ends with exit code 0", name)


def _opened(path: Path) -> TextIO:
    """The file, made private, if it is a log or new."""
    from shoal.errors import BadOutput

    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise BadOutput(
            f"the log {path} cannot be written ({error.strerror})",
            code="bad-log-file",
            hint="name a file in a folder that you may write to",
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_log(path)
    file = os.fdopen(handle, "a+", encoding="utf-8", errors="replace")
    file.seek(0)
    start = file.read(100)
    if start and not BEGINNING.match(start):
        file.close()
        raise _no_log(path)
    path.chmod(0o600)
    return file


def _no_log(path: Path) -> BadOutput:
    from shoal.errors import BadOutput

    return BadOutput(
        f"{path} is there, and it is no log of Shoal",
        code="not-a-log",
        hint="give --log-file another name; a log is appended to, and nothing else is",
    )


def _refuse_used(path: Path, arguments: dict[str, Any]) -> None:
    """Refuse the file that another argument names."""
    from shoal.engines.local_files import is_same_file
    from shoal.errors import BadOutput

    for key, value in arguments.items():
        if isinstance(value, str | Path) and str(value) and is_same_file(path, Path(value)):
            raise BadOutput(
                f"--log-file names the file of {key.replace('_', '-')}",
                code="not-a-log",
                hint="give --log-file a name of its own",
            )

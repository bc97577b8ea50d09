"""How the `shoal` process begins and ends: signals, errors and exit codes.

Nothing slow is imported before `main` runs, so that it handles an interrupt at any time.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from shoal.cli.interrupts import interrupt_on_signals

if TYPE_CHECKING:
    from shoal.errors import ShoalError

INTERRUPTED = 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk; without a file name, an error is about standard output."""


def main() -> NoReturn:
    """Run the command; every error ends with its own exit code and, but for --debug, in words."""
    from shoal.errors import ShoalError

    debug = "--debug" in sys.argv[1:]
    try:
        interrupt_on_signals()
        warnings.showwarning = _show_warning
        from shoal.cli.app import app

        app(prog_name="shoal")
    except ShoalError as error:
        if debug:
            raise
        _explain(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _interrupted()
        raise
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            _say("standard output cannot be written: the disk is full [disk-full]", begin="error: ")
            _say("what the command wrote to other files stays", begin="hint: ")
            sys.exit(1)
        done = "; ".join(getattr(error, "__notes__", ["nothing was released"]))
        if _is_out_of_memory(error):
            what = f"the process may not have as much memory as it needs; {done} [out-of-memory]"
            _say(what, begin="error: ")
            _say("close other programs, allow more, or name fewer quasi-identifiers", "hint: ")
            sys.exit(2)
        _say(f"internal error ({type(error).__name__}); {done}", begin="error: ")
        _say("`shoal --debug` and the command show where; report it, without data", begin="hint: ")
        sys.exit(1)
    sys.exit(0)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether an error only says that the system gave no more memory: also a thread needs some.

    DuckDB is only asked where it was imported, which takes a while.
    """
    duckdb = sys.modules.get("duckdb")
    is_duckdb = duckdb is not None and isinstance(error, duckdb.OutOfMemoryException)
    is_thread = isinstance(error, RuntimeError) and "can't start new thread" in str(error)
    is_system = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or is_system or is_thread or is_duckdb


def _interrupted() -> NoReturn:
    """Outside of a search there is nothing to keep; a release in the making was discarded."""
    _say("interrupted; nothing was released [interrupted]", begin="error: ")
    sys.exit(INTERRUPTED)


def _explain(error: ShoalError) -> None:
    """What is wrong, with its code at the end of the first line, then what to do."""
    first, *more = error.what.split("\n")
    _say("\n".join([f"{first} [{error.code}]", *more]), begin="error: ")
    if error.hint:
        _say(error.hint, begin="hint: ")


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """A warning in one line, without the place in the code that Python names."""
    if issubclass(category, UserWarning):
        _say(str(message), begin="warning: ")


def _say(text: str, begin: str = "") -> None:
    """To standard error, with a beginning that stands out where there is colour.

    Control characters, which names and labels may hold, are shown escaped.
    """
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        begin = f"\x1b[1;31m{begin}\x1b[0m" if begin == "error: " else f"\x1b[1m{begin}\x1b[0m"
    shown = "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in text)
    sys.stderr.write(f"{begin}{shown}\n")

"""The question before a release: what would be released, on standard error, and yes or no.

Standard error keeps standard output free for `--json -`. The question is shown with `--quiet` too,
since nobody can answer what they do not see. Anything but yes is no: another word, an empty line,
the end of the input.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.report.proposal import Proposal

QUESTION = "Release this? [y/N] "
LONGEST = 100
"""No more characters of an answer are read."""


def ask_person(proposal: Proposal) -> bool:
    """Show the proposal and read a line; True for `y` or `yes` in any case."""
    from rich.console import Console

    from shoal.cli.output import show_section

    console = Console(stderr=True, highlight=False)
    for section in proposal.sections():
        console.print()
        show_section(console, section)
    sys.stderr.write(QUESTION)
    sys.stderr.flush()
    line = _line()
    if not (line.endswith("\n") and sys.stdin.isatty()):
        sys.stderr.write("\n")
    return line.strip().casefold() in ("y", "yes")


def _line() -> str:
    """The first line of standard input; empty where there is none, or it is no text."""
    try:
        return sys.stdin.readline(LONGEST) if sys.stdin is not None else ""
    except (OSError, ValueError):
        return ""

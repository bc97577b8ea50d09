"""The reference of the commands: `python -m scripts.commands_page` writes docs/commands.md.

It is made from the commands themselves, so it says what `shoal COMMAND --help` says. A test fails
when the page and the commands differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shoal.cli.app import COMMANDS, command

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
WIDTH = 100

INTRODUCTION = """# Commands

What `shoal COMMAND --help` says of every command, on one page.
`python -m scripts.commands_page` writes it.

Options before the command: `--debug` shows the traceback of an error, `--version` the version.
`shoal --install-completion` makes the shell complete commands and options;
`shoal --show-completion` prints what that installs.

| exit code | meaning |
|---|---|
| 0 | done; of `verify` and `check`: safe |
| 1 | the program, the machine or a server failed |
| 2 | something in the command, the definition or the data has to be corrected |
| 3 | nothing that meets the demands can be released |
| 4 | refused, or not safe |
| 5 | the person who was asked did not say yes |
| 130 | interrupted |

Every [error](errors.md) has a code of its own, too.
"""


def page() -> str:
    """The whole page, in Markdown."""
    names = [f"| [`shoal {name}`](#shoal-{name}) | {said} |" for name, said in COMMANDS.items()]
    table = "\n".join(["| command | what it does |", "|---|---|", *names, ""])
    parts = [INTRODUCTION, table]
    for name in COMMANDS:
        parts += sections(f"shoal {name}", command(name), "##")
    return "\n".join(parts)


def sections(path: str, described: Any, heading: str) -> Iterator[str]:
    """A command, then its sub-commands, each under a heading of its own."""
    context = described.context_class(
        described,
        info_name=path,
        terminal_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield f"{heading} {path}\n\n```text\n{described.get_help(context)}\n```\n"
    for name, below in getattr(described, "commands", {}).items():
        yield from sections(f"{path} {name}", below, f"{heading}#")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

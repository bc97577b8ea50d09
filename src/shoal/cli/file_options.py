"""Options that several commands have: how a file is read, and how it is recoded."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import typer

Header: TypeAlias = Annotated[
    str | None, typer.Option(help="The row with the names, such as 3; or true or false.")
]
Decimal: TypeAlias = Annotated[
    str | None, typer.Option(help='What is before decimals in CSV and Excel files: "," or ".".')
]
Recoding: TypeAlias = Annotated[
    str | None,
    typer.Option(help="full-domain: one level for each column; local: each class has its own."),
]
Sheet: TypeAlias = Annotated[str | None, typer.Option(help="The sheet of an Excel file.")]


def header_row(text: str | None) -> bool | int | None:
    """The option --header: true, false or the number of a row, of which the first is true."""
    words = {None: None, "true": True, "false": False, "1": True}
    if text in words:
        return words[text]
    if not re.fullmatch("[1-9][0-9]{0,6}", text or ""):
        raise typer.BadParameter("give true, false or the number of a row", param_hint="--header")
    return int(str(text))


def decimal_mark(text: str | None) -> str | None:
    """The option --decimal."""
    if text not in (None, ",", "."):
        raise typer.BadParameter('give "," or "."', param_hint="--decimal")
    return text

"""The report of a run in a file to keep beside the release: HTML, text or JSON by its ending."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from shoal.definition.write import to_mapping
from shoal.engines.base import without_password
from shoal.report.answers import answers
from shoal.report.document import background, title
from shoal.report.html import STYLE, sections
from shoal.report.plain import plain
from shoal.report.result import to_dict
from shoal.report.write import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.values import Result


def write_report(result: Result, definition: Definition, path: Path) -> None:
    """Write the report in one step, in the form that the ending of the path says."""
    form = {".txt": text, ".json": document}.get(path.suffix.lower(), page)
    write_whole(form(result, definition), path)


def page(result: Result, definition: Definition) -> str:
    """One HTML page without anything from outside: the answers, then what the run rests on."""
    name = escape(title(result, definition))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title>"
        f"<style>body{{margin:2rem auto;padding:0 1.5rem;max-width:56rem}}{STYLE}</style></head>"
        f'<body><div class="shoal"><h1>{name}</h1>'
        f"{sections(answers(result), verified=result.verified)}"
        f"{sections(background(result, definition))}"
        "</div></body></html>\n"
    )


def document(result: Result, definition: Definition) -> str:
    """The same as JSON: the definition, without passwords, and the result."""
    told = {
        "title": title(result, definition),
        "definition": _without_passwords(to_mapping(definition)),
        "result": to_dict(result),
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def text(result: Result, definition: Definition) -> str:
    """The same as plain text, for a terminal or a mail."""
    name = title(result, definition)
    lines = [name, "=" * len(name)]
    for section in (*answers(result), *background(result, definition)):
        lines += ["", *plain(section)]
    return "\n".join(lines) + "\n"


def _without_passwords(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without_passwords(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_passwords(each, key) for each in value]
    return without_password(value) if key == "url" else value

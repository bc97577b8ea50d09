"""The report of a run in a file to keep beside the release: HTML, text or JSON by its ending."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shoal.definition.write import to_mapping
from shoal.engines.base import without_password
from shoal.report.render import html_page, html_sections, plain_section
from shoal.report.result import to_dict
from shoal.report.sections import answers, background, title
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
    """One HTML page that needs no other file: the answers, then what the run rests on."""
    shown = html_sections(answers(result), verified=result.verified)
    shown += html_sections(background(result, definition))
    return html_page(title(result, definition), shown)


def document(result: Result, definition: Definition) -> str:
    """The same as JSON: the definition, without passwords, and the result."""
    report = {
        "title": title(result, definition),
        "definition": _without_passwords(to_mapping(definition)),
        "result": to_dict(result),
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def text(result: Result, definition: Definition) -> str:
    """The same as plain text, for a terminal or a mail."""
    name = title(result, definition)
    lines = [name, "=" * len(name)]
    for section in (*answers(result), *background(result, definition)):
        lines += ["", *plain_section(section)]
    return "\n".join(lines) + "\n"


def _without_passwords(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without_passwords(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_passwords(each, key) for each in value]
    return without_password(value) if key == "url" else value

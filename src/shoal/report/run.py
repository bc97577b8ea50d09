"""The report of a run, a file beside the release: HTML, text or JSON by its ending.

First the answers, then what the run rests on: classes, columns, settings, search, origin.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shoal.definition.write import to_mapping, yaml_lines
from shoal.engines.base import without_password
from shoal.errors import quoted
from shoal.report.render import html_page, html_sections, plain_section
from shoal.report.result import to_dict
from shoal.report.sections import Section, answers, count, share
from shoal.report.write import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.values import Result


ROLES = {
    "identifier": "left out (identifiers)",
    "drop": "left out (dropped)",
    "sensitive": "released unchanged (sensitive)",
    "keep": "released unchanged (kept)",
}


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


def title(result: Result, definition: Definition) -> str:
    """What the report is about."""
    what = "Release of" if result.failure is None else "No release of"
    return f"{what} {definition.source.shown}"


def background(result: Result, definition: Definition) -> tuple[Section, ...]:
    """What the run rests on: classes, settings, search, hierarchies, origin."""
    found = [
        _classes(result),
        _facts("The other columns", _columns(definition)),
        _facts("Settings", _settings(result, definition)),
        _facts("How it was found", _search(result)),
        _proposed(result),
        _facts("What it was made from", _origin(result, definition)),
    ]
    return tuple(section for section in found if section.lines or section.rows or section.copy)


def _facts(name: str, pairs: Iterator[tuple[str, str]]) -> Section:
    return Section(name, rows=tuple(pairs))


def _classes(result: Result) -> Section:
    """The partitions of the release by their size."""
    if not result.class_sizes:
        return Section("Classes")
    released = sum(each.records for each in result.class_sizes)
    said = (
        f"{count(result.classes, 'class', 'classes')} (partitions) with "
        f"{count(released, 'released record')}; the smallest has {result.smallest_class:,}, "
        f"on average they have {released / result.classes:,.1f}."
    )
    return Section(
        "Classes",
        (said,),
        ("records in a class", "classes", "records", "share of the records"),
        tuple(
            (
                f"{each.least:,} to {each.most:,}" if each.most > each.least else f"{each.least:,}",
                f"{each.classes:,}",
                f"{each.records:,}",
                share(each.records, released),
            )
            for each in result.class_sizes
        ),
        (1, 2, 3),
        tuple(each.records / released for each in result.class_sizes),
    )


def _columns(definition: Definition) -> Iterator[tuple[str, str]]:
    for role, what in ROLES.items():
        names = definition.names(role)
        if names:
            yield what, ", ".join(names)
    if definition.others is not None:
        yield ROLES[definition.others], "every column that the definition does not name"


def _settings(result: Result, definition: Definition) -> Iterator[tuple[str, str]]:
    mapping = to_mapping(definition)
    yield "k", f"{definition.k} {'persons' if definition.person else 'records'}"
    if definition.person:
        yield "columns that identify a person", ", ".join(definition.person)
    allowed = mapping.get("suppression", 0)
    yield "suppression", f"{allowed} (up to {count(result.suppression_limit, 'record')})"
    yield "suppressed records", "left out" if definition.suppressed == "drop" else "kept, blanked"
    tokens = quoted(definition.missing.values)
    also = f"; missing are empty cells and {tokens}" if tokens else ""
    yield "missing values", f"{definition.missing.match} match{also}"
    if definition.sensitive:
        counted = definition.missing.sensitive == "value"
        yield "missing sensitive values", "count as a value" if counted else "are not counted"
    geometric = definition.loss.aggregate == "geometric"
    yield "loss", f"{result.loss_model}{', geometric aggregate' if geometric else ''}"
    limits = {name: a.limit for name, a in definition.attributes.items() if a.limit is not None}
    if limits:
        yield "limits", ", ".join(f"{name} up to level {each}" for name, each in limits.items())


def _search(result: Result) -> Iterator[tuple[str, str]]:
    yield "strategy", result.strategy
    yield "outcome", result.status
    if result.failure is None:
        yield "loss", f"{result.loss:.9f}"
        yield "bound", f"{result.bound:.9f} (gap {result.gap:.2%})"
    yield "distinct tuples", f"{result.tuples:,}"
    yield "visited nodes", f"{result.checked:,} of {result.lattice:,} checked exactly"
    if result.boxes:
        yield "boxes opened", f"{result.boxes:,}"
    yield "seconds", ", ".join(f"{name} {each:.2f}" for name, each in result.seconds.items())


def _origin(result: Result, definition: Definition) -> Iterator[tuple[str, str]]:
    yield "input", definition.source.shown
    yield "records", f"{result.records:,}"
    if result.persons is not None:
        yield "persons", f"{result.persons:,}"
    if len(result.sources) > 1:
        yield "records of each", ", ".join(f"{n} {each:,}" for n, each in result.sources.items())
    if result.input_sha256 is not None:
        yield "SHA-256 of the input", result.input_sha256
    yield "versions", ", ".join(f"{name} {each}" for name, each in result.versions.items())


def _proposed(result: Result) -> Section:
    """The hierarchies nobody gave, as a definition would say them."""
    name = "Proposed hierarchies, as a definition says them"
    if not result.hierarchies:
        return Section(name)
    lines = (
        line
        for attribute, hierarchy in result.hierarchies.items()
        for line in yaml_lines(
            attribute, {"role": "quasi-identifier", "hierarchy": hierarchy}, "  "
        )
    )
    return Section(name, copy="\n".join(["attributes:", *lines]))

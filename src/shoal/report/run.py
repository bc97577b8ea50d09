"""The report of a run, a file beside the release: HTML, Markdown, text or JSON by its ending.

First the answers, then what was measured, then what the run rests on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shoal.definition.write import to_mapping, yaml_lines
from shoal.engines.local_files import write_whole
from shoal.engines.options import shown_master, without_password
from shoal.errors import quoted
from shoal.report.measured import (
    class_section,
    distribution_section,
    level_sections,
    loss_section,
    risk_section,
    with_progress,
)
from shoal.report.render import html_page, markdown, plain_section
from shoal.report.result import to_dict
from shoal.report.sections import (
    Section,
    answers,
    count,
    demanded,
    in_short,
    lost,
    safety,
    verified_from,
    warning_section,
    where,
)

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


def write_report(
    result: Result, definition: Definition, path: Path, *, command: str | None = None
) -> None:
    """Write the report in one step, in the form that the ending of the path says.

    `command` is what makes the same release again.
    """
    forms = {".txt": text, ".json": document, ".md": markdown_page}
    form = forms.get(path.suffix.lower(), page)
    write_whole(form(result, definition, command), path)


def page(result: Result, definition: Definition, command: str | None = None) -> str:
    """One HTML page that needs no other file: the answers, then what the run rests on."""
    return html_page(
        title(result, definition),
        sections(result, definition, command),
        verified=result.verified,
        footer=f"Made by Shoal {result.versions.get('shoal', '')}. This page needs no network.",
    )


def document(result: Result, definition: Definition, command: str | None = None) -> str:
    """The same as JSON: the definition, without passwords and tokens, and the result."""
    report = {
        "title": title(result, definition),
        "definition": _without_secrets(to_mapping(definition)),
        "result": to_dict(result),
        "command": command,
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def text(result: Result, definition: Definition, command: str | None = None) -> str:
    """The same as plain text, for a terminal or a mail."""
    name = title(result, definition)
    lines = [name, "=" * len(name)]
    for section in sections(result, definition, command):
        lines += ["", *plain_section(section)]
    return "\n".join(lines) + "\n"


def markdown_page(result: Result, definition: Definition, command: str | None = None) -> str:
    """The same as Markdown, with tables in place of pictures."""
    return markdown(title(result, definition), sections(result, definition, command))


def sections(
    result: Result, definition: Definition, command: str | None = None
) -> tuple[Section, ...]:
    """The whole report: the answer first, what was measured, then what the run rests on."""
    if result.failure is not None:
        shown = [*answers(result)]
    else:
        shown = [
            Section("", (safety(result),)),
            in_short(result),
            *warning_section(result),
            loss_section(result, lost(result)),
            *level_sections(result),
            *risk_section(result),
            class_section(result),
            distribution_section(result),
            demanded(result, "What was demanded"),
            Section("Where it is", (where(result),)),
        ]
    every = (*shown, *background(result, definition), *_again(result, command))
    return tuple(each for each in every if each.lines or each.rows or each.copy or each.cards)


def _without_secrets(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without_secrets(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_secrets(each, key) for each in value]
    if key == "master":
        return shown_master(value)
    return without_password(value) if key == "url" else value


def title(result: Result, definition: Definition) -> str:
    """What the report is about."""
    what = "Release of" if result.failure is None else "No release of"
    return f"{what} {definition.source.shown}"


def background(result: Result, definition: Definition) -> tuple[Section, ...]:
    """What the run rests on: settings, search, hierarchies, origin, certificate."""
    return (
        _facts("The other columns", _columns(definition)),
        _facts("Settings", _settings(result, definition)),
        with_progress(_facts("How it was found", _search(result)), result),
        _proposed(result),
        _facts("What it was made from", _origin(result, definition)),
        _certificate(result),
    )


def _certificate(result: Result) -> Section:
    """The checksums that `shoal verify` compares."""
    if result.failure is not None:
        return Section("Certificate")
    rows = [("verified", f"yes, from {verified_from(result)}" if result.verified else "no")]
    if result.input_sha256 is not None:
        rows.append(("SHA-256 of the input", result.input_sha256))
    if result.output_sha256 is not None:
        rows.append(("SHA-256 of the release", result.output_sha256))
    said = (
        "shoal verify counts a release again and compares these checksums with the files: they "
        "belong to this report, byte by byte. It reads them from the result or from a report in "
        "JSON."
    )
    return Section("Certificate", (said,), rows=tuple(rows))


def _again(result: Result, command: str | None) -> tuple[Section, ...]:
    """What makes the same release again."""
    if command is None:
        return ()
    what = "release, byte by byte" if result.failure is None else "answer"
    said = f"The same definition on the same input gives the same {what}:"
    return (Section("To make it again", (said,), copy=command),)


def _facts(name: str, pairs: Iterator[tuple[str, str]]) -> Section:
    return Section(name, rows=tuple(pairs))


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
    local = result.recoding == "local"
    yield "recoding", result.recoding
    if not local:
        yield "strategy", result.strategy
    yield "outcome", result.status
    if result.failure is None:
        least = f"no {'local recoding' if local else 'node'} loses less"
        yield "loss", f"{result.loss:.9f}"
        yield "bound", f"{result.bound:.9f} ({least}; gap {result.gap:.2%})"
    yield "distinct tuples", f"{result.tuples:,} (different combinations of quasi-identifiers)"
    yield from _local_steps(result) if local else _node_steps(result)
    yield "seconds", ", ".join(f"{name} {each:.2f}" for name, each in result.seconds.items())


def _node_steps(result: Result) -> Iterator[tuple[str, str]]:
    """What the search for a node did."""
    yield (
        "visited nodes",
        f"{count(result.checked, 'exact check')}, {count(result.lattice, 'node')} in all",
    )
    if result.boxes:
        yield "boxes opened", f"{result.boxes:,} (sets of nodes that were judged together)"


def _local_steps(result: Result) -> Iterator[tuple[str, str]]:
    """What the search for a local recoding did."""
    yield "recodings judged", f"{result.checked:,} (each with all its classes)"
    yield "sweeps", f"{result.boxes:,} (attempts to better all groups of tuples)"


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

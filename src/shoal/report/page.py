"""The report of a run: one HTML page without anything from outside, to keep beside the release."""

from __future__ import annotations

from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

from shoal.definition.write import to_mapping, yaml_lines
from shoal.errors import quoted
from shoal.report.html import STYLE, answers, table
from shoal.report.text import count
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
    """Write the page in one step."""
    write_whole(page(result, definition), path)


def page(result: Result, definition: Definition) -> str:
    """The answers of a result, then what the run rests on: input, settings, search, versions."""
    name = escape(PurePath(definition.source.path).name)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Release of {name}</title>"
        f"<style>body{{margin:2rem auto;padding:0 1.5rem;max-width:56rem}}{STYLE}</style></head>"
        f'<body><div class="shoal"><h1>Release of {name}</h1>{answers(result)}'
        f"<h2>The other columns</h2>{_facts(_columns(definition))}"
        f"<h2>What the run was told</h2>{_facts(_settings(result, definition))}"
        f"<h2>How it was found</h2>{_facts(_search(result))}"
        f"{_proposed(result)}"
        f"<h2>What it was made from</h2>{_facts(_origin(result, definition))}"
        "</div></body></html>\n"
    )


def _facts(pairs: Iterator[tuple[str, str]]) -> str:
    return table((), ((escape(what), escape(value)) for what, value in pairs))


def _columns(definition: Definition) -> Iterator[tuple[str, str]]:
    for role, what in ROLES.items():
        names = definition.names(role)
        if names:
            yield what, ", ".join(names)
    if definition.others is not None:
        yield ROLES[definition.others], "every column that the definition does not name"


def _settings(result: Result, definition: Definition) -> Iterator[tuple[str, str]]:
    mapping = to_mapping(definition)
    yield "k", str(definition.k)
    share = mapping.get("suppression", 0)
    yield "suppression", f"{share} (up to {count(result.suppression_limit, 'record')})"
    yield "suppressed records", "left out" if definition.suppressed == "drop" else "kept, blanked"
    tokens = quoted(definition.missing.values)
    also = f"; missing are empty cells and {tokens}" if tokens else ""
    yield "missing values", f"{definition.missing.match} match{also}"
    if definition.sensitive:
        counted = definition.missing.sensitive == "value"
        yield "missing sensitive values", "count as a value" if counted else "are not counted"
    geometric = definition.loss.aggregate == "geometric"
    yield "loss", f"{result.loss_model}{', geometric aggregate' if geometric else ''}"


def _search(result: Result) -> Iterator[tuple[str, str]]:
    yield "strategy", result.strategy
    yield "outcome", result.status
    yield "loss", f"{result.loss:.9f}"
    yield "bound", f"{result.bound:.9f} (gap {result.gap:.2%})"
    yield "distinct tuples", f"{result.tuples:,}"
    yield "nodes", f"{result.checked:,} of {result.lattice:,} checked exactly"
    yield "seconds", ", ".join(f"{name} {each:.2f}" for name, each in result.seconds.items())


def _origin(result: Result, definition: Definition) -> Iterator[tuple[str, str]]:
    yield "input", PurePath(definition.source.path).name
    yield "records", f"{result.records:,}"
    if result.input_sha256 is not None:
        yield "SHA-256 of the input", result.input_sha256
    yield "versions", ", ".join(f"{name} {each}" for name, each in result.versions.items())


def _proposed(result: Result) -> str:
    """The hierarchies nobody gave, as a definition would say them."""
    if not result.hierarchies:
        return ""
    lines = (
        line
        for name, hierarchy in result.hierarchies.items()
        for line in yaml_lines(name, {"role": "quasi-identifier", "hierarchy": hierarchy}, "  ")
    )
    text = escape("\n".join(["attributes:", *lines]))
    return f"<h2>Proposed hierarchies, as a definition says them</h2><pre><code>{text}</code></pre>"

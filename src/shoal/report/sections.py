"""A result as sections of sentences and tables: first the answers, then what the run rests on.

HTML, text and the terminal show the same sections.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.write import to_mapping, yaml_lines
from shoal.errors import quoted
from shoal.report.sentences import count, lost, safety, share, warnings, where

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.values import Result

ROLES = {
    "identifier": "left out (identifiers)",
    "drop": "left out (dropped)",
    "sensitive": "released unchanged (sensitive)",
    "keep": "released unchanged (kept)",
}
WEIGHTED = "the sum of priority times information loss of the level"


@dataclass(frozen=True)
class Section:
    """A title, sentences, a table and a text to copy, each where there is something to say.

    `numbers` are the columns of the table to align to the right; `bars` is a share for each row.
    """

    title: str
    lines: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()
    bars: tuple[float, ...] = ()
    copy: str = ""


def answers(result: Result) -> tuple[Section, ...]:
    """What people ask, in the order in which they ask; the first section is the verdict."""
    if result.failure is not None:
        return tuple(_failure(result))
    return (
        Section("", (safety(result),)),
        *_warnings(result),
        Section("What was lost", lost(result)),
        _treatments(result),
        _demands(result, "What was demanded"),
        Section("Where it is", (where(result),)),
    )


def _failure(result: Result) -> Iterator[Section]:
    assert result.failure is not None  # the caller looked  # noqa: S101
    yield Section("", ("Nothing was released: no transformation was found that meets the demand.",))
    yield Section("Why", result.failure.reasons)
    if result.failure.remedies:
        yield Section(
            "What would be enough",
            ("Each of these by itself:",),
            rows=tuple((remedy,) for remedy in result.failure.remedies),
        )
    yield _demands(result, "What was demanded, and what the most general classes reach")


def _warnings(result: Result) -> Iterator[Section]:
    """The warnings of the run, where there are any."""
    if result.warnings:
        yield Section("Warnings", warnings(result))


def _treatments(result: Result) -> Section:
    treated = result.treatments.items()
    return Section(
        "What was done to each attribute",
        (f"Weighted information loss {result.weighted_information_loss:.6g}: {WEIGHTED}.",),
        ("attribute", "level", "values look like", "information loss", "priority", "loss"),
        tuple(
            (
                name,
                f"{each.level} of {each.height}",
                f"{each.example}{' (proposed hierarchy)' if each.proposed else ''}",
                f"{each.information_loss:.3g}",
                f"{each.priority:.3g}",
                f"{each.loss:.1%}",
            )
            for name, each in treated
        ),
        (1, 3, 4, 5),
        tuple(min(1.0, max(0.0, each.loss)) for _, each in treated),
    )


def _demands(result: Result, name: str) -> Section:
    return Section(
        name,
        (),
        ("model", "attribute", "demanded", "reached"),
        tuple((d.model, d.attribute or "", d.demanded, f"{d.reached:.6g}") for d in result.privacy),
        (3,),
    )


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

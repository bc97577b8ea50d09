"""The answers of a result as sections of sentences and tables.

HTML, text and the terminal show the same sections.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.report.sentences import lost, safety, warnings, where

if TYPE_CHECKING:
    from shoal.values import Result

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

"""A statement of a paper beside what comes out here."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.seeds.experiment import RESULTS

if TYPE_CHECKING:
    from benchmarks.seeds.experiment import Value

METHOD, DATA, GENERATOR, MACHINE = "method", "data", "generator", "machine"
"""What a number follows from: the method alone; the data; data that were made for it; the machine
and its load."""


@dataclass(frozen=True)
class Statement:
    """What a paper states, what comes out here, what that follows from, and why the two differ.

    `ours` and `why` have the names of values that the experiment saves in braces, with a format.
    """

    name: str
    paper: str
    experiment: str
    says: str
    ours: str
    follows_from: str
    why: str = ""

    def here(self, values: Mapping[str, Value]) -> str:
        """What comes out here."""
        return filled(self.ours, values)

    def reason(self, values: Mapping[str, Value]) -> str:
        """Why the two differ."""
        return filled(self.why, values)

    def lines(self, values: Mapping[str, Value]) -> Iterator[str]:
        """The statement for a terminal."""
        yield f"{self.name} ({self.paper})"
        parts = {
            "paper": self.says,
            "here": self.here(values),
            "follows from": self.follows_from,
            "why": self.reason(values) or "they agree",
        }
        for word, text in parts.items():
            start = f"  {word + ':':14}"
            yield from textwrap.wrap(text, 98, initial_indent=start, subsequent_indent=" " * 16)


def filled(text: str, values: Mapping[str, Value]) -> str:
    """A text with the values in place of their names; `5%` becomes `5 %`."""
    return text.format_map(dict(values)).replace("%", " %").replace("  %", " %")


def saved_values(experiment: str, folder: Path = RESULTS) -> dict[str, Value]:
    """The values that an experiment saved."""
    found: dict[str, Value] = json.loads((folder / f"{experiment}.json").read_text("utf-8"))
    return found

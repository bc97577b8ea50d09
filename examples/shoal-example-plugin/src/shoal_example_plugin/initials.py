"""A hierarchy of names by their first letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Initials:
    """The first `letters` letters of a value, then one less at each level, down to the first.

    Values that share their first letters share fewer of them as well, so the levels nest.
    """

    letters: int = 2

    def __post_init__(self) -> None:
        if not self.letters >= 1:
            raise ValueError("letters must be at least 1")

    def build(self, values: Sequence[str]) -> list[tuple[str, ...]]:
        """A row for each value: the value, then its label at each level."""
        lengths = range(self.letters, 0, -1)
        return [(value, *(f"{value[:length]}..." for length in lengths)) for value in values]

"""Whose records are these? Classes of persons with dictionaries and loops, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Cell = str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Class:
    """A class: its records, and the persons and pairs of person and value among them."""

    records: int
    persons: frozenset[Row]
    pairs: frozenset[tuple[Row, Cell]]

    def values(self) -> list[Cell]:
        """Each value as often as different persons have it."""
        return sorted((value for _, value in self.pairs), key=str)


def classes_of(
    rows: Sequence[Row],
    labels: Callable[[Row], Row | None],
    person: Callable[[Row], Row],
    value: Callable[[Row], Cell],
) -> dict[Row, Class]:
    """The classes of a table; a record whose labels are None is in none."""
    members: dict[Row, list[Row]] = {}
    for row in rows:
        key = labels(row)
        if key is not None:
            members.setdefault(key, []).append(row)
    return {
        key: Class(
            len(found),
            frozenset(person(row) for row in found),
            frozenset((person(row), value(row)) for row in found),
        )
        for key, found in members.items()
    }


def pairs_of(
    rows: Sequence[Row], person: Callable[[Row], Row], value: Callable[[Row], Cell]
) -> list[Cell]:
    """The values of a table, each as often as different persons have it."""
    return sorted((v for _, v in {(person(row), value(row)) for row in rows}), key=str)

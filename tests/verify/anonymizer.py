"""A tiny anonymizer of dictionaries and loops, and the releases it makes for hypothesis."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from shoal.definition.model import Definition
from verify.rows import Cell, Row, definition

HIERARCHIES: dict[str, Any] = {
    "age": {"intervals": [10, 50]},
    "zip": {"mask": 3},
    "sex": "suppress",
    "town": {"tree": {"north": ["ayr", "bern"], "south": {"sea": ["cadiz"], "hill": ["delphi"]}}},
}
NAMES = tuple(HIERARCHIES)
TOWNS = {
    "ayr": ("ayr", "ayr", "north", "*"),
    "bern": ("bern", "bern", "north", "*"),
    "cadiz": ("cadiz", "sea", "south", "*"),
    "delphi": ("delphi", "hill", "south", "*"),
}


def steps(name: str, value: str) -> tuple[str, ...]:
    """The labels of a value from level 0 up, `*` included."""
    if name == "age":
        ten, fifty = int(value) // 10 * 10, int(value) // 50 * 50
        return (value, f"[{ten},{ten + 10})", f"[{fifty},{fifty + 50})", "*")
    if name == "zip":
        return (value, value[:2] + "*", value[0] + "**", "***")
    return (value, "*") if name == "sex" else TOWNS[value]


def height(name: str, values: set[str]) -> int:
    """The last level: without `*` where one interval holds all ages."""
    whole = name == "age" and len({steps(name, value)[2] for value in values}) == 1
    return 2 if whole else len(steps(name, next(iter(values)))) - 1


@dataclass(frozen=True)
class Released:
    """A table, the levels chosen for it, and the rows that are safe there; k is exactly reached."""

    rows: tuple[Row, ...]
    levels: dict[str, int]
    release: tuple[Row, ...]
    k: int
    basic: bool = False

    @property
    def values(self) -> dict[str, set[str]]:
        return {name: column(self.rows, at) for at, name in enumerate(NAMES)}

    @property
    def removed(self) -> int:
        return sum(1 for row in self.rows if None in row) if self.basic else 0

    @property
    def suppressed(self) -> int:
        return len(self.rows) - self.removed - len(self.release)

    def definition(self, **others: Any) -> Definition:
        attributes = {
            name: {"role": "quasi-identifier", "hierarchy": hierarchy}
            for name, hierarchy in HIERARCHIES.items()
        }
        match = "basic" if self.basic else "extended"
        settings = {"k": self.k, "suppression": self.suppressed, "missing": {"match": match}}
        return definition(attributes | {"id": {"role": "identifier"}}, **settings | others)

    def is_top(self, name: str) -> bool:
        """Whether missing became the single value of the last level."""
        return self.levels[name] == height(name, self.values[name])


def column(rows: tuple[Row, ...], at: int) -> set[str]:
    return {row[at] for row in rows if row[at] is not None}  # type: ignore[misc]


def generalize(name: str, cell: Cell, level: int, values: set[str]) -> Cell:
    """A cell at a level; a missing one stays missing below the last level."""
    if cell is not None:
        return steps(name, cell)[level]
    if level < height(name, values):
        return None
    return steps(name, next(iter(values)))[level]


@st.composite
def released(draw: st.DrawFn) -> Released:
    """A safe release of a small table, with at least one class."""
    cells = (
        st.sampled_from(["3", "7", "12", "47", "60", None]),
        st.sampled_from(["123", "124", "133", "200", None]),
        st.sampled_from(["f", "m", None]),
        st.sampled_from(sorted(TOWNS)),
    )
    few = draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))
    rows = tuple(few + few + draw(st.lists(st.sampled_from(few), max_size=6)))
    rows += (("3", "123", "f", "ayr"),) * 2
    values = {name: column(rows, at) for at, name in enumerate(NAMES)}
    levels = {name: draw(st.integers(0, height(name, values[name]))) for name in NAMES}
    basic = draw(st.booleans())
    labelled = [
        tuple(generalize(n, cell, levels[n], values[n]) for n, cell in zip(NAMES, row, strict=True))
        for row in rows
        if not (basic and None in row)
    ]
    least = draw(st.integers(2, 4))
    sizes = Counter(labelled)
    k = min((size for size in sizes.values() if size >= least), default=2)
    release = tuple(sorted((r for r in labelled if sizes[r] >= k), key=repr))
    return Released(rows, levels, release, k, basic)
